"""Each word that is asked of the treatment: the packets that it holds for, and those that it doesn't."""

from dataclasses import replace

import pytest

from phb.behaviour.behaviour import Behaviour, Meter, Route, RouteKind, Service, Step, Treatment
from phb.behaviour.marks import UNMARKED, Marks
from phb.errors import InputError
from phb.formats.yaml_format.reader import item_of
from phb.model import Conditions, MeterKind, PolicySet, Port, Rule, TrafficClass
from phb.origin import Origin
from phb.packets.space import UNTAGGED, Packet, Version, box_of, first_packet, is_in
from phb.searching.asking import ask
from phb.searching.conditions import NO, YES, TreatmentConditions, check_names
from phb.searching.packets import meant

POLICY = PolicySet(
    ports=(Port(name="lan", number=1), Port(name="wan", number=2)),
    classes=(TrafficClass(name="voice"), TrafficClass(name="bulk")),
    rules=tuple(Rule(name=name) for name in ("telnet", "calls", "files", "trusted", "aware")),
)
NAMES = {"v": "voice", "b": "bulk"}
DETECTED = tuple(
    tuple((("minimum", 1),) if tos >> 2 == 10 else None for tos in range(256)) if colour < 2 else (None,) * 256
    for colour in range(3)
)
METER = Meter(MeterKind.SINGLE_RATE, 512_000, 1500, 0, 0, True, 0, False)
EF, AF13, AF11, CS1 = 46 << 2, 14 << 2, 10 << 2, 8 << 2


def marks(tos):
    return Marks(value=tos, mask=0xFC)


def steps(**by_port):
    return tuple(
        Step(
            tuple(
                box_of(version, epochs=1, destination_port=(int(port[1:]),) * 2)
                for version in (Version.IPV4, Version.IPV6)
            ),
            (),
            does,
            name,
        )
        for port, (name, does) in by_port.items()
    )


BEHAVIOUR = Behaviour(
    input=steps(
        p23=("telnet", Treatment(blocked=True)),
        p5060=(
            "calls",
            Treatment(traffic_class="v", stream=1, meter=METER, colours=(marks(EF), marks(EF), None)),
        ),
        p20=(
            "files",
            Treatment(traffic_class="b", stream=2, connections=5, clamp=(1000, 0), colours=(marks(0),) * 3),
        ),
        p9=("aware", Treatment(stream=3, meter=replace(METER, other_burst=1, colour_aware=True, rate=2_000_000))),
    ),
    forwarding=(
        Step((box_of(Version.IPV4, epochs=1, ingress=2),), (), Route(RouteKind.WIRE, 1)),
        Step((box_of(Version.IPV4, epochs=1, ingress=2 << 1),), (), Route(RouteKind.WIRE, 2)),
        Step((box_of(Version.IPV6, epochs=1, destination=(0, 9)),), (), Route(RouteKind.DISCARD)),
        Step((box_of(Version.IPV6, epochs=1, destination=(10, 19)),), (), Route(RouteKind.OWN)),
    )[1:],
    output=steps(p80=("trusted", Treatment(traffic_class="v", colours=(UNMARKED,) * 3))),
    user_priorities={2: tuple(5 if tos == EF else None for tos in range(256))},
    services={
        2: {
            "v": Service("q1", (("level", 0),)),
            None: Service("q0", (("class shaper", 5),), early=DETECTED),
            "b": Service("q0", (("class shaper", 5),)),
        }
    },
    class_names=NAMES,
)
WHOLE = meant((), (), POLICY, 1).inside


def packet(port, tos=0, *, version=Version.IPV4, ingress=2, destination=100, tag=UNTAGGED):
    protocol = 6
    return Packet(
        (1, destination, 1000, port, 0, 1 << 16),
        (version, ingress, 0, protocol, tos, tag, 2, 0, 0),
    )


PACKETS = {
    "telnet": packet(23),
    "call": packet(5060, AF11),
    "call tagged": packet(5060, AF11, tag=1),
    "file": packet(20, AF11),
    "trusted": packet(80, CS1),
    "aware green": packet(9, CS1),
    "aware red": packet(9, AF13),
    "other": packet(7),
    "other af11": packet(7, AF11),
    "lan": packet(7, ingress=1),
    "discarded": packet(7, version=Version.IPV6, destination=5),
    "own": packet(7, version=Version.IPV6, destination=15),
    "not ip": Packet((0, 0, 0, 0, 0, 1 << 16), (Version.NONE, 2, 0, 0, 0, UNTAGGED, 256, 0, 0)),
}
TAKEN = {"telnet", "call", "call tagged", "file", "trusted", "aware green", "aware red"}
LOST = {"telnet", "lan", "discarded", "not ip"}
LEAVING = set(PACKETS) - LOST - {"own"}

MAY = {
    "permission: blocked": {"telnet"},
    "permission: allowed": set(PACKETS) - {"telnet"},
    "dropped: true": LOST | {"call", "call tagged"},
    "dropped: false": set(PACKETS) - LOST,
    "egress-port: wan": LEAVING,
    "egress-port: 1": set(),
    "route: wire": LEAVING,
    "route: discard": {"discarded"},
    "route: own": {"own"},
    "route: none": {"lan", "not ip"},
    "rule: telnet": {"telnet"},
    "rule: trusted": {"trusted"},
    "taken: true": TAKEN,
    "taken: false": set(PACKETS) - TAKEN,
    "class: voice": {"call", "call tagged", "trusted"},
    "class: class-default": set(PACKETS) - TAKEN | {"aware green", "aware red"},
    "level: 0": {"call", "call tagged", "trusted"},
    "queue-of: bulk": LEAVING - {"call", "call tagged", "trusted"},
    "dscp: EF": {"call", "call tagged"},
    "tos: {value: 184, mask: 252}": {"call", "call tagged"},
    "precedence: 5": {"call", "call tagged"},
    "pcp: 5": {"call tagged"},
    "mark: lost": {"file"},
    "mark: changed": {"file", "call", "call tagged"},
    "mark: kept": LEAVING - {"file", "call", "call tagged"},
    "colour: red": {"call", "call tagged", "aware green", "aware red"},
    "colour: yellow": {"aware green"},
    "metered: true": {"call", "call tagged", "aware green", "aware red"},
    "metered: false": set(PACKETS) - {"call", "call tagged", "aware green", "aware red"},
    "metered-at-most: 1 Mbit/s": {"call", "call tagged"},
    "metered-at-least: 1000 kbit/s": {"aware green", "aware red"},
    "shaped: true": LEAVING - {"call", "call tagged", "trusted"},
    "early-detected: true": {"other af11"},
    "connection-limited: true": {"file"},
    "clamped: true": {"file"},
    "not: {class: voice}": set(PACKETS) - {"call", "call tagged", "trusted"},
    "not: {dscp: EF}": LEAVING - {"call", "call tagged"},
    "any: [{rule: telnet}, {clamped: true}]": {"telnet", "file"},
    "all: [{class: voice}, {not: {metered: true}}]": {"trusted"},
    "{class: voice, dscp: EF}": {"call", "call tagged"},
    "{class: voice, dropped: true}": {"call", "call tagged"},
}
MUST = {
    "{class: voice}": {"call", "call tagged", "trusted"},
    "{dscp: EF}": {"call", "call tagged", "own", *LOST},  # what never leaves doesn't count
    "{dropped: false}": set(PACKETS) - LOST - {"call", "call tagged"},
    "{any: [{dropped: true}, {dscp: EF}]}": LOST | {"call", "call tagged", "own"},
}


def condition(text):
    from phb.formats.yaml_format import document

    return item_of(
        document.load(text if text.startswith("{") else f"{{{text}}}", "here"), Origin("here"), TreatmentConditions
    )


def having(asked, wanted):
    found = list(ask(BEHAVIOUR, POLICY, WHOLE, asked, wanted))
    for each in found:
        assert each.outcomes
        assert all(any(is_in(first_packet(part), box) for box in WHOLE) for part in each.boxes)
    return {name for name, one in PACKETS.items() if any(is_in(one, box) for each in found for box in each.boxes)}


@pytest.mark.parametrize("text", MAY)
def test_what_may_happen(text):
    asked = condition(text)
    check_names(asked, POLICY)
    assert having(asked, YES) == MAY[text]


@pytest.mark.parametrize("text", MUST)
def test_what_always_happens(text):
    assert set(PACKETS) - having(condition(text), NO) == MUST[text]


def test_every_word_is_tried():
    keys = {field.alias for field in TreatmentConditions.model_fields.values()}
    assert keys == {word for text in (*MAY, *MUST) for word in keys if f"{word}:" in text}


def test_outcomes_of_a_part_are_those_that_were_looked_for():
    found = list(ask(BEHAVIOUR, POLICY, meant((), (), POLICY, 1).inside, condition("dropped: true, rule: calls"), YES))
    assert {(one.policed, one.colour) for each in found for one in each.outcomes} == {(True, 2), (False, 0)}
    routed = [each for each in found if any(is_in(PACKETS["call"], box) for box in each.boxes)]
    assert [(one.policed, one.colour) for one in routed[0].outcomes] == [(True, 2)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("class: voise", "class 'voise'"),
        ("not: {rule: x}", "rule 'x'"),
        ("any: [{queue-of: y}]", "class 'y'"),
        ("egress-port: 7", "port '7'"),
    ],
)
def test_names_that_the_policy_lacks(text, found):
    with pytest.raises(InputError, match=found):
        check_names(condition(text), POLICY)


@pytest.mark.parametrize("text", ["{}", "level: 7", "metered-at-most: 5", "mark: gone", "any: []", "clas: voice"])
def test_conditions_that_are_none(text):
    with pytest.raises(InputError, match=r"^here"):
        condition(text)


def test_match_means_ip_packets_and_no_condition_every_frame():
    frames = meant((), (), POLICY, 1)
    assert not frames.outside
    packets = meant((Conditions(ingress_port="wan"),), (Conditions(protocol=17),), POLICY, 1)
    assert not any(is_in(PACKETS["not ip"], box) for box in packets.inside)
    assert any(is_in(PACKETS["other"], box) for box in packets.inside)
    assert any(is_in(PACKETS["lan"], box) for box in packets.outside)
    assert sum(box.volume for box in (*packets.inside, *packets.outside)) == sum(box.volume for box in frames.inside)
