"""A P4Runtime client for any switch."""

import queue
from collections.abc import Sequence
from typing import Self

import grpc
from finsy.proto import p4i, p4r, p4r_grpc, rpc_status

from phb_switch.stf.statements import StatementError

DEVICE = 1
_SECONDS = 60.0
# The default of 8 KB would lose the errors of a batch.
_OPTIONS = [("grpc.max_metadata_size", 1 << 20), ("grpc.max_receive_message_length", -1)]
_DETAILS = "grpc-status-details-bin"


class RefusedError(Exception):
    """A switch doesn't take a program with its p4info; `str()` is its reason."""


class UnreachableError(RefusedError):
    """A switch doesn't answer."""


class Client:
    """The only controller of a switch; UnreachableError if it doesn't answer."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.insecure_channel(address, options=_OPTIONS)
        self.stub = p4r_grpc.P4RuntimeStub(self._channel)
        self._requests: queue.SimpleQueue[p4r.StreamMessageRequest | None] = queue.SimpleQueue()
        try:
            grpc.channel_ready_future(self._channel).result(timeout=_SECONDS)
            self._become_primary()
        except (grpc.RpcError, grpc.FutureTimeoutError) as error:
            self._channel.close()
            raise UnreachableError(f"{address}: no P4Runtime: {_reason(error)}") from None

    def _become_primary(self) -> None:
        # gRPC may reopen a stream, which bmv2 takes for a second client with the same id.
        for self._election_id in (1, 2, 3):
            request = p4r.StreamMessageRequest()
            request.arbitration.device_id = DEVICE
            request.arbitration.election_id.low = self._election_id
            self._requests = queue.SimpleQueue()
            self._requests.put(request)
            self._stream = self.stub.StreamChannel(iter(self._requests.get, None))
            try:
                next(self._stream)
            except grpc.RpcError as error:
                if error.code() != grpc.StatusCode.INVALID_ARGUMENT or self._election_id == 3:
                    raise
            else:
                return

    def load(self, info: p4i.P4Info, artifact: bytes) -> None:
        """Sets the forwarding pipeline; RefusedError if the switch doesn't take it."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=DEVICE, action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
        )
        request.election_id.low = self._election_id
        request.config.p4info.CopyFrom(info)
        request.config.p4_device_config = artifact
        try:
            self.stub.SetForwardingPipelineConfig(request, timeout=_SECONDS)
        except grpc.RpcError as error:
            raise RefusedError(_reason(error)) from None

    def write(self, updates: Sequence[p4r.Update]) -> None:
        """Writes one by one, which every switch can; StatementError if it refuses one."""
        for update in updates:
            request = p4r.WriteRequest(device_id=DEVICE, updates=[update])
            request.election_id.low = self._election_id
            try:
                self.stub.Write(request, timeout=_SECONDS)
            except grpc.RpcError as error:
                raise StatementError(_reason(error)) from None

    def read(self, entity: p4r.Entity) -> list[p4r.Entity]:
        """Reads entities; StatementError if the switch refuses."""
        try:
            answers = self.stub.Read(p4r.ReadRequest(device_id=DEVICE, entities=[entity]), timeout=_SECONDS)
            return [each for answer in answers for each in answer.entities]
        except grpc.RpcError as error:
            raise StatementError(_reason(error)) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.cancel()
        self._requests.put(None)
        self._channel.close()


def _reason(error: Exception) -> str:
    """Message of a refusal: of the first update with one, or of the request."""
    if not isinstance(error, grpc.Call):
        return str(error) or type(error).__name__
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS and isinstance(value, bytes):
            for detail in rpc_status.Status.FromString(value).details:
                each = p4r.Error()
                if detail.Unpack(each) and each.message:
                    return each.message
    return error.details() or error.code().name
