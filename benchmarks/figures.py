"""Measured values, and the limits that they have to keep."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One measured value; `of` says what was measured where that is not of this tree."""

    name: str
    value: float
    unit: str
    of: str = ""


@dataclass(frozen=True)
class Demand:
    """Limits of `figure` or its ratio to `over`; `at_least` is None where less is better, `at_most` where more is."""

    figure: str
    over: str | None = None
    at_least: float | None = None
    at_most: float | None = None

    def measured(self, values: Mapping[str, float]) -> float | None:
        """The figure or ratio; None where something was not measured."""
        value = values.get(self.figure)
        if value is None or self.over is None:
            return value
        divisor = values.get(self.over)
        return value / divisor if divisor else None

    def met(self, measured: float) -> bool:
        """Whether a measured value is good enough."""
        return (self.at_least is None or measured >= self.at_least) and (
            self.at_most is None or measured <= self.at_most
        )


# phb's own limits: ratios on any machine, rates on one core of the machines it is built on.
DEMANDS = (
    Demand("veth.phb.pps", over="veth.bmv2.pps", at_least=6),
    Demand("veth.phb.pps", over="veth.null.pps", at_least=0.65),
    Demand("veth.null.ns", over="veth.phb.ns", at_least=0.65),
    Demand("veth.phb.loss_free_pps", over="veth.phb.pps", at_least=0.5),
    Demand("before.qos.native", at_least=3),
    Demand("before.router.native", at_least=2.5),
    Demand("instructions.qos", at_most=3500),
    Demand("load.extra.s", at_most=0.15),
    Demand("pipeline.qos.pps", at_least=1.5e6),
    Demand("pipeline.router.pps", at_least=6e6),
    Demand("classify.10000.ns", over="classify.100.ns", at_most=2),
    Demand("classify.hostile.ns", over="classify.100.ns", at_most=4),
    Demand("lpm.batch.ns", at_most=100),
    Demand("pifo.1000.ops", at_least=15e6),
    Demand("pifo.1000000.ops", at_least=5e6),
    Demand("trace.sai.off.pps", at_least=100_000),
    Demand("trace.sai.recorded.pps", at_least=20_000),
    Demand("trace.qos.recorded.pps", at_least=20_000),
    Demand("monitor.poll.share", at_most=1),
    Demand("monitor.many.cores", at_most=0.5),
    Demand("monitor.many.mb", at_most=300),
    Demand("monitor.late.rate", at_most=2),
    Demand("monitor.late.okay", at_most=2),
    Demand("monitor.late.away", at_most=2),
    Demand("monitor.late.back", at_most=2),
    Demand("monitor.year.gb", at_most=2),
    Demand("monitor.year.month.s", at_most=1),
    Demand("fleet.push.s", at_most=60),
    Demand("shaper.error", at_most=0.001),
    Demand("latency.p50.us", at_most=50),
    Demand("latency.p99.us", at_most=300),
    Demand("latency.real_time.p99.us", at_most=300),
    Demand("write.entries_per_s", at_least=100_000 / 3),
    Demand("write.native_over_interpreter", at_least=0.95),
    Demand("rss.100k.mb", at_most=300),
    Demand("rss.extra.mb", at_most=20),
    Demand("control.phb.packet_in.20k.python", at_least=0.85),
    Demand("control.phb.packet_in.200k.native", at_least=0.95),
    Demand("control.phb.packet_out.pps", over="control.bmv2.packet_out.pps", at_least=2),
    Demand("control.phb.digests.pps", over="control.bmv2.digests.pps", at_least=2),
    Demand("control.phb.ternary.10k.s", over="control.bmv2.ternary.10k.s", at_most=1),
    Demand("control.phb.write.100k.s", at_most=0.6),
    Demand("control.phb.read.100k.s", at_most=0.05),
    Demand("control.phb.loaded.mb", at_most=40),
    Demand("control.phb.silent.write_ms", at_most=10),
    Demand("push.10000.s", at_most=3),
    Demand("watch.file.s", at_most=3),
    Demand("watch.switch_restart.s", at_most=3),
    Demand("watch.controller_restart.s", at_most=3),
    Demand("watch.standby.s", at_most=3),
    *(
        Demand(f"compare.{rules}.{change}.s", at_most=seconds)
        for rules, seconds in ((1_000, 3), (10_000, 30))
        for change in ("split", "cut", "edited")
    ),
    Demand("compare.memory.mb", at_most=2_000),
    Demand("start.s", at_most=0.15),
    Demand("lab.events_per_s", at_least=1e6),
    Demand("lab.sessions.speed", at_least=20),
)


def read(path: Path) -> list[Figure]:
    """Read a JSON file, a list of `{name, value, unit, of}`; `ValueError` if it holds something else."""
    return parse(path.read_text())


def parse(text: str) -> list[Figure]:
    """Parse a JSON list of `{name, value, unit}` and perhaps `of`; `ValueError` if the text is something else."""
    try:
        return [
            Figure(each["name"], float(each["value"]), each["unit"], each.get("of", "")) for each in json.loads(text)
        ]
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a list of name, value and unit: {error!r}") from error


def write(path: Path, figures: Iterable[Figure]) -> None:
    """Write the figures as a JSON list of `{name, value, unit, of}`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(figure) for figure in figures], indent=1) + "\n")
