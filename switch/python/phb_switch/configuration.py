"""The forwarding-pipeline configuration: verified, saved, committed, read back.

A configuration under test or saved but not committed lives in a switch of its own without ports, a *shadow*: writes
after VERIFY_AND_SAVE go there, and COMMIT hands the finished program with its entries to the real switch in one step.
"""

from dataclasses import dataclass

from finsy.proto import p4i, p4r

from phb_switch._native import Configuration, LoadError, Switch
from phb_switch.errors import FAILED_PRECONDITION, NOT_FOUND, StatusError, invalid

_Request = p4r.SetForwardingPipelineConfigRequest
_Response = p4r.GetForwardingPipelineConfigRequest


@dataclass(frozen=True, slots=True)
class Config:
    """What a client has set, and what became of it."""

    p4info: p4i.P4Info
    device_config: bytes
    cookie: int | None
    native: Configuration


class Configurations:
    """The configuration of one switch: the one that forwards, and one that may wait to be committed."""

    def __init__(self, switch: Switch) -> None:
        self._switch = switch
        self._committed: Config | None = None
        self._saved: Config | None = None

    @property
    def committed(self) -> Configuration | None:
        """The configuration that handles packets."""
        return None if self._committed is None else self._committed.native

    def active(self) -> Configuration:
        """The configuration that Read and Write refer to: the saved one if there is one.

        Raises:
            StatusError: FAILED_PRECONDITION, if there is none yet.

        """
        found = self._saved or self._committed
        if found is None:
            raise StatusError(FAILED_PRECONDITION, "No forwarding pipeline config set for this device")
        return found.native

    def set(self, request: p4r.SetForwardingPipelineConfigRequest) -> None:
        """Does what the request's action says (specification, "SetForwardingPipelineConfig RPC").

        Raises:
            StatusError: the configuration is refused; nothing has changed.
            RefusedError: likewise.

        """
        match request.action:
            case _Request.VERIFY:
                self._build(request)
            case _Request.VERIFY_AND_SAVE:
                self._saved = self._build(request)
            case _Request.VERIFY_AND_COMMIT:
                self._commit(self._build(request))
            case _Request.COMMIT:
                if request.HasField("config"):
                    raise invalid("COMMIT takes no config: it commits the saved one")
                if self._saved is None:
                    raise StatusError(NOT_FOUND, "no config has been saved: VERIFY_AND_SAVE comes before COMMIT")
                self._commit(self._saved)
            case _Request.RECONCILE_AND_COMMIT:
                built = self._build(request)
                if self._committed is not None:
                    built.native.carry_over(self._committed.native)
                self._commit(built)
            case _:
                raise invalid("the action is not set, or not one of SetForwardingPipelineConfigRequest.Action")

    def _commit(self, config: Config) -> None:
        config.native.commit(self._switch)
        self._committed = config
        self._saved = None

    def _build(self, request: p4r.SetForwardingPipelineConfigRequest) -> Config:
        if not request.HasField("config"):
            raise invalid("the request has no config")
        config = request.config
        if not config.p4_device_config:
            raise invalid("the config has no p4_device_config: expected the bmv2 JSON that p4c made")
        try:
            artifact = config.p4_device_config.decode()
        except UnicodeDecodeError as error:
            raise invalid(f"the p4_device_config is not bmv2 JSON: byte {error.start} is not UTF-8") from None
        live = self._switch
        shadow = Switch(live.name, {}, seed=live.seed, cpu_port=live.cpu_port, drop_port=live.drop_port)
        try:
            shadow.load(artifact)
        except LoadError as error:
            raise invalid(str(error)) from None
        native = Configuration(shadow, config.p4info.SerializeToString())
        cookie = config.cookie.cookie if config.HasField("cookie") else None
        return Config(config.p4info, config.p4_device_config, cookie, native)

    def get(self, response_type: int) -> p4r.GetForwardingPipelineConfigResponse:
        """The committed configuration, or the parts of it that `response_type` names; empty if there is none."""
        response = p4r.GetForwardingPipelineConfigResponse()
        current = self._committed
        if current is None:
            return response
        config = response.config
        config.SetInParent()
        if current.cookie is not None:
            config.cookie.cookie = current.cookie
        if response_type in (_Response.ALL, _Response.P4INFO_AND_COOKIE):
            config.p4info.CopyFrom(current.p4info)
        if response_type in (_Response.ALL, _Response.DEVICE_CONFIG_AND_COOKIE):
            config.p4_device_config = current.device_config
        return response
