"""Rules with exceptions as rules without, packet by packet."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from phb.formats import convert
from phb.formats.policy_agent import read
from phb.formats.policy_agent.exceptions import LARGEST, without_exceptions
from phb.model import Action, Conditions, Day, Direction, PolicySet, Rule, Validity
from phb.values import PortRange, TypeOfService

WAYS = (Direction.INCOMING, Direction.OUTGOING, Direction.BOTH)
PACKETS = list(
    product((6, 17), (1, 2, 3), (1, 2, 3), (Direction.INCOMING, Direction.OUTGOING), (Day.SUNDAY, Day.MONDAY))
)

ports = st.none() | st.tuples(st.integers(1, 3), st.integers(1, 3)).map(lambda pair: PortRange(min(pair), max(pair)))
conditions = st.builds(
    Conditions, protocol=st.sampled_from([None, None, 6, 17]), source_ports=ports, destination_ports=ports
)
rules = st.lists(
    st.builds(
        lambda match, unless, direction, days, action: {
            "match": tuple(match),
            "unless": tuple(unless),
            "direction": direction,
            "valid": Validity(days=days),
            "actions": (action,),
        },
        st.lists(conditions, min_size=1, max_size=2),
        st.lists(conditions, max_size=2),
        st.sampled_from(WAYS),
        st.sampled_from([tuple(Day), tuple(Day), (Day.SUNDAY,)]),
        st.sampled_from(["a", "b", "c"]),
    ),
    max_size=4,
).map(lambda many: [Rule(name=f"r{place}", **each) for place, each in enumerate(many)])


def meets(packet, asked):
    protocol, source, destination, _, _ = packet
    return (
        asked.protocol in (None, protocol)
        and (asked.source_ports is None or asked.source_ports.first <= source <= asked.source_ports.last)
        and (
            asked.destination_ports is None
            or asked.destination_ports.first <= destination <= asked.destination_ports.last
        )
    )


def outcome(packet, rules):
    """The actions that a packet gets, ports seen from the host's side."""
    for rule in rules:
        counts = rule.direction in (packet[3], Direction.BOTH) and packet[4] in rule.valid.days
        excepted = any(meets(packet, each) for each in rule.unless)
        if counts and not excepted and any(meets(packet, each) for each in rule.match):
            return rule.actions
    return ()


@given(rules)
def test_every_packet_gets_what_it_got(rules):
    made = [rule for rule, _ in without_exceptions(rules)]
    assert not any(rule.unless for rule in made)
    assert [outcome(packet, made) for packet in PACKETS] == [outcome(packet, rules) for packet in PACKETS]


@given(rules)
def test_every_packet_gets_what_it_got_when_it_is_read_back(rules):
    actions = tuple(Action(name=name, set_tos=TypeOfService(place)) for place, name in enumerate("abc"))
    converted = convert(PolicySet(actions=actions, rules=tuple(rules)), "policy-agent")
    assert not any(loss.packets for loss in converted.losses)
    again = read(converted.text, "f").rules
    assert [outcome(packet, again) for packet in PACKETS] == [outcome(packet, rules) for packet in PACKETS]


def test_rules_beyond_the_limit_are_not_written():
    # Each excepts a part of what all behind it take, on Sundays: none of them ends the search.
    rules = tuple(
        Rule(
            name=f"r{place}",
            direction=Direction.BOTH,
            unless=(Conditions(source_ports=PortRange(place, 100)),),
            valid=Validity(days=(Day.SUNDAY,)),
        )
        for place in range(1, 13)
    )
    assert without_exceptions(rules) is None
    assert len(without_exceptions(rules[:5])) < LARGEST
    lost = [loss for loss in convert(PolicySet(rules=rules), "policy-agent").losses if "unless" in loss.what]
    assert [loss.packets for loss in lost[:1]] == [("rule 'r1': all packets",)]


def test_a_rule_keeps_its_name():
    web, hole = Conditions(protocol=6), Conditions(destination_ports=PortRange(80, 80))
    rules = (
        Rule(name="web", direction=Direction.BOTH, match=(web,), unless=(hole,), actions=("a",)),
        Rule(name="rest", direction=Direction.OUTGOING, match=(web,), actions=("b",)),
    )
    actions = tuple(Action(name=name, set_tos=TypeOfService(1)) for name in "ab")
    again = read(convert(PolicySet(actions=actions, rules=rules), "policy-agent").text, "f")
    assert [(rule.name, rule.actions) for rule in again.rules] == [
        ("rest-2", ("b",)),
        ("web-2", ()),
        ("web", ("a",)),
        ("rest", ("b",)),
    ]
