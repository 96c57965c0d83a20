"""One P4Runtime session with one switch: asyncio, on gRPC, with finsy's messages, TLS and errors.

Thin: mastership, the pipeline config, table entries, counters, registers. What to write is decided in `phb.pushing`;
every refusal leaves here as a SwitchError with the switch's own words.

A session that only reads needs no mastership:

    async with Session("192.0.2.1:9559", 1, artifact) as session:
        rows = await session.rows()

A controller that holds mastership, or stands by for it, watches `masterships`:

    async with Session(address, 1, artifact, election_id=2) as session:
        await session.arbitrate()
        async for mastership in session.masterships():   # the present one, then every change
            if mastership.primary:
                await push_over(session, intent)
            elif not mastership.somebody:
                await session.arbitrate(mastership.primary_election_id or 2)
        # raises SwitchError when the stream ends: the switch restarted, or can't be reached
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import grpc
from finsy import GRPCStatusCode, P4ClientError
from finsy.proto import p4r, p4r_grpc
from google.protobuf.message import DecodeError

from phb.device.artifact import Artifact
from phb.device.channel import PipelineConfig, open_channel
from phb.device.deadlines import LARGEST_MESSAGE, MOST_ENTRIES, PATIENCE, TIMEOUT_S, understood
from phb.device.describe import describe_update
from phb.device.mastership import Mastership, election_id
from phb.device.tls import Tls
from phb.entries import TableRow, Update
from phb.errors import ElectionIdTakenError, SwitchError

ARBITRATION_TIMEOUT = 10.0  # seconds; a switch answers at once or not at all
ENDS_WITHIN = 1.0  # seconds, in which a switch ends the stream of a controller that has nothing more to say
# Cells in one request. Each is an entity of some ten bytes in the request and thirty in the answer.
CELLS = 5_000
LONGEST_WORDS = 2_000
WIDEST = 512  # bytes of a register's cell; the widest number of P4's that p4c takes has fewer


@dataclass(frozen=True, slots=True)
class CounterValue:
    """A cell of an indirect counter. Bytes are those of the Ethernet frame without FCS."""

    packets: int
    bytes: int


class Session:
    """A connection to one switch; use it with ``async with``.

    Args:
        address: ``HOST:PORT`` of the P4Runtime server.
        device_id: The switch's number.
        artifact: Gives tables and counters their names.
        election_id: The controller with the highest one is primary, within its role.
        role: Name of the role (P4Runtime section 5.1); empty is the default role, which may do everything.
        tls: Certificates; None is a connection without TLS.
        timeout_s: How long one answer may take, in seconds: `phb.device.deadlines`.

    Raises:
        InputError: A certificate's file is wrong.

    """

    def __init__(
        self,
        address: str,
        device_id: int,
        artifact: Artifact,
        *,
        election_id: int = 1,
        role: str = "",
        tls: Tls | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self.artifact = artifact
        self.device_id = device_id
        self.election_id = election_id
        self.role = role
        self._tls = tls
        self._credentials = None if tls is None else tls.credentials()
        self._channel: Any = None
        self._stub: Any = None
        self._stream: Any = None
        self._listener: asyncio.Task[None] | None = None
        self._mastership: Mastership | None = None
        self._ended: SwitchError | None = None
        self._changed = asyncio.Condition()
        self._answers = 0
        # Told of packet-ins, as ingress port, exception and frame; None for a session that takes none.
        self.on_packet: Callable[[tuple[int, int, bytes]], None] | None = None

    async def __aenter__(self) -> Self:
        self._channel = open_channel(self.address, self._credentials, self.timeout_s)
        self._stub = p4r_grpc.P4RuntimeStub(self._channel)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listener is not None and self._stream is not None:
            # Half-closed first, and seen to end: until then the switch counts the session as primary, and would refuse
            # the next one with its election id.
            with suppress(grpc.RpcError, asyncio.InvalidStateError, TimeoutError):
                async with asyncio.timeout(ENDS_WITHIN):
                    await self._stream.done_writing()
                    await asyncio.wait([self._listener])
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.wait([self._listener])
        if self._stream is not None:
            self._stream.cancel()
        await self._channel.close()

    @property
    def channel(self) -> Any:
        """The connection, for other services at the same port."""
        return self._channel

    # -- mastership ---------------------------------------------------------

    @property
    def mastership(self) -> Mastership | None:
        """The switch's last answer; None before `arbitrate`, and after the stream has ended."""
        return self._mastership

    async def arbitrate(self, election_id: int | None = None) -> Mastership:
        """Ask for mastership, or ask again with another election id, and wait for the answer.

        Raises:
            SwitchError: The switch doesn't answer, or refuses the stream: another session has this election id.

        """
        if election_id is not None:
            self.election_id = election_id
        if self._stream is None or self._ended is not None:
            await self._open_stream()
        answers = self._answers
        timeout_s = min(ARBITRATION_TIMEOUT, self.timeout_s)
        try:
            async with asyncio.timeout(timeout_s):
                # Where the stream has ended, the listener knows why.
                with suppress(grpc.RpcError, asyncio.InvalidStateError):
                    await self._stream.write(self._arbitration())
                async with self._changed:
                    await self._changed.wait_for(lambda: self._answers > answers or self._ended is not None)
        except TimeoutError:
            message = f"no answer to arbitration within {timeout_s:g} s"
            raise SwitchError(self.address, message) from None
        if self._ended is not None or self._mastership is None:
            raise self._ended or SwitchError(self.address, "the switch closed the stream")
        return self._mastership

    async def become_primary(self) -> None:
        """Ask to be the one controller that may write (P4Runtime section 5).

        Raises:
            SwitchError: Another controller is primary, or the switch doesn't answer.

        """
        mastership = await self.arbitrate()
        if not mastership.primary:
            raise SwitchError(self.address, mastership.refusal(self.election_id))

    async def masterships(self) -> AsyncIterator[Mastership]:
        """The present mastership, then the latest one after every change, for as long as the stream lives.

        Raises:
            SwitchError: The stream has ended: the switch has restarted, can't be reached, or has closed it.

        """
        told: Mastership | None = None

        def news() -> bool:
            return self._ended is not None or self._mastership not in (None, told)

        while True:
            async with self._changed:
                await self._changed.wait_for(news)
                if self._ended is not None:
                    raise self._ended
                told = self._mastership
            if told is not None:
                yield told

    async def _open_stream(self) -> None:
        if self._listener is not None:
            self._listener.cancel()
        self._ended = self._mastership = None
        self._stream = self._stub.StreamChannel()
        self._listener = asyncio.create_task(self._listen(self._stream))

    async def _listen(self, stream: Any) -> None:
        """Take what the switch says on the stream; packets and digests are for others."""
        try:
            while (response := await stream.read()) is not grpc.aio.EOF:
                if response.WhichOneof("update") == "arbitration":
                    await self._announce(Mastership.of(response.arbitration), None)
                elif response.WhichOneof("update") == "packet" and self.on_packet is not None:
                    said = {each.metadata_id: int.from_bytes(each.value, "big") for each in response.packet.metadata}
                    self.on_packet((said.get(1, 0), said.get(2, 0), response.packet.payload))
            await self._announce(None, SwitchError(self.address, "the switch closed the stream"))
        except grpc.RpcError as error:
            client_error = self._failed(error, "StreamChannel", self.timeout_s)
            if isinstance(client_error, SwitchError):
                await self._announce(None, client_error)
            elif client_error.is_election_id_used:
                message = (
                    f"another controller has election id {self.election_id} already ({client_error.message}): "
                    f"stop it, or take over with election id {self.election_id + 1}"
                )
                await self._announce(None, ElectionIdTakenError(self.address, message))
            else:
                await self._announce(None, self._error(client_error))

    async def send_packet(self, port: int, frame: bytes) -> None:
        """Have the switch send a frame by a port.

        Raises:
            SwitchError: The stream has ended.

        """
        request = p4r.StreamMessageRequest()
        request.packet.payload = frame
        for number, value in ((1, port), (2, 0)):
            field = request.packet.metadata.add()
            field.metadata_id, field.value = number, value.to_bytes(2, "big").lstrip(b"\0") or b"\0"
        try:
            await self._stream.write(request)
        except (grpc.RpcError, asyncio.InvalidStateError):
            raise self._ended or SwitchError(self.address, "the switch closed the stream") from None

    async def _announce(self, mastership: Mastership | None, ended: SwitchError | None) -> None:
        async with self._changed:
            self._mastership, self._ended = mastership, ended
            self._answers += 1
            self._changed.notify_all()

    def _arbitration(self) -> p4r.StreamMessageRequest:
        request = p4r.StreamMessageRequest()
        request.arbitration.device_id = self.device_id
        request.arbitration.election_id.CopyFrom(election_id(self.election_id))
        if self.role:
            request.arbitration.role.name = self.role
        return request

    # -- pipeline -----------------------------------------------------------

    async def pipeline(self) -> PipelineConfig:
        """Read the switch's program and its p4info."""
        return await self._pipeline(p4r.GetForwardingPipelineConfigRequest.ALL)

    async def runs_artifact(self) -> bool:
        """Whether the switch runs exactly the session's artifact: one small message where the switch keeps cookies.

        Also the cheapest way to ask whether a switch is there and has not been restarted.
        """
        brief = await self._pipeline(p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY)
        if brief.config.HasField("cookie") and brief.config.cookie.cookie:
            return brief.is_artifact(self.artifact)
        return (await self.pipeline()).is_artifact(self.artifact)

    async def _pipeline(self, response_type: Any) -> PipelineConfig:
        request = p4r.GetForwardingPipelineConfigRequest(device_id=self.device_id, response_type=response_type)
        try:
            response = await self._call("GetForwardingPipelineConfig", request)
        except P4ClientError as error:
            # Servers of bmv2 and Stratum answer so when they run nothing; others give an empty config.
            if error.code == GRPCStatusCode.FAILED_PRECONDITION:
                return PipelineConfig(p4r.ForwardingPipelineConfig())
            raise self._error(error) from None
        return PipelineConfig(response.config)

    async def set_artifact(self) -> None:
        """Load the session's artifact; every entry on the switch is gone afterwards."""
        config = p4r.ForwardingPipelineConfig(p4info=self.artifact.p4info, p4_device_config=self.artifact.device_config)
        config.cookie.cookie = self.artifact.cookie
        await self.set_pipeline(PipelineConfig(config))

    async def set_pipeline(self, pipeline: PipelineConfig) -> None:
        """Load what another call of `pipeline` gave."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device_id,
            election_id=election_id(self.election_id),
            role=self.role,
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
            config=pipeline.config,
        )
        async with self._refusals():
            await self._call("SetForwardingPipelineConfig", request)

    # -- entries ------------------------------------------------------------

    async def messages(self) -> list[p4r.TableEntry]:
        """Every table entry as the switch sends it: for a program that isn't the session's artifact."""
        request = self._read_request()
        request.entities.add().table_entry.table_id = 0
        return [entity.table_entry async for entity in self._read(request, MOST_ENTRIES)]

    async def rows(self, defaults: Sequence[str] = ()) -> list[TableRow]:
        """Every table entry that a controller can write, without constant ones; default entries of these tables too.

        The switch must run the session's artifact.
        """
        request = self._read_request()
        request.entities.add().table_entry.table_id = 0
        asked = {self.artifact.table(name).number for name in defaults}
        for number in asked:
            entry = request.entities.add().table_entry
            entry.table_id, entry.is_default_action = number, True
        constant = {table.number for table in self.artifact.tables.values() if table.constant}
        found: dict[TableRow, None] = {}
        decode = self.artifact.decode
        # Of a constant table a switch may send what the program has, of any table its default entry.
        most = self.artifact.capacity + len(self.artifact.tables)
        async for entity in self._read(request, most):
            message = entity.table_entry
            table = message.table_id
            wanted = table in asked if message.is_default_action else table not in constant and not message.is_const
            if wanted:
                with understood(self.address):
                    found[decode(message)] = None
        return list(found)

    async def is_atomic(self) -> bool:
        """Whether the switch applies a batch of writes between two packets, or not at all.

        Asked with a batch that writes nothing: P4Runtime has no other way to know. Needs mastership and a program.

        Raises:
            SwitchError: Another controller is primary, or the switch can't be reached.

        """
        request = self._write_request()
        request.atomicity = p4r.WriteRequest.DATAPLANE_ATOMIC
        try:
            await self._call("Write", request)
        except P4ClientError as error:
            if error.code == GRPCStatusCode.UNIMPLEMENTED:
                return False
            raise self._error(error) from None
        return True

    async def write(self, updates: Sequence[Update], *, atomic: bool = True) -> None:
        """Write updates: all or none between two packets, or one by one in any order.

        Where it isn't atomic, some may have been applied when this raises; the caller undoes that.

        Raises:
            SwitchError: With one line per refused update.

        """
        if not updates:
            return
        request = self._write_request(atomic=atomic)
        request.updates.extend([self.artifact.update(update) for update in updates])
        try:
            await self._call("Write", request)
        except P4ClientError as error:
            raise self._error(error, updates) from None

    async def write_messages(self, updates: Iterable[p4r.Update]) -> None:
        """Write what isn't of the session's artifact, or is no table entry; one by one.

        Raises:
            SwitchError: The switch refused one; others may have been applied.

        """
        request = self._write_request(atomic=False)
        request.updates.extend(updates)
        if request.updates:
            async with self._refusals():
                await self._call("Write", request)

    # -- counters and registers ---------------------------------------------

    async def counter(self, name: str, indexes: Iterable[int] | None = None) -> dict[int, CounterValue]:
        """The cells of an indirect counter that aren't zero, by index.

        Args:
            name: Such as ``policy_traffic``.
            indexes: Which cells; None is all, which takes long where an array is large.

        """
        counter = self.artifact.counter(name)
        number = counter.number
        result: dict[int, CounterValue] = {}
        for batch in _batches(indexes):
            request = self._read_request()
            for index in batch:
                cell = request.entities.add().counter_entry
                cell.counter_id = number
                if index is not None:
                    cell.index.index = index
            cells = range(counter.size) if batch == [None] else frozenset(batch)
            async for entity in self._read(request, len(batch) if indexes is not None else counter.size):
                data, cell_index = entity.counter_entry.data, entity.counter_entry.index.index
                self._check_asked(cell_index in cells, name, cell_index)
                if data.packet_count or data.byte_count:
                    result[cell_index] = CounterValue(data.packet_count, data.byte_count)
        return dict(sorted(result.items()))

    async def clear_counter(self, name: str, indexes: Iterable[int]) -> None:
        """Set cells of an indirect counter to zero."""
        await self.write_counter(name, dict.fromkeys(indexes, CounterValue(0, 0)))

    async def write_counter(self, name: str, values: Mapping[int, CounterValue]) -> None:
        """Set cells of an indirect counter, by index."""
        number = self.artifact.counter(name).number
        updates = []
        for index, value in values.items():
            update = p4r.Update(type=p4r.Update.MODIFY)
            cell = update.entity.counter_entry
            cell.counter_id, cell.index.index = number, index
            cell.data.packet_count, cell.data.byte_count = value.packets, value.bytes
            updates.append(update)
        for start in range(0, len(updates), CELLS):
            await self.write_messages(updates[start : start + CELLS])

    async def registers(self, name: str, indexes: Iterable[int]) -> dict[int, int] | None:
        """Cells of a register array by index; None where the switch's server can't read registers, as bmv2's can't."""
        number = self.artifact.register(name).number
        result: dict[int, int] = {}
        asked = False
        for batch in _batches(indexes):
            asked = True
            request = self._read_request()
            for index in batch:
                cell = request.entities.add().register_entry
                cell.register_id = number
                cell.index.index = index if index is not None else 0
            cells = frozenset(batch)
            try:
                async for entity in self._entities(request, len(batch)):
                    cell = entity.register_entry
                    value = cell.data.bitstring
                    self._check_asked(cell.index.index in cells and len(value) <= WIDEST, name, cell.index.index)
                    result[cell.index.index] = int.from_bytes(value, "big")
            except P4ClientError as error:
                if error.code == GRPCStatusCode.UNIMPLEMENTED:
                    return None
                raise self._error(error) from None
        return None if asked and not result else result

    # -- inside -------------------------------------------------------------

    def _read_request(self) -> p4r.ReadRequest:
        return p4r.ReadRequest(device_id=self.device_id, role=self.role)

    def _write_request(self, *, atomic: bool = True) -> p4r.WriteRequest:
        atomicity = p4r.WriteRequest.DATAPLANE_ATOMIC if atomic else p4r.WriteRequest.CONTINUE_ON_ERROR
        return p4r.WriteRequest(
            device_id=self.device_id,
            role=self.role,
            election_id=election_id(self.election_id),
            atomicity=atomicity,
        )

    async def _call(self, method: str, request: Any) -> Any:
        try:
            return await getattr(self._stub, method)(request)
        except grpc.RpcError as error:
            raise self._failed(error, method, self.timeout_s) from None

    async def _read(self, request: p4r.ReadRequest, most: int) -> AsyncIterator[p4r.Entity]:
        async with self._refusals():
            async for entity in self._entities(request, most):
                yield entity

    async def _entities(self, request: p4r.ReadRequest, most: int) -> AsyncIterator[p4r.Entity]:
        """Give what the switch answers, one by one, at most so many.

        Raises:
            P4ClientError: It refused.
            SwitchError: It fell silent, doesn't end, or says more than it can hold.

        """
        call = self._stub.Read(request, timeout=PATIENCE * self.timeout_s)
        clock = asyncio.get_running_loop().time
        until = clock() + self.timeout_s
        left = most
        try:
            while True:
                async with asyncio.timeout_at(until):
                    response = await call.read()
                if response is grpc.aio.EOF:
                    return
                left -= len(response.entities)
                if left < 0:
                    raise SwitchError(self.address, f"the switch answered Read with more than {most} entries or cells")
                # A message with nothing in it is no progress.
                if response.entities:
                    until = clock() + self.timeout_s
                for entity in response.entities:
                    yield entity
        except TimeoutError:
            raise self._silent("Read", self.timeout_s) from None
        except grpc.RpcError as error:
            raise self._failed(error, "Read", PATIENCE * self.timeout_s) from None
        finally:
            call.cancel()

    def _failed(self, error: grpc.RpcError, method: str, seconds: float) -> P4ClientError | SwitchError:
        """A call's end as an error: the switch's refusal, or that it never came to one."""
        if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            return self._silent(method, seconds)
        if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in (error.details() or ""):
            return SwitchError(self.address, f"an answer to {method} of more than {LARGEST_MESSAGE >> 20} MiB")
        try:
            return P4ClientError(error, method)
        except (DecodeError, ValueError, TypeError):
            return SwitchError(
                self.address, f"the switch refused {method} in words that make no sense ({error.code().name})"
            )

    def _check_asked(self, fits: bool, name: str, index: int) -> None:
        if not fits:
            raise SwitchError(
                self.address, f"the switch answered with cell {index} of '{name}', which wasn't asked for"
            )

    def _silent(self, method: str, seconds: float) -> SwitchError:
        return SwitchError(self.address, f"no answer to {method} within {seconds:g} s (--timeout)")

    @asynccontextmanager
    async def _refusals(self) -> AsyncIterator[None]:
        try:
            yield
        except P4ClientError as error:
            raise self._error(error) from None

    def _error(self, error: P4ClientError, updates: Sequence[Update] = ()) -> SwitchError:
        try:
            with understood(self.address):
                return self._refusal(error, updates)
        except SwitchError as odd:
            return odd

    def _refusal(self, error: P4ClientError, updates: Sequence[Update]) -> SwitchError:
        if error.code == GRPCStatusCode.UNAVAILABLE:
            words = _brief(error.message) if self._tls is None else self._tls.explain(_brief(error.message))
            return SwitchError(self.address, f"the switch can't be reached ({words})")
        refusals = []
        for index, detail in sorted(error.details.items()):
            # The rest of an atomic batch is reported as aborted; the user wants the cause.
            if detail.canonical_code == GRPCStatusCode.ABORTED and len(error.details) > 1:
                continue
            words = f"{detail.canonical_code.name}: {_brief(detail.message)}"
            what = describe_update(updates[index], self.artifact) if index < len(updates) else f"update {index}"
            refusals.append(f"{what}: {words}")
        message = f"the switch refused: {error.code.name}" + (f": {_brief(error.message)}" if error.message else "")
        return SwitchError(self.address, message, refusals)


def _brief(words: str) -> str:
    """A switch's words, which the history keeps, as long as a person reads them."""
    return words if len(words) <= LONGEST_WORDS else f"{words[:LONGEST_WORDS]}..."


def _batches(indexes: Iterable[int] | None) -> Iterable[list[int | None]]:
    if indexes is None:
        return [[None]]
    wanted: list[int | None] = list(indexes)
    return [wanted[start : start + CELLS] for start in range(0, len(wanted), CELLS)]
