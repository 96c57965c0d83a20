"""Ranks on strict-priority queues: the rows of target bmv2-sp-pifo, and what it refuses."""

import pytest

from phb.decompiler import NotAPolicyError, decompile
from phb.errors import InputError
from phb.intent import Entry, Exact
from phb.names import Names

from .conftest import of_table

TARGET = "bmv2-sp-pifo"
FLOWS = (
    "  - port: p0\n    schedule: {kind: fair-queue, dialect: ios-12, dynamic-conversations: 16}\n    hold-queue: 64\n"
)


def classes(*queues):
    return "".join(
        ["  - port: p0\n    schedule:\n      kind: classes\n      queues:\n", *map("        - {}\n".format, queues)]
    )


SHARES = ["{class: a, bandwidth: {weight: 3}, queue-limit: 32}", "{class: class-default, queue-limit: 32}"]


def mapped(intent):
    return [(row.match["level"], row.parameters["queues"], row.origin.line) for row in of_table(intent, "map_ranks")]


@pytest.mark.parametrize(
    ("queueing", "level", "queues"),
    [
        (FLOWS, 0, 8),
        (classes(*SHARES), 7, 8),
        (classes("{class: b, level: 0, queue-limit: 64}", *SHARES), 7, 7),
        (classes("{class: b, level: 3, queue-limit: 9}", "{class: c, level: 1, queue-limit: 9}", *SHARES), 7, 4),
        (classes("{class: b, level: 5, queue-limit: 64}", *SHARES), 7, 2),
        (
            classes(
                "{class: class-default, fair-queue: {dialect: ios-hqf, dynamic-conversations: 16}, queue-limit: 64}"
            ),
            7,
            8,
        ),
    ],
)
def test_ranks_have_the_queues_that_levels_leave(compiled, queueing, level, queues):
    intent = compiled(queueing, target=TARGET)
    ((found, count, line),) = mapped(intent)
    assert (found, count) == (Exact(level), queues)
    (notice,) = intent.notices
    assert f"by their ranks in {queues} strict-priority queues (SP-PIFO)" in notice.message
    assert notice.origin.line == line
    # The row hangs on the port's profile, and all others are those of the embedded switch.
    others = [entry for entry in intent.entries if not entry.table.endswith(".map_ranks")]
    assert tuple(others) == compiled(queueing).entries


@pytest.mark.parametrize(
    "queueing",
    [
        "  - {port: p0, schedule: {kind: fifo}}\n",
        classes("{class: b, level: 6}"),
        classes("{class: b, level: 0, queue-limit: 9}", "{class: class-default, queue-limit: 9}"),
    ],
)
def test_where_ranks_do_not_matter_nothing_is_mapped(compiled, queueing):
    intent = compiled(queueing, target=TARGET)
    assert mapped(intent) == []
    assert intent.entries == compiled(queueing, target="bmv2").entries
    assert intent.notices == ()


@pytest.mark.parametrize(
    ("queueing", "message"),
    [
        (
            classes("{class: b, level: 6, queue-limit: 9}", *SHARES),
            r"found strict level 6 above shares of the port, expected at most level 5: ranks need 2 priorities below",
        ),
        (FLOWS.replace("64", "65"), "found 65 packets in one queue, expected at most 64 on target 'bmv2-sp-pifo'"),
        (
            classes("{class: a, bandwidth: {weight: 3}, queue-limit: 64}"),
            "found a queue without a limit beside 64 packets of others in one queue of the switch, expected at most 63",
        ),
        (classes(SHARES[0], "{class: class-default, queue-limit: 33}"), "found 65 packets in one queue"),
        (
            FLOWS + "    shaper: {rate: {value: 1, unit: Mbit/s, basis: ip}}\n",
            "found shaping to 1 Mbit/s .* none on target 'bmv2-sp-pifo'",
        ),
    ],
)
def test_what_is_refused(compiled, queueing, message):
    with pytest.raises(InputError, match=message):
        compiled(queueing, target=TARGET)


@pytest.mark.parametrize("queueing", [FLOWS, classes(SHARES[0])])
def test_bmv2_names_the_way_out(compiled, queueing):
    with pytest.raises(InputError, match=r"on target 'bmv2': .*; target 'bmv2-sp-pifo' comes close$"):
        compiled(queueing, target="bmv2")


@pytest.mark.parametrize("queueing", [FLOWS, classes("{class: b, level: 3, queue-limit: 9}", *SHARES)])
def test_rows_are_read_back(compiled, queueing):
    intent = compiled(queueing, target=TARGET)
    policy = decompile(intent.entries)
    assert policy.queueing == decompile(compiled(queueing).entries).queueing
    (row,) = of_table(intent, "map_ranks")
    for strange in (
        Entry(row.table, row.match, row.action, {"queues": 1}, 0, row.origin),
        Entry(row.table, {**row.match, "level": Exact(3)}, row.action, row.parameters, 0, row.origin),
    ):
        entries = [strange if entry is row else entry for entry in intent.entries]
        with pytest.raises(NotAPolicyError, match="other strict-priority queues than levels leave"):
            decompile(entries, Names())
