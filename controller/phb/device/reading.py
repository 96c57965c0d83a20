"""Counters and table entries of a live switch, by names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from phb.device.artifact import Artifact, Program
from phb.device.deadlines import TIMEOUT_S
from phb.device.describe import Described, describe
from phb.device.references import References
from phb.device.session import CounterValue, Session
from phb.device.tls import Tls
from phb.errors import SwitchError
from phb.pipeline_names import CELLS_BY_POLICY


async def read_counters(
    address: str,
    names: Sequence[str] | Mapping[str, Sequence[int]] | None = None,
    *,
    device_id: int = 1,
    artifact: Program = None,
    p4info: str | Path | None = None,
    tls: Tls | None = None,
    timeout_s: float = TIMEOUT_S,
) -> dict[str, dict[int, CounterValue]]:
    """Read indirect counters by short name, such as ``policy_traffic``; only cells that aren't zero.

    `names` are which counters, or which cells of which counters; None is all. The other arguments are those of
    `phb.push` and of a `Session`.

    Raises:
        ArtifactError: The program has no such counter.
        SwitchError: The switch refused or can't be reached.
    """
    program = Artifact.of(artifact, p4info)
    wanted = list(program.counters) if names is None else list(names)
    for name in wanted:
        program.counter(name)
    async with Session(address, device_id, program, tls=tls, timeout_s=timeout_s) as session:
        cells = dict(names) if isinstance(names, Mapping) else {}
        # A counter by policy has a million cells, nearly all of policies that aren't there.
        missing = [name for name in CELLS_BY_POLICY if name in wanted and name not in cells]
        if missing:
            given = References(program).given(await session.rows())
            policies = [0, *sorted(number for space, number in given if space == "policy" and number)]
            cells |= {name: [cell for policy in policies for cell in CELLS_BY_POLICY[name](policy)] for name in missing}
        return {name: await session.counter(name, cells.get(name)) for name in wanted}


async def read_entries(
    address: str,
    *,
    device_id: int = 1,
    artifact: Program = None,
    p4info: str | Path | None = None,
    tls: Tls | None = None,
    timeout_s: float = TIMEOUT_S,
) -> list[Described]:
    """Read every table entry, in the order of the program's tables.

    Raises:
        SwitchError: The switch refused, can't be reached, or runs another program.
    """
    program = Artifact.of(artifact, p4info)
    async with Session(address, device_id, program, tls=tls, timeout_s=timeout_s) as session:
        if not await session.runs_artifact():
            raise SwitchError(address, "the switch runs another program than the artifact, or none")
        rows = await session.rows()
    order = {table.number: position for position, table in enumerate(program.tables.values())}
    ranked = sorted(rows, key=lambda row: (order[row.table], -row.priority))
    return [describe(row, program) for row in ranked]
