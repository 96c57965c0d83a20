"""Random policies over a small world: rules overlap each other, and packets meet them."""

from dataclasses import dataclass

from hypothesis import strategies as st

from .chance import one_part, parts
from .queueing import queueing

ADDRESSES = {
    4: ["10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.7", "10.0.1.1", "10.0.1.255", "192.0.2.1"],
    6: ["2001:db8::", "2001:db8::1", "2001:db8::7", "2001:db8:0:1::1", "2001:db8:1::1", "fe80::1"],
}
RANGES = {
    4: ["10.0.0.0/24", "10.0.0.1-10.0.0.6", "10.0.0.0/8", "10.0.0.2-10.0.1.1", "0.0.0.0/0", *ADDRESSES[4][1:5]],
    6: ["2001:db8::/48", "2001:db8::1-2001:db8::6", "2001:db8::/32", "2001:db8::7-2001:db8:0:1::1", *ADDRESSES[6][1:4]],
}
PORT_NAMES = {1: "one", 2: "two", 3: "three", 4: "four"}
CLASSES = ["gold", "silver", "bronze"]
REFERENCES = [*PORT_NAMES.values(), *PORT_NAMES]
PORT_RANGES = [0, 53, 80, 700, 701, "0-79", "80-700", "701-65535", "0-65535"]
MARKS_ASKED = [
    *[{}] * 6,
    {"dscp": "EF"},
    {"dscp": 0},
    {"dscp": "AF12"},
    {"precedence": 0},
    {"precedence": 5},
    {"tos": 0x28},
    {"tos": {"value": 1, "mask": 1}},
    {"tos": {"value": 0, "mask": 0}},
    {"tos": {"value": 0x20, "mask": 0x60}},
]
PRIORITIES = [0, 3, 7, {"value": 4, "mask": 4}, {"value": 0, "mask": 0}, {"value": 1, "mask": 5}]
VLANS = [0, 5, 5, 6, "untagged"]
ICMP_TYPES = [8, 0, "3/4", 128, "0/0"]
FLAGS = ["+syn -ack", "+ack", "+rst", "-syn -fin", "+fin +ack", "any"]
COPIES = [["precedence-to-pcp"], ["pcp-to-dscp"], ["pcp-to-precedence"], ["pcp-to-dscp", "precedence-to-pcp"]]
PREFIXES = ["10.0.0.0/8", "10.0.0.0/24", "10.0.0.2/32", "10.0.1.0/24", "0.0.0.0/0"]
PREFIXES += ["2001:db8::/32", "2001:db8::/48", "2001:db8::7/128", "::/0"]
MARKS = [
    {"set-dscp": "AF11"},
    {"set-dscp": "AF13"},
    {"set-dscp": "EF"},
    {"set-precedence": 5},
    {"set-precedence": 0},
    {"set-tos": 0x28},
    {"set-tos": {"value": 0x41, "mask": 0xC3}},
]
BURSTS = [0, 46, 60, 150, 1500, 3000]
# A burst, and a larger one beside it: yellow is what only the second has room for.
YELLOW_BURSTS = [(0, 1500), (60, 3000), (150, 1500), (1500, 3000)]
RATES = (1, 8, 8_000, 64_000, 1_000_000)


def conditions(chance, required=None, with_ports=True):
    """Conditions of a rule; `required` is a port that they have to name."""
    version = chance.choice([4, 4, 6, None])
    fields = {
        "protocol": ["tcp", "tcp", "udp", "icmp", "icmpv6", 0, 44, 50],
        "source-ports": PORT_RANGES,
        "destination-ports": PORT_RANGES,
        "pcp": PRIORITIES,
    }
    if version is not None:
        fields |= {"source": RANGES[version], "destination": RANGES[version]}
    asked = {name: chance.choice(fields[name]) for name in chance.some(sorted(fields), 3)}
    asked |= chance.choice(MARKS_ASKED)
    if chance.one_in(8) and asked.get("protocol", "tcp") == "tcp":
        asked["tcp-flags"] = chance.choice(FLAGS)
    if chance.one_in(2) and str(asked.get("protocol", "")).startswith("icmp"):
        asked["icmp-type"] = chance.choice(ICMP_TYPES)
    if chance.one_in(8) and "pcp" not in asked:
        asked["vlan"] = chance.choice(VLANS)
    if required == "egress-port" and chance.one_in(8):
        asked["qos-group"] = chance.choice([0, 1, 2])
    if with_ports and chance.one_in(3):
        asked["ingress-port"] = chance.choice(REFERENCES)
    if required is not None:
        asked[required] = chance.choice(REFERENCES)
    return asked


def rule(chance, number, actions, host):
    """One rule, of the input or an output policy, or of a direction where there is a host."""
    hook = chance.choice(["input", "output", "output", "direction"])
    directed = hook == "direction" and host
    port = "egress-port" if hook == "output" else None
    result = {
        "name": f"rule {number}",
        "match": [conditions(chance, port, not directed) for _ in range(chance.randint(1, 2))],
        "unless": [conditions(chance, None, not directed) for _ in range(chance.choice([0, 0, 1, 2]))],
    }
    if directed:
        result["direction"] = chance.choice(["outgoing", "incoming", "both"])
    allowed = [each["name"] for each in actions if hook != "output" or "max-connections" not in each]
    kind = chance.randrange(10)
    if kind == 0:
        result["permission"] = "blocked"
    elif kind > 1 or (kind == 1 and hook == "output"):
        result["actions"] = [chance.choice(allowed)]
    if chance.one_in(8):
        # The cases are compiled for noon of a Monday.
        result["valid"] = chance.choice([{"days": ["monday"]}, {"days": ["sunday"]}, {"time": "8:00-12:00"}])
    return result


def _rate(bits, basis):
    return {"value": bits, "unit": "bit/s", "basis": basis}


def marks(chance):
    """Nothing, or a mark of the ToS octet, or of the priority, or both."""
    kind = chance.randrange(5)
    tos = chance.choice(MARKS) if kind in (2, 3) else {}
    result = tos | ({"set-pcp": chance.choice(PRIORITIES)} if kind in (3, 4) else {})
    if chance.one_in(6):
        result["set-qos-group"] = chance.choice([0, 1, 2])
    if chance.one_in(6):
        result["copy-marks"] = chance.choice(COPIES)
    return result


def treatment(chance):
    """Draw the treatment of a colour."""
    return {"drop": True} if chance.one_in(4) else marks(chance)


def meter(chance, shape):
    """A meter whose bursts some packets have room in."""
    kind = chance.choice(shape.meters)
    basis = chance.choice(["ethernet", "ip", "ppp"])
    committed, larger = chance.choice([*YELLOW_BURSTS, *[(chance.choice(BURSTS), chance.choice(BURSTS))] * 4])
    result = {
        "kind": kind,
        "committed-rate": _rate(chance.choice(shape.rates), basis),
        "committed-burst-bytes": committed,
        "colour-aware": chance.one_in(2),
        **{colour: treatment(chance) for colour in ("green", "yellow", "red")},
    }
    if kind != "single-rate":
        result["peak-rate"] = _rate(chance.choice(shape.rates), basis)
    if kind == "two-rate":
        result["peak-burst-bytes"] = larger
    elif not chance.one_in(4):
        result["excess-burst-bytes"] = larger
    return result


def action(chance, number, shape):
    """Marks, and a meter, a limit or a class."""
    result = {"name": f"action {number}", **marks(chance)}
    kind = chance.randrange(10)
    if kind < 5:
        result["meter"] = meter(chance, shape)
    if kind in (5, 6) and number:
        result["max-connections"] = chance.choice([1, 1, 2])
    if chance.one_in(2):
        result["class"] = chance.choice([*CLASSES, "class-default"])
    return result


def aggregate(chance, number, actions):
    """A behaviour aggregate at either hook."""
    result = {"name": f"aggregate {number}", **chance.choice(MARKS_ASKED)}
    if chance.one_in(2):
        result["pcp"] = chance.choice(PRIORITIES)
    elif chance.one_in(4):
        result["vlan"] = chance.choice(VLANS)
    port = chance.choice([None, None, "ingress-port", "egress-port"])
    if port is not None:
        result[port] = chance.choice(REFERENCES)
    if port == "egress-port" and chance.one_in(4):
        result["qos-group"] = chance.choice([0, 1, 2])
    allowed = [each["name"] for each in actions if port != "egress-port" or "max-connections" not in each]
    return result | ({"actions": [chance.choice(allowed)]} if allowed else {})


def routes(chance):
    """Routes to nested prefixes, each at most once; packets to some hosts find none."""
    found = []
    for number, destination in enumerate(chance.some(PREFIXES, 6)):
        if chance.one_in(6):
            found.append({"destination": destination, "discard": True})
        else:
            macs = {"source-mac": f"02:00:00:00:01:{number:02x}", "destination-mac": f"02:00:00:00:02:{number:02x}"}
            found.append({"destination": destination, "port": chance.choice(REFERENCES), **macs})
    return found


def subnet_priorities(chance, address):
    """Statements of some ports, and one for all others; now and then without a user priority, or two for one ToS."""
    found = []
    for where in chance.some([{}, {"port": chance.choice(["three", 3])}, {"port": 4}, address], 4):
        mappings = [
            {"tos": chance.choice([0, 0x28, 0x40, 0xA0, 0xB8, 0xE0]), "user-priority": chance.randrange(8)}
            for _ in range(chance.randint(0, 4))
        ]
        if mappings and chance.one_in(4):
            mappings[0] = {"tos": mappings[0]["tos"], "priority": 1}
        found.append({**where, "mask": chance.choice([0xE0, 0xE0, 0xFC, 0]), "mappings": mappings})
    return found


@dataclass(frozen=True)
class Shape:
    """The kind of policies to draw.

    Attributes:
        rates: Of meters, in bit/s.
        meters: Kinds of meters.
        conversations: Of fair queues.
        simple: Only what every target can do: no fair queues, no shares.
        queues: Ports that have queueing at least.
        hold_queue_one_in: How seldom a port has a hold queue, before which other limits are not reached.
    """

    rates: tuple = RATES
    meters: tuple = ("single-rate", "two-rate", "two-rate-separate")
    conversations: tuple = (16, 256)
    simple: bool = False
    queues: int = 0
    hold_queue_one_in: int = 2


ANYTHING = Shape()


@st.composite
def policies(draw, shape=ANYTHING):
    """A policy as YAML would give it: a dictionary."""
    node = draw(one_part)
    host = node.one_in(2)
    ports = [{"number": number, "name": name} for number, name in PORT_NAMES.items()]
    wires = node.choice([[], [], [["three", "four"]], [[3, "four"], ["one", 2]]])
    actions = [action(chance, number, shape) for number, chance in enumerate(draw(parts(4, 1)))]
    if host:
        ports[0]["role"] = "host"
        ports[1]["address"] = "10.0.0.1"
        wires = [["one", "two"], *node.choice([[], [["three", "four"]]])]
        if node.one_in(4) and actions:
            ports[2]["address"] = "10.0.1.1"
            actions[0]["interface"] = node.choice(["10.0.0.1", "10.0.1.1"])
    names = [each["name"] for each in actions]
    queued = zip(draw(st.permutations([1, "two", 3, "four"])), draw(parts(4, shape.queues)), strict=False)
    return {
        "phb": 1,
        "ports": ports,
        "cross-connects": [{"between": wire} for wire in wires],
        "routes": routes(draw(one_part)),
        "classes": [{"name": name} for name in CLASSES],
        "actions": actions,
        "rules": [rule(chance, number, actions, host) for number, chance in enumerate(draw(parts(8, 2)))],
        "behaviour-aggregates": [aggregate(chance, number, actions) for number, chance in enumerate(draw(parts(3)))],
        "subnet-priorities": subnet_priorities(draw(one_part), {"address": "10.0.0.1"} if host else {"port": "two"}),
        "queueing": [{"port": port, **queueing(chance, names, shape)} for port, chance in queued],
    }
