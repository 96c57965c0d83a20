"""Meters: streams, their rates, and their packets by colour."""

from __future__ import annotations

from dataclasses import dataclass, field

from phb.device.session import CounterValue
from phb.pipeline_names import COLOURS, COLOURS_PER_POLICY
from phb.show.held import HeldEntry
from phb.show.reading import Reading

_TABLES = ("police.stream_meter", "output_police.stream_meter")
KINDS = {
    "single_rate": "single-rate (RFC 2697)",
    "two_rate": "two-rate (RFC 2698)",
    "two_rate_separate": "two-rate-separate (RFC 4115)",
}


@dataclass
class MeterRow:
    """One stream's meter.

    Attributes:
        rates: Bit/s, by name.
        bursts: Bytes, by name.
        datagram: Whether the rates count the IP datagram's bytes, and not the Ethernet frame's.
        overhead: Bytes added to those.
        colours: Packets by colour.
    """

    stream: int
    action: str
    hook: str
    kind: str
    rates: dict[str, int]
    bursts: dict[str, int]
    datagram: bool
    overhead: int
    colour_aware: bool
    colours: dict[str, CounterValue] = field(default_factory=dict)


async def read_meters(reading: Reading) -> list[MeterRow]:
    """Read the meters of a switch, by stream."""
    rows = {}
    for table in _TABLES:
        for entry in reading.held.table(table):
            row = _row(reading, table, entry)
            rows[row.stream] = row
    cells = await reading.counter(
        "stream_traffic", (stream * COLOURS_PER_POLICY + colour for stream in rows for colour in COLOURS)
    )
    for index, value in cells.items():
        rows[index // COLOURS_PER_POLICY].colours[COLOURS[index % COLOURS_PER_POLICY]] = value
    return [rows[stream] for stream in sorted(rows)]


def _row(reading: Reading, table: str, entry: HeldEntry) -> MeterRow:
    stream, parameters = entry.match["stream"][0], entry.parameters
    overhead = parameters["overhead"]
    return MeterRow(
        stream,
        reading.names.streams.get(stream, ""),
        "output" if table.startswith("output") else "input",
        KINDS.get(entry.action, entry.action),
        {name.removesuffix("_rate"): value for name, value in parameters.items() if name.endswith("rate")},
        {name.removesuffix("_burst"): value for name, value in parameters.items() if name.endswith("_burst")},
        bool(parameters["datagram"]),
        overhead - (1 << 32) if overhead >> 31 else overhead,
        bool(parameters["colour_aware"]),
    )
