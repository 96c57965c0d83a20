"""docs/operate/monitoring.md: every figure is traced to a counter that there is, and every event is told of."""

import re
from pathlib import Path

from phb.monitor.observation import EventKind
from phb.monitor.reading import interfaces
from phb.monitor.reading.counting import BY_NUMBER, CONNECTIONS, QUEUED, SENT, WAITING

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "operate" / "monitoring.md").read_text()


def rows(heading):
    """Cells of the first table below a heading."""
    lines = PAGE.split(f"## {heading}\n", 1)[1].split("\n|", 1)[1].split("\n\n", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_counters_and_registers_are_those_that_are_read(artifact):
    counters, registers, leaves = set(), set(), set()
    for _, _, source, *_ in rows("What it reads"):
        names = set(re.findall(r"`([\w-]+)`", source))
        if source.startswith("gNMI"):
            leaves |= names
        elif source.startswith("register"):
            registers |= names
        else:
            assert source.startswith("counter")
            counters |= names
    assert counters == {*BY_NUMBER, SENT} <= set(artifact.counters)
    assert registers == {CONNECTIONS, QUEUED, WAITING} <= set(artifact.registers)
    followed = {path.rpartition("/")[2] for path in (*interfaces.ON_CHANGE, *interfaces.COUNTERS)}
    assert leaves - {"cir"} == followed - {"id", "scheduler-policy", "scheduler-policies"}


def test_every_event_is_told_of():
    told = {name for kind, *_ in rows("Events") for name in re.findall(r"`([\w-]+)`", kind)}
    assert told == {kind.value for kind in EventKind}
