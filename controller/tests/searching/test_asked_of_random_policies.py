"""Random policies and conditions: what is found is what each packet by itself gets, and what phb explain says of it."""

from datetime import datetime
from itertools import product

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phb.behaviour.deciding import decide
from phb.comparing.checking import Explaining
from phb.formats import yaml_format
from phb.packets.epochs import Epochs
from phb.packets.space import NO_HEADER, NO_MESSAGE, UNTAGGED, Packet, Subset, Version, is_in
from phb.searching.asking import Space, ask
from phb.searching.conditions import NO, YES, TreatmentConditions, holds
from phb.searching.outcomes import outcomes
from phb.searching.packets import meant
from phb.searching.telling import Regions, Subject, explained
from tests.examples import share

AT = datetime(2026, 11, 23, 12, 0)
RATE = {"value": 1, "unit": "Mbit/s", "basis": "ip"}
PORTS, MARKS = (0, 80), (0, 10 << 2, 14 << 2, 46 << 2)

conditions = st.fixed_dictionaries(
    {},
    optional={
        "ingress-port": st.sampled_from(["a", "b"]),
        "protocol": st.sampled_from(["tcp", "udp"]),
        "destination-ports": st.sampled_from([80, "0-79"]),
        "source": st.sampled_from(["10.0.0.0/9", "10.0.0.1"]),
        "dscp": st.sampled_from(["EF", "AF13", 0]),
        "pcp": st.sampled_from([0, 5]),
    },
)
marks = st.fixed_dictionaries({}, optional={"set-dscp": st.sampled_from(["EF", "AF11"]), "set-pcp": st.just(5)})
meters = st.fixed_dictionaries(
    {
        "kind": st.just("single-rate"),
        "committed-rate": st.just(RATE),
        "committed-burst-bytes": st.just(3000),
        "excess-burst-bytes": st.sampled_from([0, 3000]),
        "colour-aware": st.booleans(),
        "yellow": marks,
        "red": st.just({"drop": True}) | marks,
    }
)
actions = st.tuples(
    marks, st.fixed_dictionaries({}, optional={"class": st.sampled_from(["voice", "bulk"]), "meter": meters})
).map(lambda parts: {**parts[0], **parts[1]})


@st.composite
def policies(draw):
    made = draw(st.lists(actions, min_size=1, max_size=3))
    names = [f"action {number}" for number in range(len(made))]
    rules = []
    for number in range(draw(st.integers(1, 4))):
        match = draw(st.lists(conditions, min_size=1, max_size=2))
        if draw(st.integers(0, 3)) == 0:
            match = [{**each, "egress-port": "b"} for each in match]
        blocks = draw(st.integers(0, 3)) == 0
        what = {"permission": "blocked"} if blocks else {"actions": [draw(st.sampled_from(names))]}
        rules.append({"name": f"rule {number}", "match": match, **what})
    where = {"port": "b", "source-mac": "02:00:00:00:00:01", "destination-mac": "02:00:00:00:00:02"}
    text = {
        "phb": 1,
        "ports": [{"name": "a", "number": 1}, {"name": "b", "number": 2}],
        "routes": [{"destination": "10.0.0.0/8", **where}],
        "classes": [{"name": "voice"}, {"name": "bulk"}],
        "actions": [{"name": name, **each} for name, each in zip(names, made, strict=True)],
        "rules": rules,
        "behaviour-aggregates": [{"name": "expedited", "dscp": "EF", "actions": [names[0]]}],
        "queueing": [
            {
                "port": "b",
                "schedule": {
                    "kind": "classes",
                    "queues": [
                        {"class": "voice", "level": 0},
                        {
                            "class": "class-default",
                            "early-detection": {"profiles": [{"dscp": "AF11", "minimum": 1, "maximum": 2}]},
                        },
                    ],
                },
            }
        ],
    }
    return yaml_format.read(yaml.safe_dump(text), "policy.yaml")


simple = st.sampled_from(
    [
        {"permission": "blocked"},
        {"dropped": True},
        {"egress_port": "b"},
        {"rule": "rule 0"},
        {"taken": False},
        {"traffic_class": "voice"},
        {"level": 0},
        {"queue_of": "bulk"},
        {"dscp": 46},
        {"precedence": 1},
        {"pcp": 5},
        {"mark": "kept"},
        {"mark": "lost"},
        {"colour": "red"},
        {"metered": True},
        {"early_detected": True},
    ]
).map(lambda words: TreatmentConditions(**words))
asked = st.recursive(
    simple,
    lambda inner: (
        inner.map(lambda one: TreatmentConditions(negated=one))
        | st.lists(inner, min_size=2, max_size=2).map(lambda two: TreatmentConditions(any_of=tuple(two)))
        | st.lists(inner, min_size=2, max_size=2).map(lambda two: TreatmentConditions(all_of=tuple(two)))
    ),
    max_leaves=3,
)


def packets():
    """Some of each kind that rules tell apart."""
    for source, port, tos, tag, ingress, protocol in product(
        (1 << 24, (10 << 24) + 1, (10 << 24) + (200 << 16)), PORTS, MARKS, (UNTAGGED, 0, 5), (1, 2), (6, 17)
    ):
        flags = 16 if protocol == 6 else NO_HEADER
        yield Packet(
            (source, (10 << 24) + 9, 1000, port, 0, NO_MESSAGE),
            (Version.IPV4, ingress, 0, protocol, tos, tag, flags, 0, 0),
        )


PACKETS = tuple(packets())


@settings(deadline=None, max_examples=share(25), suppress_health_check=list(HealthCheck))
@given(policies(), asked, st.sampled_from([YES, NO]), conditions, st.booleans())
def test_what_is_found_is_what_each_packet_gets(artifact, policy, condition, wanted, match, several):
    subject = Subject.of(policy, Epochs.at(AT))
    within = meant((yaml_match(match),), (), policy, subject.epochs.all)
    assert is_partition(within)
    # Of several questions, this may be one.
    space = Space(subject.behaviour, [*within.outside, *subject.everything, *within.inside]) if several else None
    found = list(ask(subject.behaviour, policy, within.inside, condition, wanted, space=space))
    for packet in PACKETS:
        decided = decide(subject.behaviour, packet)
        expected = {
            (one.colours, one.policed)
            for one in outcomes(subject.behaviour, decided, is_ip=True)
            if truth_of(holds(condition, one, subject.behaviour, policy), packet) == wanted
            and (one.possible is None or truth_of(one.possible, packet))
            and any(is_in(packet, box) for box in within.inside)
        }
        hits = [each for each in found for box in each.boxes if is_in(packet, box)]
        assert len(hits) == bool(expected)
        if hits:
            assert hits[0].decided == decided
            assert {(one.colours, one.policed) for one in hits[0].outcomes} == expected
    explaining = Explaining(policy, artifact)
    told = list(Regions(subject, found).told())
    assert [explained(subject, explaining, region).wrong for region in told] == [None] * len(told)
    assert [region.share for region in told] == sorted((region.share for region in told), reverse=True)


def yaml_match(match):
    return yaml_format.read(yaml.safe_dump({"phb": 1, "rules": [{"name": "r", "match": match}]}), "f").rules[0].match[0]


def truth_of(truth, packet):
    return truth if isinstance(truth, int) else truth[packet.subsets[Subset.TOS], packet.subsets[Subset.TAG]]


def is_partition(within):
    return all(sum(is_in(packet, box) for box in (*within.inside, *within.outside)) == 1 for packet in PACKETS[::7])
