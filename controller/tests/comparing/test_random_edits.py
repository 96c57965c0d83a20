"""Random policies and edits: what diff says holds for random packets, and saying a policy otherwise changes nothing."""

from datetime import UTC, datetime

import numpy as np
from hypothesis import given
from hypothesis import settings as of_hypothesis
from hypothesis import strategies as st

from controller.tests.comparing.pairs import PORTS, VOICE, compared
from controller.tests.decompiler.strategies import policies
from phb.behaviour.deciding import decide
from phb.behaviour.policy import behaviour_of_policy
from phb.comparing.comparison import Input, Wanted, compare
from phb.comparing.contrast import Acting, contrasts
from phb.comparing.differences import differences
from phb.comparing.outcome import effect
from phb.comparing.telling import Side
from phb.device.artifact import Artifact
from phb.formats import yaml_format
from phb.packets.boxes import ValueBox, intersection
from phb.packets.epochs import Epochs
from phb.packets.space import Packet, Subset, Version, every_packet, first_packet, is_in
from tests.examples import share

AT = datetime(2026, 11, 24, 12, tzinfo=UTC)
ACTIONS = (
    "actions: [{name: ef, set-dscp: EF}, {name: voice, class: voice}, {name: pcp, set-pcp: 3}, {name: tos, set-tos: "
    "{value: 32, mask: 224}}, {name: metered, meter: {kind: single-rate, committed-rate: {value: 1, unit: Mbit/s, "
    "basis: ethernet}, committed-burst-bytes: 3000, excess-burst-bytes: 2000, yellow: {set-dscp: AF12}}}]"
)
CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "ingress-port": st.sampled_from(["line", "lan"]),
        "protocol": st.sampled_from(["tcp", "udp", 47]),
        "source": st.sampled_from(["10.0.0.0/8", "10.0.0.0/24", "10.0.0.4-10.0.1.3", "2001:db8::/32"]),
        "dscp": st.sampled_from(["EF", "AF11", 0]),
        "pcp": st.integers(0, 7),
    },
).filter(lambda asked: asked)
OUTPUT = CONDITIONS.map(lambda asked: {**asked, "egress-port": "line"})


@st.composite
def rules(draw):
    found = []
    for output in draw(st.lists(st.booleans(), max_size=4)):
        conditions = OUTPUT if output else CONDITIONS
        does = draw(st.sampled_from(["", "ef", "voice", "pcp", "tos", "metered", "blocked"]))
        rule = {
            "match": draw(st.lists(conditions, min_size=1, max_size=2)),
            "unless": draw(st.lists(CONDITIONS, max_size=1)),
        }
        rule |= {"permission": "blocked"} if does == "blocked" else {"actions": [does] * bool(does)}
        found.append(rule)
    return found


@st.composite
def edited(draw, before):
    """The same rules with one taken out, put elsewhere, or another one beside them."""
    after = list(before)
    if after and draw(st.booleans()):
        moved = after.pop(draw(st.integers(0, len(after) - 1)))
        if draw(st.booleans()):
            after.insert(draw(st.integers(0, len(after))), moved)
    else:
        after[draw(st.integers(0, len(after))) :] = draw(rules())[:1]
    return after


def text_of(listed):
    named = [{"name": f"r{number}", **rule} for number, rule in enumerate(listed)]
    return f"{PORTS}classes: [{{name: voice}}]\n{ACTIONS}\n{VOICE}\nrules: {named}\n"


def acting(text):
    policy = yaml_format.read(f"phb: 1\n{text}", "f")
    return Acting(behaviour_of_policy(policy, Epochs.at(AT)), {1: "line", 2: "lan"})


def concerned(boxes, count):
    """Some packets at the ends of boxes."""
    chosen = np.random.default_rng(count)
    kinds = every_packet(1)
    for _ in range(count):
        box = boxes[chosen.integers(len(boxes))]
        parts = [part for kind in kinds if (part := intersection(kind, entering(box))) is not None]
        if parts:
            part = parts[chosen.integers(len(parts))]
            subsets = list(first_packet(part).subsets)
            for dimension in (Subset.INGRESS, Subset.TOS, Subset.TAG):
                bits = part.subsets[dimension]
                subsets[dimension] = int(chosen.choice([value for value in range(256) if bits >> value & 1]))
            yield Packet(tuple((int(chosen.choice(2)) and high) or low for low, high in part.intervals), tuple(subsets))


def entering(box):
    """Packets of a box of an output rule before they are forwarded, at the two ports."""
    subsets = list(box.subsets)
    subsets[Subset.INGRESS] &= 0b110
    subsets[Subset.EGRESS] = subsets[Subset.GROUP] = 1
    return ValueBox(box.intervals, tuple(subsets))


@of_hypothesis(max_examples=share(30))
@given(st.data())
def test_packets_differ_in_regions_and_nowhere_else(data):
    before = data.draw(rules())
    sides = acting(text_of(before)), acting(text_of(data.draw(edited(before))))
    found = differences(*sides, 1)
    boxes = [box for region in found.regions for box in region.boxes]
    steps = [box for side in sides for step in (*side.behaviour.input, *side.behaviour.output) for box in step.boxes]
    for packet in concerned([*boxes, *steps], 60) if boxes or steps else ():
        effects = [effect(side.behaviour, decide(side.behaviour, packet)) for side in sides]
        told = {
            each.what
            for each in contrasts(*sides, *effects, ip=packet.subsets[Subset.VERSION] != Version.NONE)
            if each.where is None or each.where[packet.subsets[Subset.TOS], packet.subsets[Subset.TAG]]
        }
        listed = [region for region in found.regions if any(is_in(packet, box) for box in region.boxes)]
        words = {each.what for region in listed for each in region.differences if not each.what.startswith("shared ")}
        assert words == told, packet


@of_hypothesis(max_examples=share(20))
@given(rules())
def test_rules_in_halves_are_alike(listed):
    # A rule as two, each with a part of what it matched: all but meters, which two rules of one action share anyway.
    halves = [rule | {"match": [each]} for rule in listed for each in rule["match"]]
    assert compared(text_of(listed), text_of(halves)).alike


@of_hypothesis(max_examples=share(20))
@given(st.data())
def test_every_example_shows_its_region(data):
    before = data.draw(rules())
    # `compared` asks of each region that its example shows it.
    compared(text_of(before), text_of(data.draw(edited(before))))


@of_hypothesis(max_examples=share(4))
@given(policies(), policies())
def test_any_two_policies(one, other):
    inputs = [Input(policy, Side(name)) for policy, name in ((one, "A"), (other, "B"))]
    told = compare(*inputs, Artifact.load(), Wanted(AT))
    assert all(region.failed is None and region.example is not None for region in told.regions)
    assert compare(inputs[0], inputs[0], Artifact.load(), Wanted(AT)).alike
