"""The stream of a session: mastership, and packets from and to the data plane."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any, TypeAlias

import grpc
from finsy.proto import p4r

from phb.device.calls import Calls
from phb.device.mastership import Mastership
from phb.device.mastership import election_id as to_message
from phb.errors import ElectionIdTakenError, SwitchError

ARBITRATION_TIMEOUT = 10.0  # seconds; a switch answers at once or not at all
# The last where the connection has gone before it was there.
_ENDED = (grpc.RpcError, asyncio.InvalidStateError, grpc.aio.BaseError)
ENDS_WITHIN = 1.0  # seconds, in which a switch ends the stream of a controller that has nothing more to say

PacketTaker: TypeAlias = Callable[[tuple[int, int, bytes]], None]
"""Told of a packet-in: ingress port, exception and frame."""


class Stream:
    """One StreamChannel, opened by `arbitrate`, and again after it has ended."""

    def __init__(self, calls: Calls, device_id: int, role: str, on_packet: PacketTaker | None) -> None:
        self._calls = calls
        self._device_id = device_id
        self._role = role
        self._on_packet = on_packet
        self._election_id = 1
        self._stream: Any = None
        self._listener: asyncio.Task[None] | None = None
        self.mastership: Mastership | None = None
        self._ended: SwitchError | None = None
        self._changed = asyncio.Condition()
        self._answers = 0

    async def arbitrate(self, election_id: int) -> Mastership:
        """Ask for mastership and wait for the answer, as `Session.arbitrate`."""
        self._election_id = election_id
        if self._stream is None or self._ended is not None:
            await self._open_stream()
        answers = self._answers
        timeout_s = min(ARBITRATION_TIMEOUT, self._calls.timeout_s)
        try:
            async with asyncio.timeout(timeout_s):
                # Where the stream has ended, the listener knows why.
                with suppress(*_ENDED):
                    await self._stream.write(self._arbitration())
                async with self._changed:
                    await self._changed.wait_for(lambda: self._answers > answers or self._ended is not None)
        except TimeoutError:
            message = f"no answer to arbitration within {timeout_s:g} s"
            raise SwitchError(self._calls.address, message) from None
        if self._ended is not None or self.mastership is None:
            raise self._ended or SwitchError(self._calls.address, "the switch closed the stream")
        return self.mastership

    async def masterships(self) -> AsyncIterator[Mastership]:
        """Give masterships as `Session.masterships`."""
        told: Mastership | None = None

        def news() -> bool:
            return self._ended is not None or self.mastership not in (None, told)

        while True:
            async with self._changed:
                await self._changed.wait_for(news)
                if self._ended is not None:
                    raise self._ended
                told = self.mastership
            if told is not None:
                yield told

    async def send_packet(self, port: int, frame: bytes) -> None:
        """Have the switch send a frame by a port."""
        request = p4r.StreamMessageRequest()
        request.packet.payload = frame
        for number, value in ((1, port), (2, 0)):
            field = request.packet.metadata.add()
            field.metadata_id, field.value = number, value.to_bytes(2, "big").lstrip(b"\0") or b"\0"
        try:
            await self._stream.write(request)
        except _ENDED:
            raise self._ended or SwitchError(self._calls.address, "the switch closed the stream") from None

    async def close(self) -> None:
        """End the stream."""
        if self._listener is not None and self._stream is not None:
            # Half-closed first, and seen to end: until then the switch counts the session as primary, and would refuse
            # the next one with its election id.
            with suppress(*_ENDED, TimeoutError):
                async with asyncio.timeout(ENDS_WITHIN):
                    await self._stream.done_writing()
                    await asyncio.wait([self._listener])
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.wait([self._listener])
        if self._stream is not None:
            self._stream.cancel()

    async def _open_stream(self) -> None:
        if self._listener is not None:
            self._listener.cancel()
        self._ended = self.mastership = None
        self._stream = self._calls.stub.StreamChannel()
        self._listener = asyncio.create_task(self._listen(self._stream))

    async def _listen(self, stream: Any) -> None:
        """Take arbitration and packet-ins from the stream until it ends."""
        try:
            while (response := await stream.read()) is not grpc.aio.EOF:
                if response.WhichOneof("update") == "arbitration":
                    await self._announce(Mastership.of(response.arbitration), None)
                elif response.WhichOneof("update") == "packet" and self._on_packet is not None:
                    said = {each.metadata_id: int.from_bytes(each.value, "big") for each in response.packet.metadata}
                    self._on_packet((said.get(1, 0), said.get(2, 0), response.packet.payload))
            await self._announce(None, SwitchError(self._calls.address, "the switch closed the stream"))
        except grpc.RpcError as error:
            client_error = self._calls.failed(error, "StreamChannel", self._calls.timeout_s)
            if isinstance(client_error, SwitchError):
                await self._announce(None, client_error)
            elif client_error.is_election_id_used:
                message = (
                    f"another controller has election id {self._election_id} already ({client_error.message}): "
                    f"stop it, or take over with election id {self._election_id + 1}"
                )
                await self._announce(None, ElectionIdTakenError(self._calls.address, message))
            else:
                await self._announce(None, self._calls.error(client_error))

    async def _announce(self, mastership: Mastership | None, ended: SwitchError | None) -> None:
        async with self._changed:
            self.mastership, self._ended = mastership, ended
            self._answers += 1
            self._changed.notify_all()

    def _arbitration(self) -> p4r.StreamMessageRequest:
        request = p4r.StreamMessageRequest()
        request.arbitration.device_id = self._device_id
        request.arbitration.election_id.CopyFrom(to_message(self._election_id))
        if self._role:
            request.arbitration.role.name = self._role
        return request
