"""Ten thousand rules have a hundred series, and the sum of the others only grows."""

from made_up import a_policy, a_sample, observe
from metrics_pages import newest, page_of, value, values

from phb.model import Objectives, Rate, RateBasis, RateUnit
from phb.monitor.changes import subject
from phb.monitor.metrics.chosen import Chosen
from phb.monitor.observation import Observation, SubjectKind


def told(chosen, policies, *, preferred=(), instance=1):
    """Give the names with series of their own, the packets of the others, and how many they are."""
    given = {(each.rule, each.direction): each for each in policies}
    result = chosen.tell(given, [(name, "") for name in preferred], instance)
    others = None if result.others is None else result.others["packets", "green"]
    return [each.rule for each in result.own], others, result.number


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
    # One is gone, one is new, one's cells were cleared, the switch was started anew.
    assert told(chosen, rules(a=5, b=20)) == (["a"], 7, 1)
    assert told(chosen, rules(a=5, b=21, d=1000)) == (["a"], 7, 2)
    assert told(chosen, rules(a=5, b=22, d=3)) == (["a"], 7, 2)
    assert told(chosen, rules(a=5, b=23, d=3)) == (["a"], 8, 2)
    assert told(chosen, rules(a=0, b=2, d=1), instance=2) == (["a"], 8, 2)
    assert told(chosen, rules(a=0, b=3, d=1), instance=2) == (["a"], 9, 2)
    # The one with a place of its own is gone.
    assert told(chosen, rules(b=4, d=1), instance=2) == (["b"], 9, 1)


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
