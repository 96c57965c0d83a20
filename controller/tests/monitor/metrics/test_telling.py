"""What a page says of observations, read by prometheus_client's own parsers."""

import pytest
from made_up import BEGAN_NS, a_class, a_policy, a_port, a_sample, a_session, a_stream, busy, observations, observe
from metrics_pages import OBJECTIVES, Clock, newest, page_of, samples, value, values

from phb.monitor.metrics.families import Kind
from phb.monitor.metrics.pushes import Pushed
from phb.monitor.metrics.telling import FAMILIES
from phb.monitor.observation import Observation
from phb.state import Course, PushOutcome


def with_pushes(taker):
    last = Course(7, "192.0.2.1:9559", 1, "2026-11-26T10:00:00+00:00", PushOutcome.FAILED, 1, 2, 3, 4)
    taker.take_pushes({"edge": Pushed(last, 1_795_687_200.0, {PushOutcome.APPLIED: 3, PushOutcome.FAILED: 1})})
    return taker


def test_pushes_are_told():
    text = page_of(with_pushes(newest(observations(2), switches=["edge", "core"])))
    for name, expected in (
        ("phb_last_push_timestamp_seconds", {None: 1_795_687_200}),
        ("phb_last_push_outcome", {"started": 0, "applied": 0, "unchanged": 0, "failed": 1}),
        ("phb_pushes_total", {"applied": 3, "unchanged": 0, "failed": 1}),
    ):
        assert {each.get("outcome"): number for each, number in values(text, name)} == expected
        assert {each["switch"] for each, _ in values(text, name)} == {"edge"}
    changes = {each["change"]: number for each, number in values(text, "phb_last_push_entries")}
    assert changes == {"inserted": 1, "modified": 2, "deleted": 3, "unchanged": 4}


def test_every_figure_of_a_busy_switch_is_on_the_page():
    text = page_of(newest(observations(8)))
    edge = {"switch": "edge"}
    first = edge | {"class_": "class-1"}
    rule = edge | {"policy": "rule-2", "direction": ""}
    drops = edge | {"policy": "(no rule)", "direction": ""}
    action = edge | {"stream": "action-1"}
    wan = edge | {"port": "wan"}
    expected = [
        (1, "phb_switch_up", edge),
        (BEGAN_NS / 1e9 + 7, "phb_switch_last_sample_timestamp_seconds", edge),
        (700, "phb_class_sent_packets_total", first),
        (700_000, "phb_class_sent_bytes_total", first),
        (28, "phb_class_dropped_packets_total", first),
        (28_000, "phb_class_dropped_bytes_total", first),
        (21, "phb_class_dropped_packets_by_reason_total", first | {"reason": "wred"}),
        (14, "phb_class_marked_packets_total", first),
        (5, "phb_class_queued_packets", first),
        (1400, "phb_policy_packets_total", rule | {"colour": "green"}),
        (0, "phb_policy_packets_total", rule | {"colour": "yellow"}),
        (70_000, "phb_policy_bytes_total", rule | {"colour": "red"}),
        (35, "phb_policy_dropped_packets_total", rule),
        (35_000, "phb_policy_dropped_bytes_total", rule),
        (35, "phb_policy_dropped_packets_by_reason_total", drops | {"reason": "policed"}),
        (0, "phb_policies_others", edge),
        (350, "phb_stream_packets_total", action | {"colour": "green"}),
        (35_000, "phb_stream_bytes_total", action | {"colour": "red"}),
        (0, "phb_stream_dropped_packets_total", action),
        (0, "phb_stream_dropped_bytes_total", action),
        (4200, "phb_port_sent_packets_total", wan),
        (4_200_000, "phb_port_received_bytes_total", wan),
        (0, "phb_port_received_discarded_packets_total", wan),
        (0, "phb_port_sent_discarded_packets_total", wan),
        (1, "phb_port_up", wan),
        (32_000, "phb_port_speed_bytes_per_second", wan),
        (0, "phb_port_queued_packets", wan),
        (0, "phb_events_total", edge | {"event": "switch-away"}),
    ]
    assert [(value(text, name, **labels), name, labels) for _, name, labels in expected] == expected


def test_objectives_have_their_bounds_values_and_states_in_base_units():
    text = page_of(newest(observations(8, objectives=OBJECTIVES)))
    told = {
        name: {(each["measure"], each["percentile"], each.get("state")): number for each, number in values(text, name)}
        for name in (family.name for family in FAMILIES if "objective" in family.name)
    }
    assert told.pop("phb_objective_state_timestamp_seconds").keys() == {
        ("minimum-rate", "", None), ("delay-percentile", "99.5", None), ("mean-delay", "", None), ("loss", "", None)
    }  # fmt: skip
    state = told.pop("phb_objective_state")
    assert {key for key, number in state.items() if number} == {
        ("minimum-rate", "", "not-achieved"), ("delay-percentile", "99.5", "not-achieved"),
        ("mean-delay", "", "not-achieved"), ("loss", "", "not-achieved"),
    }  # fmt: skip
    assert len(state) == 12
    # Half of the frames wait 0.6 ms, the others 2.4 and 9.7 ms: the middles of buckets 57, 73 and 89.
    assert told.pop("phb_objective_delay_seconds") == {
        ("delay-percentile", "99.5", None): pytest.approx(0.0097275),
        ("mean-delay", "", None): pytest.approx(0.0033435),
    }
    assert told == {
        "phb_objective_rate_bound_bytes_per_second": {("minimum-rate", "", None): 125_000},
        "phb_objective_rate_bytes_per_second": {("minimum-rate", "", None): 100_000},
        "phb_objective_delay_bound_seconds": {
            ("delay-percentile", "99.5", None): 0.005,
            ("mean-delay", "", None): 0.002,
        },
        "phb_objective_loss_bound_ratio": {("loss", "", None): 0.02},
        "phb_objective_loss_ratio": {("loss", "", None): pytest.approx(4 / 104)},
    }


def test_a_switch_that_is_away_has_no_series_of_counters():
    there = list(observations(3, objectives=OBJECTIVES))
    away = page_of(newest(observe([busy(0), busy(1), None], OBJECTIVES)))
    names = {name for name, _ in samples(away)}
    assert names == {
        "phb_events_total",
        "phb_objective_delay_bound_seconds",
        "phb_objective_loss_bound_ratio",
        "phb_objective_rate_bound_bytes_per_second",
        "phb_objective_state",
        "phb_objective_state_timestamp_seconds",
        "phb_switch_counters_anew_total",
        "phb_switch_gap_seconds_total",
        "phb_switch_last_sample_timestamp_seconds",
        "phb_switch_up",
    }
    assert value(away, "phb_switch_up", switch="edge") == 0
    assert value(away, "phb_events_total", switch="edge", event="switch-away") == 1
    unknown = {each["state"] for each, number in values(away, "phb_objective_state") if number}
    assert unknown == {"unknown"}
    back = page_of(newest(observe([busy(0), None, None, busy(3)])))
    assert value(back, "phb_switch_gap_seconds_total", switch="edge") == 2
    # One of which nothing is heard is away, too, even though nobody says so.
    clock = Clock()
    silent = newest(there, switches=["edge", "core"], clock=clock)
    text = page_of(silent)
    assert [value(text, "phb_switch_up", switch=name) for name in ("edge", "core")] == [1, 0]
    assert value(text, "phb_switch_last_sample_timestamp_seconds", switch="core") is None
    clock.now_s += 31
    assert value(page_of(silent), "phb_switch_up", switch="edge") == 0


def test_counters_that_begin_anew_fall_and_are_told():
    text = page_of(newest(observe([busy(5), a_sample(6, a_class("class-1", sent=3), instance=2)])))
    assert value(text, "phb_class_sent_packets_total", switch="edge", class_="class-1") == 3
    assert value(text, "phb_switch_counters_anew_total", switch="edge") == 1
    assert value(text, "phb_events_total", switch="edge", event="counters-anew") == 1


def test_switches_that_are_watched_no_more_are_told_no_more():
    taker = newest(observations(3), switches=["edge", "core"])
    taker.follow(["core", "new"])
    for observation in observations(3):
        taker.take(observation)
    taker.take(Observation("new", 1, busy(4, switch="new")))
    text = page_of(taker)
    assert {each["switch"]: number for each, number in values(text, "phb_switch_up")} == {"core": 0, "new": 1}


def test_any_name_comes_through():
    name = 'a "b"\\n\nü{x="y"} # EOF'
    counted = a_class(name), a_policy(name, green=1), a_stream(name, green=1), a_port(name)
    taker = newest([Observation(name, 1, a_sample(0, *counted, switch=name))])
    for openmetrics in (False, True):
        tail = "# EOF\n" if openmetrics else ""
        read = samples(page_of(taker, openmetrics=openmetrics) + tail, openmetrics=openmetrics)
        assert read["phb_class_sent_packets_total", (("class", name), ("switch", name))] == 0
        assert read["phb_port_up", (("port", name), ("switch", name))] == 1


def test_both_formats_say_the_same():
    taker = newest(observations(8, objectives=OBJECTIVES), switches=["core"])
    text, openmetrics = page_of(taker), page_of(taker, openmetrics=True) + "# EOF\n"
    assert samples(text) == samples(openmetrics, openmetrics=True)


def test_every_family_is_there_and_named_by_the_rules():
    taker = with_pushes(newest(observations(8, objectives=OBJECTIVES)))
    taker.take(Observation("", 0, None, sessions=(a_session(common_clock=True),)))
    text = page_of(taker)
    told = {name for name, _ in samples(text)}
    for family in FAMILIES:
        shown = f"{family.name}_bucket" if family.kind is Kind.HISTOGRAM else family.name
        # Actions of the made-up switch have no drops.
        assert shown in told or family.name == "phb_stream_dropped_packets_by_reason_total"
        assert family.name.endswith("_total") is (family.kind is Kind.COUNTER)
        assert family.labels[0] in ("switch", "session")
        assert family.help.endswith(".")
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
