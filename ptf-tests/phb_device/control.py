"""P4Runtime by hand: gRPC and the p4info, nothing of the controller's.

A session is held only while something is written, so that the controller's own pushes find the switch without a
primary; one that waits for packets is held open by its test.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterable
from functools import cache
from typing import Any, Self

import grpc
from finsy import P4CounterEntry, P4PacketIn, P4PacketOut, P4Schema
from finsy.proto import p4r, p4r_grpc, rpc_code, rpc_status

import phb_p4
from phb_device.entries import Entry

DEVICE_ID = 1
CPU_PORT = 510
"""Of p4src/headers.p4; both targets are started with it."""
_ELECTION_ID = 1
_ANSWERS_WITHIN_S = 30.0
_CONNECTS_WITHIN_S = 5.0
_ENDS_WITHIN_S = 5.0
_LOOKS_EVERY_S = 0.01
_DETAILS = "grpc-status-details-bin"


@cache
def _schema() -> P4Schema:
    """Read the p4info, once: it takes longer than everything else that a session does."""
    return P4Schema(phb_p4.p4info_path())


class ControlError(Exception):
    """A switch under test refuses or doesn't answer; `reason` is `str()` without the switch's address."""

    def __init__(self, reason: str, address: str = "") -> None:
        super().__init__(f"{address}: {reason}" if address else reason)
        self.reason = reason


def check_reachable(address: str) -> None:
    """Find out at once whether a server listens: a session would wait for a switch to come.

    Raises:
        ControlError: None does.
    """
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECTS_WITHIN_S).close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ControlError(f"the switch can't be reached ({reason})", address) from None


def _refusal(error: Any, address: str) -> ControlError:
    """Return code and words of a call that failed; of a batch, those of the first update that did."""
    status = next((value for key, value in error.trailing_metadata() or () if key == _DETAILS), None)
    words = [f"{error.code().name}: {error.details() or 'no reason given'}"]
    if status is not None:
        for detail in rpc_status.Status.FromString(status).details:
            update = p4r.Error()
            if detail.Unpack(update) and update.canonical_code:
                words.append(f"{grpc_code(update.canonical_code)}: {update.message}")
                break
    return ControlError(words[-1], address)


def grpc_code(number: int) -> str:
    """Return the name of a canonical code (google.rpc.Code)."""
    return next((code.name for code in grpc.StatusCode if code.value[0] == number), str(number))


class Control:
    """A session that is primary while it is open; use it with ``with``.

    `address` is ``host:port``; a higher `election_id` than that of another session takes its place.

    Raises:
        ControlError: The switch doesn't answer, or another session is primary.
    """

    def __init__(self, address: str, election_id: int = _ELECTION_ID) -> None:
        self.address = address
        self._election_id = election_id
        self.schema = _schema()

    def __enter__(self) -> Self:
        deadline = time.monotonic() + _ENDS_WITHIN_S
        while True:
            try:
                self._open()
                return self
            except ControlError as error:
                # The switch may not know yet that a client has ended its session.
                if "election" not in error.reason.lower() or time.monotonic() > deadline:
                    raise
            time.sleep(_LOOKS_EVERY_S)

    def _open(self) -> None:
        self._requests: queue.SimpleQueue[p4r.StreamMessageRequest | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[p4r.StreamMessageResponse | grpc.RpcError] = queue.SimpleQueue()
        self._packets: queue.SimpleQueue[P4PacketIn] = queue.SimpleQueue()
        # Each has its own connection: a shared one would keep the state of an ended switch at this address.
        self._channel = grpc.insecure_channel(self.address, [("grpc.use_local_subchannel_pool", 1)])
        self._stub: Any = p4r_grpc.P4RuntimeStub(self._channel)
        # Waits for the connection; grpc.channel_ready_future would look every 0.2 s only.
        self._stream = self._stub.StreamChannel(iter(self._requests.get, None), wait_for_ready=True)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        try:
            answer = self._arbitrate()
            if answer.arbitration.status.code == rpc_code.NOT_FOUND:
                # There is no primary, but there was one with a higher number: the switch remembers it (P4Runtime 5.3).
                self._election_id = answer.arbitration.election_id.low
                answer = self._arbitrate()
        except ControlError:
            self.__exit__(None, None, None)
            raise
        if answer.arbitration.status.code != 0:
            self.__exit__(None, None, None)
            raise ControlError("another session is primary", self.address)

    def _arbitrate(self) -> p4r.StreamMessageResponse:
        request = p4r.StreamMessageRequest()
        request.arbitration.device_id = DEVICE_ID
        request.arbitration.election_id.low = self._election_id
        self._requests.put(request)
        return self._answer()

    def __exit__(self, *_: object) -> None:
        # Half-closed first, and seen to end: until then the switch may count the session as primary.
        self._requests.put(None)
        self._listener.join(_ENDS_WITHIN_S)
        self._stream.cancel()
        self._channel.close()

    def _listen(self) -> None:
        try:
            for message in self._stream:
                if message.HasField("packet"):
                    self._packets.put(P4PacketIn.decode(message, self.schema))
                else:
                    self._answers.put(message)
        except grpc.RpcError as error:
            self._answers.put(error)

    def _answer(self) -> p4r.StreamMessageResponse:
        try:
            answer = self._answers.get(timeout=_ANSWERS_WITHIN_S)
        except queue.Empty:
            raise ControlError(f"no answer within {_ANSWERS_WITHIN_S:g} s", self.address) from None
        if isinstance(answer, grpc.RpcError):
            raise _refusal(answer, self.address)
        return answer

    def set_program(
        self,
        action: p4r.SetForwardingPipelineConfigRequest.Action.ValueType = (
            p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
        ),
    ) -> None:
        """Load phb's program: all entries go, all counters and registers are zero, unless it is reconciled."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=DEVICE_ID,
            election_id=p4r.Uint128(low=self._election_id),
            action=action,
            config=p4r.ForwardingPipelineConfig(
                p4info=self.schema.p4info, p4_device_config=phb_p4.artifact_path().read_bytes()
            ),
        )
        self._call(self._stub.SetForwardingPipelineConfig, request)

    def write(self, entries: Iterable[Entry]) -> None:
        """Insert entries; set default actions."""
        self.write_updates(entry.update(self.schema) for entry in entries)

    def delete(self, entries: Iterable[Entry]) -> None:
        """Remove entries."""
        self.write_updates(entry.update(self.schema, p4r.Update.DELETE) for entry in entries)

    def modify(self, entries: Iterable[Entry]) -> None:
        """Give entries that are there another action."""
        self.write_updates(entry.update(self.schema, p4r.Update.MODIFY) for entry in entries)

    def write_updates(
        self, updates: Iterable[p4r.Update], *, atomicity: int = p4r.WriteRequest.CONTINUE_ON_ERROR
    ) -> None:
        """Send updates in one request, in this order, with P4Runtime's `atomicity`.

        Raises:
            ControlError: The switch refuses one.
        """
        request = p4r.WriteRequest(
            device_id=DEVICE_ID,
            election_id=p4r.Uint128(low=self._election_id),
            updates=list(updates),
            atomicity=atomicity,  # type: ignore[arg-type]
        )
        if request.updates:
            self._call(self._stub.Write, request)

    def counter(self, name: str, cells: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Read packets and bytes of cells of an indirect counter, by its full name."""
        request = p4r.ReadRequest(
            device_id=DEVICE_ID,
            entities=[P4CounterEntry(name, index=cell).encode(self.schema) for cell in cells],
        )
        if not request.entities:
            return {}
        found = {}
        for entity in self.read(request):
            read = P4CounterEntry.decode(entity, self.schema)
            assert read.data is not None
            assert read.index is not None
            found[read.index] = (read.data.packet_count, read.data.byte_count)
        return found

    def read(self, request: p4r.ReadRequest) -> list[p4r.Entity]:
        """Return the switch's answer to a request.

        Raises:
            ControlError: It refuses.
        """
        try:
            responses = self._stub.Read(request, timeout=_ANSWERS_WITHIN_S)
            return [entity for response in responses for entity in response.entities]
        except grpc.RpcError as error:
            raise _refusal(error, self.address) from None

    def packet_out(self, frame: bytes, egress_port: int) -> None:
        """Have the switch send a frame."""
        message = P4PacketOut(frame, egress_port=egress_port, padding=0)
        self._requests.put(message.encode_update(self.schema))

    def packet_in(self, timeout_s: float) -> P4PacketIn | None:
        """Return the next frame that the switch handed to its controller, or None."""
        try:
            return self._packets.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def _call(self, method: Any, request: Any) -> Any:
        try:
            return method(request, timeout=_ANSWERS_WITHIN_S)
        except grpc.RpcError as error:
            raise _refusal(error, self.address) from None
