"""One P4Runtime session with one switch, on finsy's asyncio client.

Thin: become primary, look after the pipeline config, read and write table entries, read counters. What to write is
decided in `phb.pushing`; every refusal leaves here as a SwitchError with the switch's own words.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from finsy import GRPCStatusCode, P4Client, P4ClientError
from finsy.proto import p4r

from phb.artifact import Artifact
from phb.describe import describe_update
from phb.difference import Update, by_key
from phb.errors import SwitchError

ARBITRATION_TIMEOUT = 10.0  # seconds; a switch answers at once or not at all


@dataclass(frozen=True, slots=True)
class CounterValue:
    """A cell of an indirect counter. Bytes are those of the Ethernet frame without FCS."""

    packets: int
    bytes: int


@dataclass(frozen=True)
class PipelineConfig:
    """What a switch runs; `config` is empty when it runs nothing."""

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


class Session:
    """A connection to one switch; use it with ``async with``.

    Args:
        address: ``HOST:PORT`` of the P4Runtime server.
        device_id: The switch's number.
        artifact: Gives tables and counters their names.
        election_id: The controller with the highest one is primary.

    """

    def __init__(self, address: str, device_id: int, artifact: Artifact, *, election_id: int = 1) -> None:
        self.address = address
        self._device_id = device_id
        self._artifact = artifact
        self._election_id = p4r.Uint128(low=election_id)
        # Not waiting for a server that isn't there: a wrong address should say so at once.
        self._client = P4Client(address, wait_for_ready=False)

    async def __aenter__(self) -> Self:
        await self._client.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    # -- mastership ---------------------------------------------------------

    async def become_primary(self) -> None:
        """Ask to be the one controller that may write (P4Runtime section 5).

        Raises:
            SwitchError: Another controller is primary, or the switch doesn't answer.

        """
        request = p4r.StreamMessageRequest()
        request.arbitration.device_id = self._device_id
        request.arbitration.election_id.CopyFrom(self._election_id)
        try:
            async with asyncio.timeout(ARBITRATION_TIMEOUT), self._refusals():
                await self._client.send(request)
                response = await self._client.receive()
                while response.WhichOneof("update") != "arbitration":
                    response = await self._client.receive()
        except TimeoutError:
            message = f"no answer to arbitration within {ARBITRATION_TIMEOUT:g} s"
            raise SwitchError(self.address, message) from None
        arbitration = response.arbitration
        if arbitration.status.code != GRPCStatusCode.OK.value:
            words = f" ({arbitration.status.message})" if arbitration.status.message else ""
            message = (
                f"another controller is primary with election id {arbitration.election_id.low}, "
                f"ours is {self._election_id.low}{words}"
            )
            raise SwitchError(self.address, message)

    # -- pipeline -----------------------------------------------------------

    async def pipeline(self) -> PipelineConfig:
        """What the switch runs."""
        request = p4r.GetForwardingPipelineConfigRequest(
            device_id=self._device_id, response_type=p4r.GetForwardingPipelineConfigRequest.ALL
        )
        try:
            response = await self._client.request(request)
        except P4ClientError as error:
            # Servers of bmv2 and Stratum answer so when they run nothing; others give an empty config.
            if error.code == GRPCStatusCode.FAILED_PRECONDITION:
                return PipelineConfig(p4r.ForwardingPipelineConfig())
            raise self._error(error) from None
        return PipelineConfig(response.config)

    async def set_artifact(self) -> None:
        """Load the session's artifact; every entry on the switch is gone afterwards."""
        config = p4r.ForwardingPipelineConfig(
            p4info=self._artifact.p4info, p4_device_config=self._artifact.device_config
        )
        config.cookie.cookie = self._artifact.cookie
        await self.set_pipeline(PipelineConfig(config))

    async def set_pipeline(self, pipeline: PipelineConfig) -> None:
        """Load what another call of `pipeline` gave."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self._device_id,
            election_id=self._election_id,
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
            config=pipeline.config,
        )
        async with self._refusals():
            await self._client.request(request)

    # -- entries ------------------------------------------------------------

    async def entries(self) -> dict[bytes, p4r.TableEntry]:
        """Every table entry that a controller can write, canonical, by key: constant and default ones left out."""
        request = p4r.ReadRequest(device_id=self._device_id)
        request.entities.add().table_entry.table_id = 0
        found: list[p4r.TableEntry] = []
        async for entity in self._read(request):
            entry = entity.table_entry
            name = self._artifact.table_names.get(entry.table_id)
            constant = name is not None and self._artifact.tables[name].constant
            if not (constant or entry.is_const or entry.is_default_action):
                found.append(entry)
        return by_key(found)

    async def write(self, updates: Sequence[Update]) -> None:
        """Write all updates or none, as far as the switch can.

        Targets that know only CONTINUE_ON_ERROR (bmv2's) may have applied some of them when this raises; the caller
        undoes that.

        Raises:
            SwitchError: With one line per refused update.

        """
        if not updates:
            return
        request = p4r.WriteRequest(
            device_id=self._device_id,
            election_id=self._election_id,
            updates=[update.message() for update in updates],
            atomicity=p4r.WriteRequest.DATAPLANE_ATOMIC,
        )
        try:
            await self._client.request(request)
        except P4ClientError as error:
            if error.code != GRPCStatusCode.UNIMPLEMENTED or error.details:
                raise self._error(error, updates) from None
            request.atomicity = p4r.WriteRequest.CONTINUE_ON_ERROR
            try:
                await self._client.request(request)
            except P4ClientError as second:
                raise self._error(second, updates) from None

    # -- counters -----------------------------------------------------------

    async def counter(self, name: str) -> dict[int, CounterValue]:
        """The cells of an indirect counter that aren't zero, by index."""
        request = p4r.ReadRequest(device_id=self._device_id)
        request.entities.add().counter_entry.counter_id = self._artifact.counter(name).number
        result: dict[int, CounterValue] = {}
        async for entity in self._read(request):
            cell = entity.counter_entry
            if cell.data.packet_count or cell.data.byte_count:
                result[cell.index.index] = CounterValue(cell.data.packet_count, cell.data.byte_count)
        return dict(sorted(result.items()))

    # -- inside -------------------------------------------------------------

    async def _read(self, request: p4r.ReadRequest) -> AsyncIterator[p4r.Entity]:
        async with self._refusals():
            async for response in self._client.request_iter(request):
                for entity in response.entities:
                    yield entity

    @asynccontextmanager
    async def _refusals(self) -> AsyncIterator[None]:
        try:
            yield
        except P4ClientError as error:
            raise self._error(error) from None

    def _error(self, error: P4ClientError, updates: Sequence[Update] = ()) -> SwitchError:
        code = error.code.name
        if error.code == GRPCStatusCode.UNAVAILABLE:
            return SwitchError(self.address, f"the switch can't be reached ({error.message})")
        refusals = []
        for index, detail in sorted(error.details.items()):
            # The rest of an atomic batch is reported as aborted; the user wants the cause.
            if detail.canonical_code == GRPCStatusCode.ABORTED and len(error.details) > 1:
                continue
            words = f"{detail.canonical_code.name}: {detail.message}"
            what = describe_update(updates[index], self._artifact) if index < len(updates) else f"update {index}"
            refusals.append(f"{what}: {words}")
        message = f"the switch refused: {code}" + (f": {error.message}" if error.message else "")
        return SwitchError(self.address, message, refusals)
