"""Entries read back are a policy that compiles to the same entries, with any names and numbers."""

from datetime import datetime

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from controller.tests.decompiler.strategies import policies
from phb.compiler import compile_policy
from phb.decompiler import decompile
from phb.decompiler.rows import STAGE
from phb.device.artifact import Artifact
from phb.device.references import References
from phb.intent import Exact, Hook, Range, Ternary
from phb.names import Names
from phb.pushing.renumbering import renumber


def possible(packet):
    """Without a tag there is nothing of it; TCP has flags, ICMP a type, UDP neither."""
    tagged, protocol = packet["tagged"], packet["protocol"]
    flags_or_type = {6: packet["tcp_flags"], 17: 0}.get(protocol, packet["icmp_type"])
    return packet | {
        "pcp": packet["pcp"] * tagged,
        "vlan": packet["vlan"] * tagged,
        "flags_or_type": flags_or_type,
    }


FIRST = {4: 0x0A000000, 6: 0x20010DB8 << 96}
AT = datetime(2026, 3, 2, 12, 0)
ARTIFACT = Artifact.load()
packets = st.builds(
    lambda version, source, destination, **fields: {
        "version": version,
        "source": FIRST[version] + source,
        "destination": FIRST[version] + destination,
        **fields,
    },
    version=st.sampled_from([4, 6]),
    source=st.integers(0, 13),
    destination=st.integers(0, 13),
    ingress_port=st.sampled_from([1, 2, 3]),
    egress_port=st.sampled_from([1, 2, 3]),
    protocol=st.sampled_from([1, 6, 17, 58]),
    source_port=st.sampled_from([79, 80, 1023, 2000]),
    destination_port=st.sampled_from([79, 80, 1023, 2000]),
    tos=st.integers(0, 255),
    tagged=st.integers(0, 1),
    pcp=st.integers(0, 7),
    vlan=st.sampled_from([0, 5, 6]),
    qos_group=st.integers(0, 3),
    tcp_flags=st.sampled_from([0, 0x10002, 0x10010, 0x10012, 0x10004]),
    icmp_type=st.sampled_from([0, 0x10800, 0x10304, 0x10301, 0x10000]),
).map(possible)
# Shrinking a whole policy takes minutes, and what fails can be read as YAML.
COMMON = {
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}


def compiled(policy):
    return compile_policy(policy, ARTIFACT, at=AT)


def read_back(intent, policy):
    return decompile(intent.entries, Names.of(intent, policy), intent.shapers)


def met(intent, hook, packet):
    """The rule, and its direction, that takes a packet in a table with priorities."""
    names = {policy.number: (policy.rule, policy.direction) for policy in intent.policies}
    table = f"PhbIngress.{STAGE[hook]}.multi_field_ipv{packet['version']}"
    entries = [entry for entry in intent.entries if entry.table == table]
    for entry in sorted(entries, key=lambda entry: -entry.priority):
        if all(asks(value, packet[name]) for name, value in entry.match.items()):
            return names.get(entry.parameters.get("policy"))
    return None


def asks(match, number):
    match match:
        case Exact(value):
            return number == value
        case Range(low, high):
            return low <= number <= high
        case Ternary(value, mask):
            return number & mask == value & mask


def pushed_over(held, wanted):
    """What a push of `wanted` would leave, in the numbers of what the switch holds."""
    rows = [[ARTIFACT.encode(entry) for entry in intent.entries] for intent in (held, wanted)]
    return set(rows[0]), set(renumber(rows[1], rows[0], References(ARTIFACT), in_place=True).rows)


@settings(**COMMON)
@given(policies())
def test_pushing_what_was_read_back_changes_nothing(policy):
    held = compiled(policy)
    again = compiled(read_back(held, policy))
    before, after = pushed_over(held, again)
    assert after == before
    assert [(shaper.port, shaper.rate_bps) for shaper in again.shapers] == [
        (shaper.port, shaper.rate_bps) for shaper in held.shapers
    ]


@settings(**COMMON)
@given(policies(exceptions=True))
def test_model_to_entries_to_model(policy):
    """What was read back once is said as entries say it: from there on nothing is lost."""
    first = compiled(policy)
    model = read_back(first, policy)
    second = compiled(model)
    assert read_back(second, model) == model


@settings(**COMMON)
@given(policies(exceptions=True), st.lists(packets, min_size=1, max_size=20))
def test_packets_meet_the_same_rules(policy, some):
    held = compiled(policy)
    model = read_back(held, policy)
    again = compiled(model)
    for packet in some:
        for hook in Hook:
            assert met(again, hook, packet) == met(held, hook, packet)
