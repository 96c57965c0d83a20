"""Shadowing is exactly what asking every packet says: against brute force over a small world of packets and times."""

from datetime import datetime, time, timedelta
from ipaddress import IPv4Address, IPv6Address
from itertools import product
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phb.lint.finding import Context
from phb.lint.shadowed import shadowed
from phb.model import Conditions, Day, PolicySet, Port, Rule, Validity
from phb.values import AddressRange, PortRange, PriorityCodePoint, TimeRange, TypeOfService
from tests.examples import share

AT = datetime(2026, 3, 2, 12, 0)
PORTS = (Port(number=1, name="one"), Port(number=2, name="two"))

# Every value that a drawn rule's borders can tell apart, and one on each side of them.
ADDRESSES = {
    4: [IPv4Address(number) for number in (0, 1, 2, 3, 4, 2**32 - 1)],
    6: [IPv6Address(number) for number in (0, 1, 2, 3, 4, 2**128 - 1)],
}
NUMBERS = (0, 1, 2, 3, 65535)
PROTOCOLS = (6, 17, 89)
ANOTHER_PROTOCOL = 1
OCTETS = (0, 4, 0xB8, 0xFF)
PRIORITIES = (None, 0, 4, 5)
INGRESS = ("one", "two", "another")
MONDAY = datetime(2026, 3, 2)
MOMENTS = [
    MONDAY + timedelta(days=day, seconds=second)
    for day in (0, 1, 2, 14, 15, 16)  # in and after the window of dates, which has whole weeks
    for second in (0, 8 * 3600 - 1, 8 * 3600, 12 * 3600 - 1, 12 * 3600, 12 * 3600 + 1, 20 * 3600)
]


def address_ranges(version):
    kind = IPv4Address if version == 4 else IPv6Address
    return st.tuples(st.integers(0, 3), st.integers(0, 3)).map(
        lambda ends: AddressRange(kind(min(ends)), kind(max(ends)))
    )


port_ranges = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda ends: PortRange(min(ends), max(ends)))


def rarely(strategy):
    return st.one_of(st.none(), strategy)


# A few of the fields at a time: the world of packets is their product.
FIELDS = ("ingress_port", "source", "destination", "protocol", "source_ports", "destination_ports", "tos", "pcp")


@st.composite
def conditions(draw, fields):
    version = draw(st.sampled_from([4, 4, 6]))
    values = {
        "ingress_port": draw(rarely(st.sampled_from(["one", 2]))),
        "source": draw(rarely(address_ranges(version))),
        "destination": draw(rarely(address_ranges(version))),
        "protocol": draw(rarely(st.sampled_from(PROTOCOLS))),
        "source_ports": draw(rarely(port_ranges)),
        "destination_ports": draw(rarely(port_ranges)),
        "tos": draw(rarely(st.sampled_from([TypeOfService(0xB8), TypeOfService(0x80, 0x80), TypeOfService(0, 0xFC)]))),
        "pcp": draw(rarely(st.sampled_from([PriorityCodePoint(5), PriorityCodePoint(0, 4)]))),
    }
    return Conditions(**{field: values[field] for field in fields})


windows = st.one_of(
    st.just(Validity()),
    st.just(Validity()),
    st.builds(
        Validity,
        days=st.sampled_from([(Day.MONDAY,), (Day.TUESDAY,), tuple(Day)]),
        time=rarely(
            st.sampled_from(
                [
                    TimeRange(time(8), time(12)),
                    TimeRange(time(12), time(8)),
                    TimeRange(time(0), time(12)),
                    TimeRange(time(12), time(0)),
                ]
            )
        ),
        between=rarely(st.just((MONDAY, MONDAY + timedelta(days=14)))),
    ),
)


@st.composite
def rules(draw):
    count = draw(st.integers(2, 6))
    fields = draw(st.lists(st.sampled_from(FIELDS), min_size=1, max_size=4, unique=True))
    return tuple(
        Rule(
            name=f"r{number}",
            match=tuple(draw(st.lists(conditions(fields), min_size=1, max_size=2))),
            unless=tuple(draw(rarely(st.lists(conditions(fields), min_size=1, max_size=1))) or ()),
            valid=draw(windows),
        )
        for number in range(count)
    )


def meets(asked, packet):
    """From the model's own words, field by field."""
    version, ingress, source, destination, protocol, source_port, destination_port, octet, priority = packet
    port = next((port for port in PORTS if asked.ingress_port in (port.name, port.number)), None)
    tos = asked.tos
    return (
        (asked.version in (None, version))
        and (asked.ingress_port is None or port.name == ingress)
        and (asked.source is None or asked.source.first <= source <= asked.source.last)
        and (asked.destination is None or asked.destination.first <= destination <= asked.destination.last)
        and asked.protocol in (None, protocol)
        and (asked.source_ports is None or asked.source_ports.first <= source_port <= asked.source_ports.last)
        and (
            asked.destination_ports is None
            or asked.destination_ports.first <= destination_port <= asked.destination_ports.last
        )
        and (tos is None or octet & tos.mask == tos.value)
        and (asked.pcp is None or (priority is not None and priority & asked.pcp.mask == asked.pcp.value))
    )


def asked_values(drawn):
    """The world, less the values of dimensions that no rule asks about: one of those stands for all."""
    alternatives = [one for rule in drawn for one in (*rule.match, *rule.unless)]

    def values(field, world):
        return world if any(getattr(one, field) is not None for one in alternatives) else world[:1]

    for version in (4, 6):
        yield from product(
            [version],
            values("ingress_port", INGRESS),
            values("source", ADDRESSES[version]),
            values("destination", ADDRESSES[version]),
            values("protocol", (*PROTOCOLS, ANOTHER_PROTOCOL)),
            values("source_ports", NUMBERS),
            values("destination_ports", NUMBERS),
            values("tos", OCTETS),
            values("pcp", PRIORITIES),
        )


def asked_by_brute_force(drawn):
    """Rules that some packet meets at some time, and those of them that it meets first."""
    met, first = set(), set()
    moments = MOMENTS if any(rule.valid != Validity() for rule in drawn) else MOMENTS[:1]
    counting = {tuple(rule.valid.contains(moment) for rule in drawn) for moment in moments}
    for packet in asked_values(drawn):
        takes = [
            any(meets(one, packet) for one in rule.match) and not any(meets(one, packet) for one in rule.unless)
            for rule in drawn
        ]
        for valid in counting:
            taking = [
                rule.name for rule, counts, takes_it in zip(drawn, valid, takes, strict=True) if counts and takes_it
            ]
            met.update(taking)
            first.update(taking[:1])
    return met, first


@given(rules())
@settings(max_examples=share(100), deadline=None)
def test_shadowed_rules_are_those_that_no_packet_reaches_first(drawn):
    policy = PolicySet(ports=PORTS, rules=drawn)
    found = {region.name: [cover.name for cover in covers] for region, covers in shadowed(Context(policy, AT))}
    met, first = asked_by_brute_force(drawn)
    # A window that no moment falls into is empty, and so within any other: that is another finding.
    assert set(found) & met == met - first
    for name, covers in found.items():
        assert all(int(cover[1:]) < int(name[1:]) for cover in covers)


def policy_of(count, **last):
    """Rules for /32 pairs, and one more."""
    rule = [
        Rule(
            name=f"r{number}",
            match=(
                Conditions(
                    protocol=6,
                    source=AddressRange.parse(f"10.{number >> 8 & 255}.{number & 255}.0/24"),
                    destination_ports=PortRange(number % 1000, number % 1000 + 50),
                ),
            ),
        )
        for number in range(count)
    ]
    return PolicySet(rules=(*rule, Rule(name="last", match=(Conditions(**last),))))


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ({}, []),
        ({"protocol": 6, "source": AddressRange.parse("10.3.7.9"), "destination_ports": PortRange(790, 800)}, ["r775"]),
        ({"protocol": 17, "source": AddressRange.parse("10.3.7.9"), "destination_ports": PortRange(790, 800)}, []),
    ],
)
def test_one_rule_is_found_among_many(last, expected):
    found = list(shadowed(Context(policy_of(3000, **last), AT)))
    assert [cover.name for region, covers in found if region.name == "last" for cover in covers] == expected


def test_host_rules_are_compared_by_the_ports_they_mean():
    """Incoming traffic enters at the interface that the host is connected to, whatever the rule calls it."""
    from phb.formats import yaml_format

    text = (
        "phb: 1\nports: [{number: 1, name: stack, role: host}, {number: 2, name: uplink}]\n"
        "cross-connects: [{between: [stack, uplink]}]\n"
        "rules:\n  - {name: a, direction: both, match: {protocol: tcp, source-ports: 23}}\n"
        "  - {name: b, match: {ingress-port: uplink, protocol: tcp, destination-ports: 23}}\n"
        "  - {name: c, match: {ingress-port: uplink, protocol: tcp, source-ports: 23}}\n"
    )
    found = list(shadowed(Context(yaml_format.read(text, "f"), AT)))
    assert [(region.name, [cover.name for cover in covers]) for region, covers in found] == [("b", ["a"])]


def diagonal(count):
    """Rules for single cells along the diagonal of a square: what is left of it falls into ever more pieces."""
    pairs = [PortRange(number * 2, number * 2) for number in range(count)]
    return [
        Rule(name=f"r{number}", match=(Conditions(source_ports=pair, destination_ports=pair),))
        for number, pair in enumerate(pairs)
    ]


HALVES = [
    Rule(name="low", match=(Conditions(source_ports=PortRange(0, 999)),)),
    Rule(name="high", match=(Conditions(source_ports=PortRange(1000, 65535)),)),
]


@pytest.mark.parametrize(
    ("earlier", "expected"),
    [([*diagonal(1000), *HALVES], ["low", "high"]), (diagonal(1000), None), (HALVES, ["low", "high"])],
)
def test_however_many_pieces_it_takes(earlier, expected):
    found = list(shadowed(Context(PolicySet(rules=(*earlier, Rule(name="everything"))), AT)))
    assert [(region.name, [cover.name for cover in covers]) for region, covers in found] == (
        [] if expected is None else [("everything", expected)]
    )


def test_many_rules_that_take_all_together():
    """A prefix, by all its longer ones, some of them with an exception that an earlier rule takes."""
    networks = [AddressRange.parse(f"10.0.{number}.0/24") for number in range(256)]
    telnet = Rule(name="telnet", match=(Conditions(protocol=6, destination_ports=PortRange(23, 23)),))
    parts = [
        Rule(
            name=f"r{number}",
            match=(Conditions(source=network),),
            unless=(Conditions(protocol=6, destination_ports=PortRange(23, 23)),) if number % 2 else (),
        )
        for number, network in enumerate(networks)
    ]
    whole = Rule(name="whole", match=(Conditions(source=AddressRange.parse("10.0.0.0/16")),))
    (found,) = shadowed(Context(PolicySet(rules=(telnet, *parts, whole)), AT))
    assert (found[0].name, len(found[1])) == ("whole", 257)
    assert not list(shadowed(Context(PolicySet(rules=(*parts, whole)), AT)))


@pytest.mark.parametrize(
    ("first", "second", "covered"),
    [
        ({"egress_port": "one"}, {"egress_port": "one", "ingress_port": "two"}, True),
        ({"egress_port": "one", "ingress_port": "two"}, {"egress_port": "one"}, False),
        ({}, {"egress_port": "one"}, False),
        ({"ingress_port": "one"}, {"egress_port": "one"}, False),
        ({"egress_port": "one"}, {"egress_port": 1}, True),
    ],
)
def test_output_rules_are_their_own(first, second, covered):
    rules = tuple(
        Rule(name=name, match=(Conditions(**asked),)) for name, asked in (("first", first), ("second", second))
    )
    found = list(shadowed(Context(PolicySet(ports=PORTS, rules=rules), AT)))
    assert [region.name for region, _ in found] == (["second"] if covered else [])


BERLIN, TOKYO = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo")
NOON = TimeRange(time(12), time(13))


@pytest.mark.parametrize(
    ("first", "second", "covered"),
    [
        # A window of dates without a Sunday, and one that is over at AT.
        (Validity(days=("monday",)), Validity(between=(MONDAY, MONDAY + timedelta(days=1))), True),
        (Validity(days=("sunday",)), Validity(between=(MONDAY, MONDAY + timedelta(days=1))), False),
        (Validity(between=(MONDAY - timedelta(days=9), MONDAY)), Validity(), False),
        # Noon in Berlin is 20:00 or 19:00 in Tokyo.
        (Validity(time=TimeRange(time(19), time(21)), time_zone=TOKYO), Validity(time=NOON, time_zone=BERLIN), True),
        (Validity(time=TimeRange(time(20), time(21)), time_zone=TOKYO), Validity(time=NOON, time_zone=BERLIN), False),
    ],
)
def test_times_are_compared_as_clocks_and_calendars_show_them(first, second, covered):
    rules = tuple(Rule(name=name, valid=valid) for name, valid in (("first", first), ("second", second)))
    found = list(shadowed(Context(PolicySet(time_zone=BERLIN, rules=rules), AT.replace(tzinfo=BERLIN))))
    assert [region.name for region, _ in found] == (["second"] if covered else [])
