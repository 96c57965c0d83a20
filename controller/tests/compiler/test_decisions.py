"""Compiled classification agrees with rules asked one after the other, by what rules say and nothing else."""

from datetime import datetime
from ipaddress import IPv4Address, IPv6Address

from hypothesis import given, settings
from hypothesis import strategies as st

from phb.compiler import compile_policy
from phb.intent import Exact, Hook, Prefix, Range, Ternary
from phb.model import BehaviourAggregate, Conditions, PolicySet, Port, Rule
from phb.values import AddressRange, PortRange, PriorityCodePoint, TypeOfService
from tests.examples import share

AT = datetime(2000, 1, 3, 12, 0)
PORTS = tuple(Port(name=f"p{number}", number=number) for number in (1, 2, 3))
BASE = {4: int(IPv4Address("10.0.0.0")), 6: int(IPv6Address("2001:db8::"))}
KIND = {4: IPv4Address, 6: IPv6Address}


def ranges(last):
    return st.tuples(st.integers(0, last), st.integers(0, last)).map(sorted)


@st.composite
def conditions(draw, *, egress):
    """A few values per field, so that rules overlap."""
    version = draw(st.sampled_from([4, 6]))

    def address():
        low, high = draw(ranges(7))
        return AddressRange(KIND[version](BASE[version] + low), KIND[version](BASE[version] + high))

    said = {}
    for name in ("source", "destination"):
        if draw(st.booleans()):
            said[name] = address()
    for name in ("source_ports", "destination_ports"):
        if draw(st.integers(0, 3)) == 0:
            said[name] = PortRange(*draw(ranges(3)))
    if draw(st.integers(0, 3)) == 0:
        said["protocol"] = draw(st.sampled_from([6, 17]))
    if draw(st.integers(0, 3)) == 0:
        mask = draw(st.integers(0, 3))
        said["tos"] = TypeOfService(draw(st.integers(0, 3)) & mask, mask)
    if draw(st.integers(0, 4)) == 0:
        mask = draw(st.integers(0, 3))
        said["pcp"] = PriorityCodePoint(draw(st.integers(0, 3)) & mask, mask)
    if draw(st.integers(0, 3)) == 0:
        said["ingress_port"] = draw(st.integers(1, 2))
    if egress:
        said["egress_port"] = draw(st.integers(1, 3))
    return Conditions(**said)


@st.composite
def rules(draw):
    egress = draw(st.integers(0, 3)) == 0
    match = draw(st.lists(conditions(egress=egress), min_size=1, max_size=3))
    unless = draw(st.lists(conditions(egress=egress), max_size=2))
    return {"match": tuple(match), "unless": tuple(unless)}


@st.composite
def aggregates(draw):
    said = {}
    if draw(st.booleans()):
        said["tos"] = TypeOfService(draw(st.integers(0, 3)), 3)
    if draw(st.integers(0, 2)) == 0:
        said["pcp"] = PriorityCodePoint(draw(st.integers(0, 3)), 3)
    if draw(st.integers(0, 2)) == 0:
        said[draw(st.sampled_from(["ingress_port", "egress_port"]))] = draw(st.integers(1, 2))
    return said


packets = st.fixed_dictionaries(
    {
        "version": st.sampled_from([4, 6]),
        "ingress_port": st.integers(1, 2),
        "egress_port": st.integers(1, 3),
        "source": st.integers(0, 7),
        "destination": st.integers(0, 7),
        "protocol": st.sampled_from([6, 17]),
        "source_port": st.integers(0, 3),
        "destination_port": st.integers(0, 3),
        "tos": st.integers(0, 3),
        "tagged": st.integers(0, 1),
        "pcp": st.integers(0, 3),
    }
).map(lambda packet: packet | {"pcp": packet["pcp"] * packet["tagged"]})


# -- what rules say ---------------------------------------------------------


def meets(packet, said):
    base = BASE[packet["version"]]
    tos, pcp = said.tos_bits, said.pcp
    return (
        said.ingress_port in (None, packet["ingress_port"])
        and said.egress_port in (None, packet["egress_port"])
        and (tos is None or packet["tos"] & tos.mask == tos.value)
        and (pcp is None or (packet["tagged"] and packet["pcp"] & pcp.mask == pcp.value))
        and (
            isinstance(said, BehaviourAggregate)
            or (
                said.version in (None, packet["version"])
                and said.protocol in (None, packet["protocol"])
                and all(
                    addresses is None or int(addresses.first) <= base + packet[name] <= int(addresses.last)
                    for name, addresses in (("source", said.source), ("destination", said.destination))
                )
                and all(
                    ports is None or ports.first <= packet[name] <= ports.last
                    for name, ports in (
                        ("source_port", said.source_ports),
                        ("destination_port", said.destination_ports),
                    )
                )
            )
        )
    )


def takes(packet, rule):
    return any(meets(packet, each) for each in rule.match) and not any(meets(packet, each) for each in rule.unless)


def said_by_rules(policy, packet, hook):
    for rule in policy.rules:
        egress = rule.match[0].egress_port is not None
        if egress == (hook is Hook.OUTPUT) and takes(packet, rule):
            return rule.name
    for aggregate in policy.behaviour_aggregates:
        egress = aggregate.egress_port is not None
        if egress == (hook is Hook.OUTPUT) and meets(packet, aggregate):
            return aggregate.name
    return None


# -- what tables say --------------------------------------------------------


def fits(value, number):
    match value:
        case Exact(wanted):
            return number == wanted
        case Range(low, high):
            return low <= number <= high
        case Ternary(wanted, mask):
            return number & mask == wanted
        case Prefix():
            raise AssertionError("no classification table has prefixes")


def said_by_tables(intent, packet, hook):
    stage = {Hook.INPUT: "classify", Hook.OUTPUT: "output"}[hook]
    base = BASE[packet["version"]]
    fields = packet | {name: base + packet[name] for name in ("source", "destination")}
    names = {policy.number: policy.rule for policy in intent.policies}
    for table in (f"multi_field_ipv{packet['version']}", "behaviour_aggregate"):
        entries = [entry for entry in intent.entries if entry.table == f"PhbIngress.{stage}.{table}"]
        found = [entry for entry in entries if all(fits(value, fields[name]) for name, value in entry.match.items())]
        if found:
            best = max(entry.priority for entry in found)
            said = {entry.parameters.get("policy") for entry in found if entry.priority == best}
            assert len(said) == 1, "entries of one priority that disagree"
            number = said.pop()
            if number is not None:
                return names[number]
    return None


@given(st.lists(rules(), max_size=5), st.lists(aggregates(), max_size=2), st.lists(packets, min_size=20, max_size=40))
@settings(max_examples=share(300), deadline=None)
def test_tables_say_what_the_rules_say(artifact, drawn, drawn_aggregates, asked):
    policy = PolicySet(
        ports=PORTS,
        rules=tuple(Rule(name=f"r{number}", **said) for number, said in enumerate(drawn)),
        behaviour_aggregates=tuple(
            BehaviourAggregate(name=f"a{number}", **said) for number, said in enumerate(drawn_aggregates)
        ),
    )
    intent = compile_policy(policy, artifact, at=AT)
    for entry in intent.entries:
        artifact.encode(entry)
    for packet in asked:
        for hook in Hook:
            assert said_by_tables(intent, packet, hook) == said_by_rules(policy, packet, hook)


def test_exceptions_cost_entries_only_where_rules_overlap(artifact):
    """One rule in ten excepts a host; rules are for networks of their own."""
    rules = []
    for number in range(1000):
        network = f"10.{number // 250}.{number % 250}.0/24"
        unless = (Conditions(source=network.replace(".0/24", ".7")),) if number % 10 == 0 else ()
        rules.append(Rule(name=f"r{number}", match=(Conditions(source=network),), unless=unless))
    intent = compile_policy(PolicySet(rules=tuple(rules)), artifact, at=AT)
    assert len(intent.entries) == 1100
    assert len({entry.priority for entry in intent.entries}) == 1100


def test_a_rule_has_one_priority_in_both_tables(artifact):
    rules = (
        Rule(name="a", match=(Conditions(source="10.0.0.1"),)),
        Rule(name="b", match=(Conditions(source="2001:db8::1"),)),
        Rule(name="c"),
    )
    intent = compile_policy(PolicySet(rules=rules), artifact, at=AT)
    last = [entry.priority for entry in intent.entries if entry.parameters["policy"] == 3]
    assert len(last) == 2
    assert len(set(last)) == 1
    assert last[0] < min(entry.priority for entry in intent.entries if entry.parameters["policy"] != 3)
