"""Ten thousand rules have a hundred series, and the sum of the others only grows."""

from made_up import a_policy, a_sample, observe
from metrics_pages import newest, page_of, value, values

from phb.model import Objectives, Rate, RateBasis, RateUnit
from phb.monitor.changes import subject
from phb.monitor.metrics.chosen import Chosen
from phb.monitor.observation import Observation, SubjectKind


def told(chosen, policies, *, preferred=()):
    """Give the names with series of their own, the packets of the others, and how many they are."""
    given = {(each.rule, each.direction): each for each in policies}
    result = chosen.tell(given, [(name, "") for name in preferred])
    others = None if result.others is None else result.others["packets", "green"]
    return [each.rule for each in result.own], others, result.number


NAMES = (("a", 1), ("b", 2), ("c", 3))


def rules(**packets):
    return [a_policy(name, number, green=count) for number, (name, count) in enumerate(packets.items(), 1)]


def test_those_with_objectives_come_first_then_those_with_traffic():
    chosen = Chosen(2)
    assert told(chosen, rules(a=0, b=0, c=0)) == ([], 0, 3)
    assert told(chosen, rules(a=0, b=0, c=7)) == (["c"], 0, 2)
    assert told(chosen, rules(a=9, b=0, c=7)) == (["c", "a"], 0, 1)
    # Places are kept, whatever comes.
    assert told(chosen, rules(a=9, b=99, c=7)) == (["c", "a"], 99, 1)
    assert told(chosen, rules(a=9, b=99, c=7), preferred=["b"]) == (["b", "c"], 99, 1)
    assert told(chosen, rules(a=19, b=99, c=7), preferred=["b"]) == (["b", "c"], 109, 1)
    # Of more objectives than places the first ones.
    assert told(Chosen(2), rules(a=1, b=1, c=1), preferred=["c", "b", "a"]) == (["c", "b"], 0, 1)


def test_the_sum_of_the_others_never_falls():
    chosen = Chosen(1)
    assert told(chosen, rules(a=5, b=10, c=10)) == (["a"], 0, 2)
    assert told(chosen, rules(a=5, b=15, c=12)) == (["a"], 7, 2)
    # One is gone, one is new.
    assert told(chosen, rules(a=5, b=20)) == (["a"], 12, 1)
    assert told(chosen, rules(a=5, b=21, d=1000)) == (["a"], 13, 2)
    # One's cells were cleared, then all counters began anew.
    assert told(chosen, rules(a=5, b=22, d=3)) == (["a"], 14, 2)
    assert told(chosen, rules(a=5, b=23, d=5)) == (["a"], 17, 2)
    assert told(chosen, rules(a=0, b=2, d=1)) == (["a"], 17, 2)
    assert told(chosen, rules(a=0, b=3, d=1)) == (["a"], 18, 2)
    # The one with a place of its own is gone.
    assert told(chosen, rules(b=4, d=1)) == (["b"], 18, 1)


def test_the_sum_has_bytes_colours_and_drops_too():
    def policies(second: int):
        drops = {"WRED": 2 * second} if second else {}
        return [a_policy(name, number, green=3 * second, red=second, size=100, drops=drops) for name, number in NAMES]

    taker = newest(observe([a_sample(1, *policies(1))]), policies=1)
    page_of(taker)
    taker.take(Observation("edge", 2, a_sample(2, *policies(5))))
    text = page_of(taker)
    others = {"switch": "edge", "policy": "(others)", "direction": ""}
    for expected, name, more in (
        (24, "phb_policy_packets_total", {"colour": "green"}),
        (800, "phb_policy_bytes_total", {"colour": "red"}),
        (0, "phb_policy_packets_total", {"colour": "yellow"}),
        (16, "phb_policy_dropped_packets_total", {}),
        (1600, "phb_policy_dropped_bytes_total", {}),
        (16, "phb_policy_dropped_packets_by_reason_total", {"reason": "wred"}),
    ):
        assert value(text, name, **others, **more) == expected, name


def test_a_place_is_kept_while_the_switch_is_away():
    policies = rules(a=0, b=5, c=5)
    taker = newest(observe([a_sample(0, *policies)]), policies=1)
    assert {each["policy"] for each, _ in values(page_of(taker), "phb_policy_packets_total")} == {"b", "(others)"}
    taker.take(Observation("edge", 1, None))
    assert list(values(page_of(taker), "phb_policy_packets_total")) == []
    taker.take(Observation("edge", 2, a_sample(2, *rules(a=5, b=5, c=5))))
    assert {each["policy"] for each, _ in values(page_of(taker), "phb_policy_packets_total")} == {"b", "(others)"}


def test_ten_thousand_rules_have_few_series():
    policies = [a_policy(f"rule-{number}", number, green=number) for number in range(1, 10_001)]
    wanted = {
        subject(SubjectKind.POLICY, "rule-9999"): Objectives(
            minimum_rate=Rate(value=1, unit=RateUnit.KBIT, basis=RateBasis.ETHERNET)
        )
    }
    text = page_of(newest(observe([a_sample(0, *policies)], wanted)))
    assert len(text.splitlines()) < 2000
    assert value(text, "phb_policies_others", switch="edge") == 9_900
    shown = [each["policy"] for each, _ in values(text, "phb_policy_dropped_packets_total")]
    assert (shown[0], shown[1], shown[-2], shown[-1]) == ("rule-9999", "rule-1", "rule-99", "(others)")
