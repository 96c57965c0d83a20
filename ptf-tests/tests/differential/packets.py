"""Random packets: most as hosts send them and aimed at a rule of the policy, some odd, some not packets at all."""

from dataclasses import dataclass
from ipaddress import ip_address

from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from phb.model import Conditions
from phb.values import UNTAGGED

from .chance import parts
from .policies import ADDRESSES

CPU_PORT = 510
SECOND = 1_000_000_000
GAPS = [0, 999, 1000, 7_654_321, 100_000_000, SECOND, 11 * SECOND]
OCTETS = [0, 0x01, 0x20, 0x28, 0x29, 0x30, 0x38, 0x3A, 0xA0, 0xB8, 0xBB, 0xFF]
NUMBERS = [0, 53, 79, 80, 700, 701, 702, 65535]


@dataclass(frozen=True)
class Sent:
    """A frame and how it gets to the switch.

    Attributes:
        gap_ns: After the packet before.
        port: Where it comes in; the controller's port for a packet-out.
        out: Where a packet-out is to go.
        kind: What is odd about it.
    """

    gap_ns: int
    port: int
    frame: bytes
    kind: str
    out: int | None = None

    def __str__(self):
        where = f"packet-out to {self.out}" if self.port == CPU_PORT else f"in {self.port}"
        try:
            told = Ether(self.frame).summary()
        except Exception:  # scapy gives up on some of what isn't a packet
            told = "?"
        kept = self.frame.rstrip(b"\0")
        zeros = f" and {len(self.frame) - len(kept)} zeros" if kept != self.frame else ""
        return f"after {self.gap_ns} ns, {where}, {len(self.frame)} bytes, {self.kind}: {told}\n    {kept.hex()}{zeros}"


@dataclass(frozen=True)
class Aim:
    """The bounds of each field that a rule asks for, which a packet should meet or just miss."""

    version: int
    values: dict


def _bounds(first, last, most):
    """Both ends of a range, and what is just outside."""
    return [each for each in (first, first, last, (first + last) // 2, first - 1, last + 1) if 0 <= each <= most]


def aims(policy):
    """One for each condition of the policy's rules, and one that aims at nothing, for either IP version."""
    found = [Aim(version, {}) for version in (4, 6)]
    numbers = {name: port["number"] for port in policy["ports"] for name in (port["name"], port["number"])}
    wires = [[numbers[end] for end in wire["between"]] for wire in policy["cross-connects"]]
    peers = {end: wire[1 - place] for wire in wires for place, end in enumerate(wire)}
    wired = {name: peers[number] for name, number in numbers.items() if number in peers}
    limited = {action["name"] for action in policy["actions"] if "max-connections" in action}
    for rule in policy["rules"]:
        for asked in [*rule["match"], *rule["unless"]]:
            found += [_aim(Conditions.model_validate(asked), numbers, wired, rule)]
        for asked in rule["match"] if limited & set(rule.get("actions", ())) else ():
            # A limit takes several connections of one rule to be seen.
            aim = _aim(Conditions.model_validate(asked), numbers, wired, rule)
            found += [Aim(aim.version, {"protocol": [6]} | aim.values)] * 6
    return found


def _aim(asked, numbers, wired, rule):
    values = {}
    if asked.ingress_port is not None:
        values["port"] = [numbers[asked.ingress_port]]
    if asked.egress_port in wired:
        values["port"] = [wired[asked.egress_port]]
    if "direction" in rule:
        values["port"] = [1, 2]
    if asked.protocol is not None:
        values["protocol"] = [asked.protocol]
    version = asked.version or (4 if len(str(asked)) % 3 else 6)
    most = (1 << (32 if version == 4 else 128)) - 1
    for name, addresses in (("source", asked.source), ("destination", asked.destination)):
        if addresses is not None:
            values[name] = _bounds(int(addresses.first), int(addresses.last), most)
    for name, ports in (("sport", asked.source_ports), ("dport", asked.destination_ports)):
        if ports is not None:
            values[name] = _bounds(ports.first, ports.last, 65535)
    if asked.tos_bits is not None:
        rest = 0xFF ^ asked.tos_bits.mask
        values["tos"] = [asked.tos_bits.value, asked.tos_bits.value | rest, asked.tos_bits.value ^ 0x20]
    if asked.pcp is not None:
        values["pcp"] = [asked.pcp.value, asked.pcp.value | (7 ^ asked.pcp.mask)]
    if asked.vlan is not None:
        values |= {"pcp": [None]} if asked.vlan == UNTAGGED else {"pcp": [0, 5], "vlan": [asked.vlan]}
    if asked.tcp_flags is not None:
        values["protocol"] = [6]
    if asked.icmp_type is not None:
        values["icmp"] = [asked.icmp_type.bits[0], asked.icmp_type.bits[0] | 1]
    return Aim(version, values)


PROTOCOLS = [6, 6, 6, 17, 17, 1, 0, 44, 50, 58]
HOPS = [64] * 10 + [255, 2, 1, 0]
SIZES = [0, 0, 4, 100, 100, 1000, 1460]
FLAGS = ["S", "S", "S", "A", "A", "SA", "FA", "FA", "R", "RA", "PA", "SF", ""]


class Talk:
    """The numbers that ends of TCP connections have sent, so that segments can be near those they would send next."""

    def __init__(self):
        self._next = {}

    def numbers(self, chance, version, values, flags, payload):
        """Sequence and acknowledgement number of a segment, mostly the right ones."""
        here = (version, values["source"], values["sport"], values["destination"], values["dport"])
        there = (version, values["destination"], values["dport"], values["source"], values["sport"])
        sequence = self._next.get(here, 0xFFFFFFFF)
        self._next[here] = sequence + payload + ("S" in flags) + ("F" in flags) & 0xFFFFFFFF
        numbers = [sequence, self._next.get(there, 0) if "A" in flags else 0]
        if chance.one_in(8):
            numbers[chance.randint(0, 1)] += chance.choice([-1, 1, 40_000, 70_000, 1 << 31])
        return [number & 0xFFFFFFFF for number in numbers]


def packet(chance, found, earlier, controller, repeats, talk):
    """One packet, or three of a handshake.

    Args:
        chance: Decides.
        found: What packets are aimed at.
        earlier: What packets before it had in their headers: more of the same flow may follow, or answers.
        controller: Whether it may come from the controller.
        repeats: The part of packets that are of the flow of an earlier one, or answer it.
        talk: The numbers of TCP connections so far.
    """
    values = {}
    if earlier and chance.random() < repeats:
        version, values = chance.choice(earlier)
        if chance.one_in(2):
            values = _answer(values)
    else:
        aim = chance.choice(found)
        version = aim.version
        values = {name: chance.choice(each) for name, each in aim.values.items()}
        if chance.one_in(16) and values:
            values.pop(chance.choice(sorted(values)))
    unsaid = {
        "port": lambda: chance.choice([1, 1, 2, 3, 4]),
        "source": lambda: int(ip_address(chance.choice(ADDRESSES[version]))),
        "destination": lambda: int(ip_address(chance.choice(ADDRESSES[version]))),
        "protocol": lambda: chance.choice(PROTOCOLS),
        "sport": lambda: chance.choice(NUMBERS),
        "dport": lambda: chance.choice(NUMBERS),
        "tos": lambda: chance.choice(OCTETS),
        "pcp": lambda: chance.choice([None, None, None, None, 0, 5]),
        "vlan": lambda: 5,
        "icmp": lambda: chance.choice([0x0800, 0, 0x0304, 0x8000]),
    }
    values = {name: values[name] if name in values else draw() for name, draw in unsaid.items()}
    earlier.append((version, values))
    if values["protocol"] == 6 and chance.one_in(3):
        # Drawn one by one, segments seldom establish anything.
        steps = [(values, "S"), (_answer(values), "SA"), (values, "A")]
        return [
            Sent(1000, said["port"], _frame(chance, version, said, talk, flags)[1], "handshake")
            for said, flags in steps
        ]
    kind, frame = _frame(chance, version, values, talk)
    gap = chance.choice(GAPS)
    if controller and chance.one_in(30):
        out = chance.randint(1, 4)
        return [Sent(gap, CPU_PORT, (out << 7).to_bytes(2) + frame, "packet-out, " + kind, out)]
    return [Sent(gap, values["port"], frame, kind)]


def _answer(values):
    swapped = {"source": "destination", "destination": "source", "sport": "dport", "dport": "sport"}
    return {swapped.get(name, name): value for name, value in values.items()} | {"port": 3 - min(values["port"], 2)}


def _frame(chance, version, values, talk, flags=None):
    kind = chance.choice(ODD[version]) if flags is None else "plain"
    if kind == "random bytes":
        return kind, chance.randbytes(chance.randint(0, 80))
    if kind == "random bytes as IP":
        return kind, bytes(12) + (b"\x08\x00" if version == 4 else b"\x86\xdd") + chance.randbytes(
            chance.randint(0, 80)
        )
    link = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    if values["pcp"] is not None:
        link = link / Dot1Q(vlan=values["vlan"], prio=values["pcp"], dei=chance.randint(0, 1))
    if kind == "two tags":
        link = link / Dot1Q(vlan=5, prio=values["pcp"] or 1) / Dot1Q(vlan=6, prio=2)
    if kind == "ARP":
        return kind, bytes(link / ARP(pdst="10.0.0.1"))
    hop, size = chance.choice(HOPS), 9000 if kind == "jumbo" else chance.choice(SIZES)
    flags = flags or chance.choice(FLAGS)
    numbers = talk.numbers(chance, version, values, flags, size) if values["protocol"] == 6 else (0, 0)
    transport = _transport(values, flags, *numbers) / Raw(bytes(size))
    network = _ipv4(values, hop, kind) if version == 4 else _ipv6(values, hop, kind)
    frame = bytearray(bytes(link / network / transport))
    at = 14 + 4 * (values["pcp"] is not None)
    if kind == "bad checksum":
        frame[at + 10] ^= 1 << chance.randint(0, 7)
    if kind == "no such version":
        frame[at] ^= 0x10
    if kind == "truncated":
        return kind, bytes(frame[: chance.randint(0, min(len(frame), at + 64))])
    if kind == "padded":
        return kind, bytes(frame).ljust(90, b"\0")
    return kind, bytes(frame)


TOTAL_LENGTHS = {"total length 19": 19, "longer than its frame": 9999}
ODD = {
    4: [
        *["plain"] * 14,
        *["options", "no-op options", "longest options", "first fragment", "later fragment", "bad checksum"],
        *["truncated", "truncated", "short header", "no such version", *TOTAL_LENGTHS, "jumbo", "padded"],
        *["two tags", "ARP", "random bytes", "random bytes as IP"],
    ],
    6: [
        *["plain"] * 10,
        *["hop-by-hop", "destination options", "routing", "fragment", "no such version", "truncated"],
        *["no payload length", "jumbogram", "longer than its frame"],
        *["jumbo", "padded", "two tags", "random bytes", "random bytes as IP"],
    ],
}
PAYLOAD_LENGTHS = {"no payload length": 0, "jumbogram": 0, "longer than its frame": 9999}
OPTIONS = {"options": b"\x94\x04\x00\x00", "no-op options": bytes(4), "longest options": b"\x01" * 40}


def _ipv4(values, hop, kind):
    odd = {}
    if kind in OPTIONS:
        odd["options"] = OPTIONS[kind]
    if kind == "first fragment":
        odd["flags"] = "MF"
    if kind == "later fragment":
        odd["frag"] = 100
    if kind == "short header":
        odd["ihl"] = 4
    if kind in TOTAL_LENGTHS:
        odd["len"] = TOTAL_LENGTHS[kind]
    return IP(
        src=str(ip_address(values["source"])),
        dst=str(ip_address(values["destination"])),
        proto=values["protocol"],
        tos=values["tos"],
        ttl=hop,
        **odd,
    )


def _ipv6(values, hop, kind):
    header = IPv6(
        src=str(ip_address(values["source"].to_bytes(16))),
        dst=str(ip_address(values["destination"].to_bytes(16))),
        tc=values["tos"],
        hlim=hop,
    )
    if kind in PAYLOAD_LENGTHS:
        header.plen = PAYLOAD_LENGTHS[kind]
    extension = {
        "hop-by-hop": IPv6ExtHdrHopByHop,
        "jumbogram": IPv6ExtHdrHopByHop,
        "destination options": IPv6ExtHdrDestOpt,
        "routing": IPv6ExtHdrRouting,
        "fragment": IPv6ExtHdrFragment,
    }.get(kind)
    if extension is None:
        header.nh = values["protocol"]
        return header
    return header / extension(nh=values["protocol"])


def _transport(values, flags, sequence, acknowledgement):
    match values["protocol"]:
        case 6:
            return TCP(sport=values["sport"], dport=values["dport"], flags=flags, seq=sequence, ack=acknowledgement)
        case 17:
            return UDP(sport=values["sport"], dport=values["dport"])
        case 1 | 58:
            return Raw(values["icmp"].to_bytes(2) + bytes(6))
    return Raw(b"\x12\x34\x56\x78")


@st.composite
def sequences(draw, policy, most=10, controller=True, least=4, repeats=0.25):
    """Packets one after the other, aimed at the policy."""
    found, earlier, talk = aims(policy), [], Talk()
    drawn = [packet(chance, found, earlier, controller, repeats, talk) for chance in draw(parts(most, least))]
    return [sent for stretch in drawn for sent in stretch]
