"""Random policies and packets that meet each other often: small worlds of addresses, ports and code points."""

from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

HOSTS = {4: ["10.0.0.1", "10.0.0.2", "10.0.1.1"], 6: ["2001:db8::1", "2001:db8::2", "2001:db8:1::1"]}
NUMBERS = [80, 700, 701]
OCTETS = [0, 0x20, 0x68, 0xB8, 0xB9]
PORT_NAMES = {1: "one", 2: "two", 3: "three"}


def maybe(strategy):
    return st.one_of(st.none(), strategy)


@st.composite
def conditions(draw, hook):
    version = draw(st.sampled_from([4, 4, 6]))
    hosts = st.sampled_from([*HOSTS[version], "10.0.0.0/24" if version == 4 else "2001:db8::/48"])
    marks = draw(
        st.sampled_from([{}, {}, {"tos": 0x68}, {"dscp": "EF"}, {"precedence": 1}, {"tos": {"value": 1, "mask": 3}}])
    )
    values = {
        hook: draw(maybe(st.sampled_from(["one", 2]))) if hook == "ingress-port" else draw(st.sampled_from(["one", 2])),
        "protocol": draw(maybe(st.sampled_from(["tcp", "udp"]))),
        "source": draw(maybe(hosts)),
        "destination": draw(maybe(hosts)),
        "source-ports": draw(maybe(st.sampled_from([700, "700-701"]))),
        "destination-ports": draw(maybe(st.sampled_from([80, "0-79"]))),
        **marks,
    }
    return {key: value for key, value in values.items() if value is not None}


@st.composite
def policies(draw, queueing):
    """A policy as YAML would give it: a dictionary."""
    names = ["plain", "marked", "masked", "metered", "tagged"]
    rules = [
        {
            "name": f"r{number}",
            **_asked(draw, draw(hooks)),
            "permission": draw(st.sampled_from(["allowed"] * 5 + ["blocked"])),
        }
        for number in range(draw(st.integers(0, 6)))
    ]
    for rule in rules:
        if rule["permission"] == "allowed":
            rule["actions"] = [draw(st.sampled_from(names))]
    return {
        "phb": 1,
        "ports": [{"number": number, "name": name} for number, name in PORT_NAMES.items()],
        "cross-connects": draw(st.sampled_from([[], [{"between": ["two", "three"]}]])),
        "routes": [
            {"destination": network, "port": port, "source-mac": "02:00:00:00:01:01", "destination-mac": mac}
            for network, port, mac in (
                ("10.0.0.0/24", "one", "02:00:00:00:02:01"),
                ("10.0.0.2/32", "two", "02:00:00:00:02:02"),
                ("2001:db8::/48", "one", "02:00:00:00:02:03"),
            )
        ]
        + draw(st.sampled_from([[], [{"destination": "10.0.1.0/24", "discard": True}]])),
        "classes": [{"name": "gold"}, {"name": "silver"}],
        "actions": [
            {"name": "plain", "class": draw(st.sampled_from(["gold", "silver", "class-default"]))},
            {"name": "marked", "set-dscp": "AF31", "class": "gold"},
            {"name": "masked", "set-tos": {"value": 0x40, "mask": 0xE1}},
            {"name": "metered", "meter": draw(meters()), "set-precedence": draw(st.sampled_from([1, 6]))},
            {"name": "tagged", "set-pcp": draw(st.sampled_from([0, 7, {"value": 1, "mask": 5}]))},
        ],
        "behaviour-aggregates": [draw(aggregates(number)) for number in range(draw(st.integers(0, 3)))],
        "queueing": [draw(queueing)] if queueing is not None else [],
        "rules": rules,
    }


hooks = st.sampled_from(["ingress-port", "ingress-port", "egress-port"])


def _asked(draw, hook):
    asked = {"match": draw(st.lists(conditions(hook), min_size=1, max_size=2))}
    if draw(st.booleans()):
        asked["unless"] = [draw(conditions(hook))]
    return asked


def rate(kbits, basis):
    return {"value": kbits, "unit": "kbit/s", "basis": basis}


treatments = st.sampled_from(
    [
        {},
        {"drop": True},
        {"set-dscp": "AF12"},
        {"set-pcp": 3},
        {"set-precedence": 5, "set-pcp": {"value": 4, "mask": 4}},
    ]
)
bursts = st.sampled_from([0, 100, 400, 2000])


@st.composite
def meters(draw):
    kind = draw(st.sampled_from(["single-rate", "two-rate", "two-rate-separate"]))
    basis = draw(st.sampled_from(["ip", "ip", "ppp", "ethernet"]))
    values = {
        "kind": kind,
        "committed-rate": rate(draw(st.sampled_from([1, 8, 64])), basis),
        "committed-burst-bytes": draw(bursts),
        "colour-aware": draw(st.booleans()),
        "green": draw(treatments),
        "yellow": draw(treatments),
        "red": draw(treatments),
    }
    if kind != "single-rate":
        values["peak-rate"] = rate(draw(st.sampled_from([64, 128])), basis)
    if kind == "two-rate":
        values["peak-burst-bytes"] = draw(bursts)
    else:
        values["excess-burst-bytes"] = draw(bursts)
    return values


@st.composite
def aggregates(draw, number):
    hook = draw(st.sampled_from(["ingress-port", "egress-port"]))
    asked = {hook: draw(st.sampled_from(["one", "two"]))} if hook == "egress-port" or draw(st.booleans()) else {}
    return {
        "name": f"b{number}",
        **asked,
        **draw(
            st.sampled_from(
                [{"dscp": "EF"}, {"tos": 0x68}, {"precedence": 0}, {"pcp": 5}, {"pcp": {"value": 0, "mask": 4}}]
            )
        ),
        "actions": [draw(st.sampled_from(["plain", "marked", "metered"]))],
    }


@st.composite
def frames(draw):
    """An Ethernet frame: mostly IP as hosts send it, sometimes odd."""
    version = draw(st.sampled_from([4, 4, 6]))
    source, destination = draw(st.sampled_from(HOSTS[version])), draw(st.sampled_from(HOSTS[version]))
    octet, ttl = draw(st.sampled_from(OCTETS)), draw(st.sampled_from([64, 64, 64, 1, 0]))
    if version == 4:
        odd = draw(
            st.sampled_from(
                [{}] * 6
                + [{"frag": 100}, {"chksum": 1}, {"options": b"\x94\x04\0\0"}, {"ihl": 4}]
                + [{"len": length} for length in (19, 40, 65535)]
            )
        )
        network = IP(src=source, dst=destination, tos=octet, ttl=ttl, **odd)
    else:
        odd = draw(st.sampled_from([{}] * 6 + [{"plen": 0}, {"plen": 0, "nh": 0}, {"plen": 8}, {"plen": 65535}]))
        network = IPv6(src=source, dst=destination, tc=octet, hlim=ttl, **odd)
    ports = {"sport": draw(st.sampled_from(NUMBERS)), "dport": draw(st.sampled_from(NUMBERS))}
    transport = draw(st.sampled_from([TCP(**ports), TCP(**ports), UDP(**ports), UDP(**ports), ICMP(), Raw(b"odd")]))
    link = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    if draw(st.booleans()):
        link = link / Dot1Q(vlan=5, prio=draw(st.integers(0, 7)))
    frame = bytes(link / network / transport / Raw(bytes(draw(st.integers(0, 300)))))
    frame += bytes(draw(st.sampled_from([0, 0, 0, 46])))
    kept = draw(st.sampled_from([None] * 8 + [14, 20, 36, 45]))
    return frame if kept is None else frame[:kept]
