"""How often and for how long objectives were not achieved, from the events of a history."""

from decimal import Decimal

import pytest
from made_up import BEGAN_NS, SECOND_NS, a_class, a_sample
from made_up_history import write

from phb.model import Objectives
from phb.monitor.history.file import Closed, HistoryFile
from phb.monitor.history.unmet import unmet
from phb.monitor.observation import Event, EventKind, Judgement, Measure, Subject, SubjectKind

MINUTE = BEGAN_NS // (60 * SECOND_NS)
JUDGEMENT = Judgement(
    Subject(SubjectKind.POLICY, "voice", "outgoing"),
    Measure.LOSS,
    1.0,
    "percent",
    Objectives(maximum_loss_percent=Decimal(1)),
)
MISSED, OKAY = EventKind.NOT_ACHIEVED, EventKind.OKAY

# Events by second of an hour, and how often and how many seconds of it.
CASES = {
    "once": ([(60, MISSED), (90, OKAY)], (1, 30)),
    "twice": ([(60, MISSED), (90, OKAY), (100, MISSED), (110, OKAY)], (2, 40)),
    "until the end": ([(3000, MISSED)], (1, 600)),
    "from before": ([(40, OKAY)], (0, 40)),
    "told again after a restart of the monitor": ([(60, MISSED), (70, MISSED), (90, OKAY)], (1, 30)),
    "not at all": ([], None),
}


@pytest.mark.parametrize("case", CASES)
def test_times_and_seconds(tmp_path, case):
    events, expected = CASES[case]
    with HistoryFile(tmp_path / "h") as file:
        with file.transaction():
            sample = a_sample(4000, a_class("gold"))
            write(file, Closed("edge", MINUTE, sample, sample))
            file.write_events(
                Event(BEGAN_NS + second * SECOND_NS, "edge", kind, "", JUDGEMENT) for second, kind in events
            )
            file.write_events([Event(BEGAN_NS + SECOND_NS, "edge", EventKind.SWITCH_BACK, "")])
        found = unmet(file, MINUTE, MINUTE + 60)
        assert unmet(file, MINUTE, MINUTE + 60, ["other"]) == []
    assert [(each.of, each.measure, each.times, each.seconds) for each in found] == (
        [] if expected is None else [("policy voice outgoing", "loss", *expected)]
    )
