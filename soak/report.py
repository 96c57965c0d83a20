"""The results of a run, as a table, as JSON and as a picture."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

MEMORY_GROWTH_MIB = 64.0
"""So much more than after the first faults is a leak."""
_MIB_S_TO_HOUR = 3600.0


@dataclass
class Injected:
    """One fault, and how the switch came out of it.

    Attributes:
        began_s: Since the beginning of the run.
        recovery_s: From the fault's end until every flow passed; None if they didn't within the bound.
        probes_lost: Of those sent while it lasted: a flood takes their room, so some are.
        flood_received: Frames of the floods that came through.
        counts: Actions, by name.
        memory_mib: Of the switch afterwards, with open descriptors and threads; 0 where it had ended.
    """

    fault: str
    began_s: float
    lasted_s: float = 0.0
    recovery_s: float | None = None
    probes_sent: int = 0
    probes_lost: int = 0
    flood_sent: int = 0
    flood_received: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    memory_mib: float = 0.0
    descriptors: int = 0
    threads: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass
class Memory:
    """Resident memory of one process, in MiB.

    Attributes:
        warm: After the first faults.
        most: The most of all readings.
        mib_per_hour: Slope from `warm` on, by least squares; 0 of fewer than three readings.
    """

    pid: int
    warm: float
    end: float
    most: float
    mib_per_hour: float


@dataclass
class Report:
    """A whole run; `asdict` of it is the JSON report.

    Attributes:
        buffers: By port, the switch's own limit of packets.
        memory: Of each process of the switch; a second one begins where the first has ended.
        samples: (seconds since the beginning, MiB), once a second.
        totals: Packets that the switch printed at its end.
        problems: Of the run as a whole.
    """

    seed: int
    seconds: float = 0.0
    buffers: dict[int, int] = field(default_factory=dict)
    faults: list[Injected] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    samples: list[tuple[float, float]] = field(default_factory=list)
    totals: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        """All problems, each with the fault before it."""
        of_faults = [
            f"{injected.fault} at {injected.began_s:.0f} s: {problem}"
            for injected in self.faults
            for problem in injected.problems
        ]
        return of_faults + self.problems

    def write(self, path: Path) -> None:
        """Write it as JSON, with `failures`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.as_json() + "\n", encoding="utf-8")

    def as_json(self) -> str:
        """Return the JSON report."""
        return json.dumps({**asdict(self), "failures": self.failures}, indent=1)

    def show(self, console: Console) -> None:
        """Print tables and problems."""
        table = Table(title=f"soak, seed {self.seed}, {self.seconds:.0f} s", title_justify="left")
        table.add_column("fault")
        for column in ("times", "probes", "lost", "flood", "through", "recovery p50 [s]", "max [s]", "failed"):
            table.add_column(column, justify="right")
        for name in dict.fromkeys(injected.fault for injected in self.faults):
            table.add_row(name, *_row([injected for injected in self.faults if injected.fault == name]))
        table.add_row("all", *_row(self.faults))
        console.print(table)
        for memory in self.memory:
            console.print(
                f"memory of process {memory.pid}: {memory.warm:.1f} MiB warm, {memory.end:.1f} at the end, "
                f"{memory.most:.1f} at most, {memory.mib_per_hour:+.1f} an hour"
            )
        done: Counter[str] = Counter()
        for injected in self.faults:
            done.update(injected.counts)
        console.print("done: " + ", ".join(f"{count} {words}" for words, count in done.items()))
        if self.totals:
            console.print("the last switch: " + ", ".join(f"{words} {count}" for words, count in self.totals.items()))
        for failure in self.failures:
            console.print(f"FAILED {failure}", highlight=False, markup=False)

    def draw(self, path: Path) -> None:
        """Draw memory and losses over time into a picture."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 5), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        above.plot([at for at, _ in self.samples], [mib for _, mib in self.samples])
        above.set_ylabel("memory of the switch [MiB]")
        above.set_ylim(bottom=0)
        ends = [injected.began_s + injected.lasted_s for injected in self.faults]
        lost = [100 * injected.probes_lost / max(1, injected.probes_sent) for injected in self.faults]
        below.vlines(ends, 0, lost)
        below.plot(
            ends, [100.0 if injected.problems else float("nan") for injected in self.faults], "rx", label="failed"
        )
        below.set_ylabel("probes lost in a fault [%]")
        below.set_ylim(0, 105)
        below.set_xlabel("time [s]")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=120)


def _row(faults: Sequence[Injected]) -> list[str]:
    recoveries = [injected.recovery_s for injected in faults if injected.recovery_s is not None]
    return [
        str(len(faults)),
        f"{sum(injected.probes_sent for injected in faults):,}",
        f"{sum(injected.probes_lost for injected in faults):,}",
        f"{sum(injected.flood_sent for injected in faults):,}",
        f"{sum(injected.flood_received for injected in faults):,}",
        f"{statistics.median(recoveries):.1f}" if recoveries else "-",
        f"{max(recoveries):.1f}" if recoveries else "-",
        str(sum(bool(injected.problems) for injected in faults) or ""),
    ]


def memory_of(pid: int, readings: Sequence[tuple[float, float]], samples: Sequence[tuple[float, float]]) -> Memory:
    """Summarize the memory of a process.

    `readings` are (seconds, MiB) behind each fault from the warm one on, at least one; `samples` are of all its life.
    """
    slope = 0.0
    if len(readings) > 2:
        slope = statistics.linear_regression(*zip(*readings, strict=True)).slope * _MIB_S_TO_HOUR
    most = max([mib for _, mib in samples] + [mib for _, mib in readings])
    return Memory(pid, readings[0][1], readings[-1][1], most, slope)
