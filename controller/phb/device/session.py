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

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from finsy import GRPCStatusCode, P4ClientError
from finsy.proto import p4r, p4r_grpc

from phb.device.artifact import Artifact
from phb.device.calls import Calls
from phb.device.channel import PipelineConfig, open_channel
from phb.device.deadlines import MOST_ENTRIES, TIMEOUT_S, understood
from phb.device.mastership import Mastership, election_id
from phb.device.stream import PacketTaker, Stream
from phb.device.tls import Tls
from phb.entries import TableRow, Update
from phb.errors import SwitchError

# Cells in one request. Each is an entity of some ten bytes in the request and thirty in the answer.
CELLS = 5_000
WIDEST = 512  # bytes of a register's cell; the widest number of P4's that p4c takes has fewer


@dataclass(frozen=True, slots=True)
class CounterValue:
    """A cell of an indirect counter. Bytes are those of the Ethernet frame without FCS."""

    packets: int
    bytes: int


class Session:
    """A connection to one switch; use it with ``async with``.

    The controller with the highest `election_id` is primary within its `role` (P4Runtime section 5.1; empty is the
    default role, which may do everything). `timeout_s` is how long one answer may take, in seconds:
    `phb.device.deadlines`. `on_packet` is called with packet-ins. Without `tls` the connection is plain text.

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
        on_packet: PacketTaker | None = None,
    ) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self.artifact = artifact
        self.device_id = device_id
        self.election_id = election_id
        self.role = role
        self._tls = tls
        self._credentials = None if tls is None else tls.credentials()
        self._on_packet = on_packet

    async def __aenter__(self) -> Self:
        self._channel = open_channel(self.address, self._credentials, self.timeout_s)
        stub = p4r_grpc.P4RuntimeStub(self._channel)
        self._calls = Calls(stub, self.address, self.timeout_s, self._tls, self.artifact)
        self._stream = Stream(self._calls, self.device_id, self.role, self._on_packet)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stream.close()
        await self._channel.close()

    @property
    def channel(self) -> Any:
        """The connection, for other services at the same port."""
        return self._channel

    def unreachable(self, words: str) -> SwitchError:
        """Give the error of a call that gRPC couldn't make, with what its words mean for our certificates."""
        known = words if self._tls is None else self._tls.explain(words)
        return SwitchError(self.address, f"the switch can't be reached ({known})")

    # -- mastership ---------------------------------------------------------

    @property
    def mastership(self) -> Mastership | None:
        """The switch's last answer; None before `arbitrate`, and after the stream has ended."""
        return self._stream.mastership

    async def arbitrate(self, election_id: int | None = None) -> Mastership:
        """Ask for mastership, or ask again with another election id, and wait for the answer.

        Raises:
            SwitchError: The switch doesn't answer, or refuses the stream: another session has this election id.
        """
        if election_id is not None:
            self.election_id = election_id
        return await self._stream.arbitrate(self.election_id)

    async def become_primary(self) -> None:
        """Ask to be the one controller that may write (P4Runtime section 5).

        Raises:
            SwitchError: Another controller is primary, or the switch doesn't answer.
        """
        mastership = await self.arbitrate()
        if not mastership.primary:
            raise SwitchError(self.address, mastership.refusal(self.election_id))

    def masterships(self) -> AsyncIterator[Mastership]:
        """Give the present mastership, then the latest one after every change, for as long as the stream lives.

        Raises:
            SwitchError: The stream has ended: the switch has restarted, can't be reached, or has closed it.
        """
        return self._stream.masterships()

    async def send_packet(self, port: int, frame: bytes) -> None:
        """Have the switch send a frame by a port."""
        await self._stream.send_packet(port, frame)

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
            response = await self._calls.call("GetForwardingPipelineConfig", request)
        except P4ClientError as error:
            # Servers of bmv2 and Stratum answer so when they run nothing; others give an empty config.
            if error.code == GRPCStatusCode.FAILED_PRECONDITION:
                return PipelineConfig(p4r.ForwardingPipelineConfig())
            raise self._calls.error(error) from None
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
        async with self._calls.refusals():
            await self._calls.call("SetForwardingPipelineConfig", request)

    # -- entries ------------------------------------------------------------

    async def messages(self) -> list[p4r.TableEntry]:
        """Read every table entry as the switch sends it: for a program that isn't the session's artifact."""
        request = self._read_request()
        request.entities.add().table_entry.table_id = 0
        return [entity.table_entry async for entity in self._calls.read(request, MOST_ENTRIES)]

    async def rows(self, defaults: Sequence[str] = (), tables: Sequence[str] | None = None) -> list[TableRow]:
        """Read every table entry that a controller can write, but constant ones; also default entries of `defaults`.

        With `tables` only entries of these. The switch must run the session's artifact.
        """
        found: dict[TableRow, None] = {}
        decode = self.artifact.decode
        async for entry in self.table_entries(defaults, tables):
            with understood(self.address):
                found[decode(entry)] = None
        return list(found)

    async def table_entries(
        self, defaults: Sequence[str] = (), tables: Sequence[str] | None = None
    ) -> AsyncIterator[p4r.TableEntry]:
        """Read the same entries as messages, for whoever knows most of them already; they may come twice."""
        request = self._read_request()
        for number in [0] if tables is None else [self.artifact.table(name).number for name in tables]:
            request.entities.add().table_entry.table_id = number
        asked = {self.artifact.table(name).number for name in defaults}
        for number in asked:
            entry = request.entities.add().table_entry
            entry.table_id, entry.is_default_action = number, True
        constant = {table.number for table in self.artifact.tables.values() if table.constant}
        # Of a constant table a switch may send what the program has, of any table its default entry.
        most = self.artifact.capacity + len(self.artifact.tables)
        async for entity in self._calls.read(request, most):
            message = entity.table_entry
            table = message.table_id
            wanted = table in asked if message.is_default_action else table not in constant and not message.is_const
            if wanted:
                yield message

    async def is_atomic(self) -> bool:
        """Whether the switch applies a batch of writes between two packets, or not at all.

        Asked with a batch that writes nothing: P4Runtime has no other way to know. Needs mastership and a program.
        """
        request = self._write_request()
        request.atomicity = p4r.WriteRequest.DATAPLANE_ATOMIC
        try:
            await self._calls.call("Write", request)
        except P4ClientError as error:
            if error.code == GRPCStatusCode.UNIMPLEMENTED:
                return False
            raise self._calls.error(error) from None
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
            await self._calls.call("Write", request)
        except P4ClientError as error:
            raise self._calls.error(error, updates) from None

    async def write_messages(self, updates: Iterable[p4r.Update]) -> None:
        """Write what isn't of the session's artifact, or is no table entry; one by one.

        Raises:
            SwitchError: The switch refused one; others may have been applied.
        """
        request = self._write_request(atomic=False)
        request.updates.extend(updates)
        if request.updates:
            async with self._calls.refusals():
                await self._calls.call("Write", request)

    # -- counters and registers ---------------------------------------------

    async def counter(self, name: str, indexes: Iterable[int] | None = None) -> dict[int, CounterValue]:
        """Read the cells of an indirect counter that aren't zero; without `indexes` all, which may take long."""
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
            async for entity in self._calls.read(request, len(batch) if indexes is not None else counter.size):
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
        """Read cells of a register array by index; None where the switch's server can't read them, as bmv2's can't."""
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
                async for entity in self._calls.entities(request, len(batch)):
                    cell = entity.register_entry
                    value = cell.data.bitstring
                    self._check_asked(cell.index.index in cells and len(value) <= WIDEST, name, cell.index.index)
                    result[cell.index.index] = int.from_bytes(value, "big")
            except P4ClientError as error:
                if error.code == GRPCStatusCode.UNIMPLEMENTED:
                    return None
                raise self._calls.error(error) from None
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

    def _check_asked(self, fits: bool, name: str, index: int) -> None:
        if not fits:
            raise SwitchError(
                self.address, f"the switch answered with cell {index} of '{name}', which wasn't asked for"
            )


def _batches(indexes: Iterable[int] | None) -> Iterable[list[int | None]]:
    if indexes is None:
        return [[None]]
    wanted: list[int | None] = list(indexes)
    return [wanted[start : start + CELLS] for start in range(0, len(wanted), CELLS)]
