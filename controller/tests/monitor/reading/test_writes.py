"""Marks: the same one again means that no entry that matters was written."""

import pytest

from phb.monitor.reading.messages import Sample, Written
from phb.monitor.reading.writes import Writes

RULES, QUEUES, ROUTES = 1, 2, 3


def message(instance=7, writes=0, **of):
    ids = {"rules": RULES, "queues": QUEUES, "routes": ROUTES}
    return Sample(
        instance=instance, writes=writes, written=[Written(id=ids[name], writes=count) for name, count in of.items()]
    )


FIRST = message(writes=9, rules=5, queues=1, routes=3)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([FIRST], (7, (5, 1))),
        ([FIRST, message(writes=9)], (7, (5, 1))),
        ([FIRST, message(writes=12, routes=6)], (7, (5, 1))),
        ([FIRST, message(writes=10, queues=2), message(writes=11, rules=6)], (7, (6, 2))),
        # A switch whose program was replaced tells all tables anew.
        ([FIRST, message(instance=8, writes=9, rules=0, queues=0, routes=0)], (8, (0, 0))),
        # One of an earlier release tells of none.
        ([message(writes=9)], (7, (9,))),
        ([message(writes=9), message(writes=10)], (7, (10,))),
        # One of an earlier release comes in the place of a newer one.
        ([FIRST, message(instance=8, writes=3)], (8, (3,))),
    ],
)
def test_marks(messages, expected):
    writes = Writes([RULES, QUEUES])
    *_, mark = [writes.take(each) for each in messages]
    assert mark == expected
    assert mark.generation == sum(expected[1])
