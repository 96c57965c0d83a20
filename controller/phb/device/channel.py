"""The connection under a session, and the largest thing that goes over it: a switch's program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import grpc
from finsy import GRPCCredentialsTLS
from finsy.proto import p4r

from phb.device.artifact import Artifact
from phb.device.deadlines import LARGEST_MESSAGE

# A failed batch of 10,000 updates carries as many errors in its metadata; servers send every entry in one message.
_OPTIONS = (
    ("grpc.max_metadata_size", 16 << 20),
    ("grpc.absolute_max_metadata_size", 16 << 20),
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
    ("grpc.max_send_message_length", -1),
    # Sessions share nothing: gRPC would give all channels to one address the same connection, and thus the same fate.
    ("grpc.use_local_subchannel_pool", 1),
    # A switch that has restarted is found again within a fraction of a second; gRPC alone would wait up to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 500),
)


class _Deadline(grpc.aio.UnaryUnaryClientInterceptor):
    """Gives every call with one answer its deadline, also calls of gNMI."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s

    async def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return await continuation(client_call_details._replace(timeout=self._timeout_s), request)


def open_channel(address: str, credentials: GRPCCredentialsTLS | None, timeout_s: float) -> grpc.aio.Channel:
    """Open a channel that connects when it is used; calls with one answer end after so many seconds."""
    deadline = [_Deadline(timeout_s)]
    options: list[tuple[str, int | str]] = list(_OPTIONS)
    if address.startswith("unix:"):
        # gRPC would send the socket's path, in a form that is no host's name and that not every server takes.
        options.append(("grpc.default_authority", "localhost"))
    if credentials is None:
        return grpc.aio.insecure_channel(address, options=options, interceptors=deadline)
    if credentials.target_name_override:
        options.append(("grpc.ssl_target_name_override", credentials.target_name_override))
    return grpc.aio.secure_channel(address, credentials.to_client_credentials(), options=options, interceptors=deadline)


@dataclass(frozen=True)
class PipelineConfig:
    """The program of a switch; `config` is empty when it runs none."""

    config: p4r.ForwardingPipelineConfig

    def is_artifact(self, artifact: Artifact) -> bool:
        """Whether this is exactly the artifact: by cookie, or by content where the switch keeps no cookie."""
        if self.config.HasField("cookie") and self.config.cookie.cookie:
            return self.config.cookie.cookie == artifact.cookie
        return self.config.p4_device_config == artifact.device_config and self.config.p4info.SerializeToString(
            deterministic=True
        ) == artifact.p4info.SerializeToString(deterministic=True)

    @property
    def is_empty(self) -> bool:
        """Whether the switch runs no program."""
        return not self.config.HasField("p4info")
