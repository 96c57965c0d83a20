"""What two samples say: differences, and no rate where there is none."""

from dataclasses import replace

import pytest
from made_up import SECOND_NS, a_class, a_policy, a_port, a_sample, a_stream, busy

from phb.monitor.changes import changes_between, subject
from phb.monitor.observation import EventKind, SubjectKind

LONGEST_S = 3.5
VOICE = subject(SubjectKind.CLASS, "voice")
RULE = subject(SubjectKind.POLICY, "phones", "outgoing")
ACTION = subject(SubjectKind.STREAM, "limited")


def test_first_sample_says_nothing():
    between = changes_between(None, busy(3), LONGEST_S)
    assert (between.changes, between.gap_s, between.events) == ({}, 0, ())


def test_class():
    before = a_sample(0, a_class("voice", sent=10, delays={3: 4, 9: 6}, drops={"WRED": 1}, marked=2))
    after = a_sample(
        2, a_class("voice", sent=25, delays={3: 4, 9: 20, 11: 1}, drops={"WRED": 3, "POLICED": 1}, marked=7)
    )
    change = changes_between(before, after, LONGEST_S).changes[VOICE]
    assert change.seconds == 2
    assert (change.sent_packets, change.sent_bytes, change.sent_bps) == (15, 15_000, 60_000)
    assert (change.came_packets, change.came_bytes) == (18, 18_000)
    assert (change.drops, change.marked, change.delays) == ({"WRED": 2, "POLICED": 1}, 5, {9: 14, 11: 1})


def test_policy_has_the_delays_of_its_class():
    def sample(second, packets):
        of_class = a_class("voice", sent=packets, delays={20: packets})
        rule = a_policy("phones", direction="outgoing", traffic_class="voice", green=packets, red=packets)
        return a_sample(second, of_class, replace(rule, drops={"POLICED": packets}, dropped_bytes=packets * 1000))

    change = changes_between(sample(0, 5), sample(1, 8), LONGEST_S).changes[RULE]
    assert (change.came_packets, change.sent_packets, change.sent_bytes) == (6, 3, 3_000)
    assert change.colours == {"green": (3, 3_000), "red": (3, 3_000)}
    assert (change.drops, change.delays) == ({"POLICED": 3}, {20: 3})


def test_pushed_out_packets_came_before():
    before, after = (
        a_sample(second, a_stream(green=9, drops=drops)) for second, drops in ((0, {}), (1, {"PUSHED_OUT": 4}))
    )
    change = changes_between(before, after, LONGEST_S).changes[ACTION]
    assert (change.came_packets, change.sent_packets, change.sent_bytes) == (0, 0, 0)
    assert change.drops == {"PUSHED_OUT": 4}


def test_what_stood_still_shares_one_change():
    before = busy(5)
    after = replace(before, time_ns=before.time_ns + SECOND_NS, switch_time_ns=before.switch_time_ns + SECOND_NS)
    changes = changes_between(before, after, LONGEST_S).changes
    assert len(changes) == 3 + 4 + 1
    assert len({id(change) for change in changes.values()}) == 1
    assert all(change.came_packets == 0 and change.seconds == 1 for change in changes.values())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(a_class("voice", sent=9), a_class("voice", sent=1), id="packets"),
        pytest.param(a_class("voice", sent=9, size=99), a_class("voice", sent=9, size=9), id="bytes"),
        pytest.param(
            a_class("voice", sent=9, delays={3: 9}), a_class("voice", sent=9, delays={4: 9}), id="bucket gone"
        ),
        pytest.param(a_class("voice", drops={"WRED": 5}), a_class("voice", drops={"WRED": 4}), id="drops"),
        pytest.param(a_class("voice", drops={"WRED": 5}), a_class("voice"), id="drops gone"),
        pytest.param(a_class("voice", marked=5), a_class("voice", marked=4), id="marks"),
        pytest.param(a_policy("phones", green=5), a_policy("phones", green=4), id="colour"),
        pytest.param(a_policy("phones", green=5, red=5), a_policy("phones", green=9), id="colour gone"),
        pytest.param(a_stream("limited", red=5), a_stream("limited", red=4), id="stream"),
        pytest.param(a_stream("limited", drops={"WRED": 5}), a_stream("limited"), id="drops of a stream"),
    ],
)
def test_counter_that_went_back_gives_no_change(before, after):
    still = a_class("data", 2, sent=7)
    between = changes_between(a_sample(0, before, still), a_sample(1, after, still), LONGEST_S)
    assert [each.name for each in between.changes] == ["data"]
    (event,) = between.events
    assert event.kind is EventKind.COUNTERS_ANEW
    name = next(name for name in ("voice", "phones", "limited") if name in event.message)
    assert f"'{name}'" in event.message


def test_many_counters_that_went_back_are_one_event():
    between = changes_between(busy(5, classes=9, policies=0, streams=0), busy_at(6, 1), LONGEST_S)
    (event,) = between.events
    assert event.message.endswith("and 4 more")


def busy_at(second, counted):
    sample = busy(counted, classes=9, policies=0, streams=0)
    moved = (second - counted) * SECOND_NS
    return replace(sample, time_ns=sample.time_ns + moved, switch_time_ns=sample.switch_time_ns + moved)


def test_restart_gives_no_change_and_one_event():
    after = replace(busy(9), instance=2, switch_time_ns=5)
    between = changes_between(busy(3), after, LONGEST_S)
    assert (between.changes, between.gap_s) == ({}, 6)
    assert [event.kind for event in between.events] == [EventKind.COUNTERS_ANEW]


@pytest.mark.parametrize(
    ("clock_s", "gap_s"),
    [pytest.param(4, 4, id="late"), pytest.param(0, 0, id="twice"), pytest.param(-3, 0, id="back")],
)
def test_gap_gives_no_change(clock_s, gap_s):
    before = a_sample(0, a_class("voice", sent=1))
    between = changes_between(before, a_sample(1, a_class("voice", sent=9), clock_s=clock_s), LONGEST_S)
    assert (between.changes, between.gap_s, between.events) == ({}, gap_s, ())


def test_rates_go_by_the_clock_of_the_switch():
    """The reader's was set back by an hour."""
    before, after = (
        a_sample(7200, a_class("voice", sent=1), clock_s=10),
        a_sample(3600, a_class("voice", sent=9), clock_s=11),
    )
    assert changes_between(before, after, LONGEST_S).changes[VOICE].seconds == 1


def test_renumbered_and_new_subjects_have_no_change():
    """A push gives a number to another rule: what the cells have counted is not the rule's."""
    before = a_sample(0, a_policy("phones", 3, direction="outgoing", green=5))
    after = a_sample(1, a_policy("phones", 4, direction="outgoing", green=9), a_policy("new", 3, green=5))
    between = changes_between(before, after, LONGEST_S)
    assert (between.changes, between.events) == ({}, ())


@pytest.mark.parametrize(
    ("was", "now", "kinds"),
    [
        (True, False, [EventKind.PORT_DOWN]),
        (False, True, [EventKind.PORT_UP]),
        (True, True, []),
        (None, False, []),
        (False, None, []),
    ],
)
def test_links(was, now, kinds):
    between = changes_between(a_sample(0, a_port("wan", up=was)), a_sample(1, a_port("wan", up=now)), LONGEST_S)
    assert [event.kind for event in between.events] == kinds
    assert all("port wan" in event.message for event in between.events)
