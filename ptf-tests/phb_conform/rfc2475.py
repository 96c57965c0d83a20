"""RFC 2475, the architecture: a node's classifiers, meters, markers, shapers and droppers, and their order.

Requirements on domains, contracts and operators (service level agreements, provisioning, services from end to end) have
no counterpart on one node, and aren't listed.
"""

from __future__ import annotations

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from phb.model import MeterKind
from phb.pipeline_names import COLOURS_PER_POLICY
from phb.targets import Capability
from phb_conform import metered
from phb_conform.check import Finding, Level, check, judged
from phb_conform.measures.offered import at_once, spelled
from phb_conform.metering import STILL_BPS
from phb_device import CONNECTED, Arrival, Device
from phb_model.token_buckets import Meter

_RFC = "RFC 2475"
_FROM, _TO = metered.FROM, metered.TO
_EF, _AF11, _AF12 = 46, 10, 12
_LINE_BPS = 1_000_000


def _frame(payload: Packet, *, dscp: int = 0, source: str = "10.0.1.1", destination: str = "10.0.2.1") -> bytes:
    ethernet = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    return bytes(ethernet / IP(src=source, dst=destination, tos=dscp << 2) / payload)


def _udp(port: int = 2, size: int = 72) -> Packet:
    return UDP(sport=1000, dport=port) / Raw(bytes(size))


def _dscp(device: Device, frame: bytes, port: int = _FROM) -> int | None:
    """Return the code point with which a frame leaves; None if it doesn't."""
    left = device.exchange(port, frame)
    if not left:
        return None
    made = Ether(left[0][1])
    tos: int = made[IP].tos if IP in made else made[IPv6].tc
    return tos >> 2


def _marking(*rules: str, more: str = "") -> str:
    """Return a node whose rules, each given by its match, mark EF."""
    listed = "".join(
        f"  - {{name: rule{number}, match: {{{match}}}, actions: [high]}}\n" for number, match in enumerate(rules)
    )
    return f"{CONNECTED}actions: [{{name: high, set-dscp: EF}}]\nrules:\n{listed}{more}"


@check(_RFC, "2.3.1", Level.DESCRIBED, "a BA classifier selects by the code point alone")
def ba_classifier(device: Device) -> Finding:
    aggregate = "behaviour-aggregates: [{name: gold, dscp: AF11, actions: [high]}]\n"
    device.push(f"{CONNECTED}actions: [{{name: high, set-dscp: EF}}]\n{aggregate}")
    packets = {"UDP": _udp(), "TCP": TCP(dport=80), "ICMP": ICMP()}
    taken = {name: _dscp(device, _frame(packet, dscp=_AF11)) for name, packet in packets.items()}
    ipv6 = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IPv6(tc=_AF11 << 2) / _udp()
    taken["IPv6"] = _dscp(device, bytes(ipv6))
    others = [dscp for dscp in range(64) if dscp != _AF11 and _dscp(device, _frame(_udp(), dscp=dscp)) != dscp]
    said = f"AF11 taken of {', '.join(taken)}; {63 - len(others)} of 63 other code points left alone"
    return judged(set(taken.values()) == {_EF} and not others, said, left_alone=63 - len(others))


@check(_RFC, "2.3.1", Level.DESCRIBED, "an MF classifier selects by addresses, DS field, protocol, ports, interface")
def mf_classifier(device: Device) -> Finding:
    matches = {
        "source": ("source: 10.0.1.0/24", _frame(_udp(), source="10.0.1.9"), _frame(_udp(), source="10.0.3.9")),
        "destination": ("destination: 10.0.2.7", _frame(_udp(), destination="10.0.2.7"), _frame(_udp())),
        "DS field": ("dscp: AF11", _frame(_udp(), dscp=_AF11), _frame(_udp(), dscp=_AF12)),
        "protocol": ("protocol: tcp", _frame(TCP()), _frame(_udp())),
        "source port": ("protocol: udp, source-ports: 1000", _frame(_udp()), _frame(UDP(sport=1001))),
        "destination ports": ("protocol: udp, destination-ports: 80-90", _frame(_udp(90)), _frame(_udp(91))),
    }
    wrong = []
    for name, (match, taken, other) in matches.items():
        device.push(_marking(match))
        if (_dscp(device, taken), _dscp(device, other) == _EF) != (_EF, False):
            wrong.append(name)
    device.push(_marking(f"ingress-port: {_FROM}"))
    if (_dscp(device, _frame(_udp())), _dscp(device, _frame(_udp()), port=_TO)) != (_EF, 0):
        wrong.append("incoming interface")
    fields = ", ".join([*matches, "incoming interface"])
    return judged(not wrong, f"not by {', '.join(wrong)}" if wrong else f"each by itself: {fields}")


@check(_RFC, "2.3.1", Level.DESCRIBED, "classifiers are configured by management: each may be changed and taken away")
def classifier_is_configured(device: Device) -> Finding:
    found = []
    for text in (_marking("dscp: AF11"), _marking("dscp: AF12"), CONNECTED):
        device.push(text)
        found.append([_dscp(device, _frame(_udp(), dscp=dscp)) for dscp in (_AF11, _AF12)])
    wanted = [[_EF, _AF12], [_AF11, _EF], [_AF11, _AF12]]
    return judged(found == wanted, f"AF11 and AF12 leave as {found[0]}, {found[1]}, {found[2]}")


@check(_RFC, "2.3.1", Level.DESCRIBED, "later fragments have no ports: a rule by ports takes the first one alone")
def mf_classifier_and_fragments(device: Device) -> Finding:
    device.push(_marking("protocol: udp, destination-ports: 80"))
    packet = IP(src="10.0.1.1", dst="10.0.2.1", id=7) / UDP(sport=1000, dport=80) / Raw(bytes(2000))
    ethernet = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    found = [_dscp(device, bytes(ethernet / piece)) for piece in packet.fragment(fragsize=1000)]  # type: ignore[no-untyped-call]
    said = "first fragment by its ports, later ones by what they have: " + ", ".join(map(str, found))
    return judged(found == [_EF, 0, 0], said)


@check(
    _RFC, "2.3.2", Level.DESCRIBED, "packets of a code point beyond rate and burst of its profile are out of profile"
)
def profile_of_a_code_point(device: Device) -> Finding:
    meter = metered.action(Meter(MeterKind.SINGLE_RATE, STILL_BPS, 3000))
    aggregate = "behaviour-aggregates: [{name: gold, dscp: AF11, actions: [metered]}]\n"
    device.push(f"{CONNECTED}actions:\n{meter}{aggregate}")
    found = spelled(metered.send(device, at_once([1000] * 5)))
    other = _dscp(device, _frame(_udp(size=900), dscp=_AF12))
    said = f"five of 1000 bytes, profile of 3000: {found}; another code point is not measured"
    return judged(
        found == "GGGRR" and other == _AF12, said if other == _AF12 else f"{found}; another leaves as {other}"
    )


@check(
    _RFC, "2.3.3.1", Level.DESCRIBED, "the meter tells in profile from out of profile, and each is treated by itself"
)
def out_of_profile_treatments(device: Device) -> Finding:
    found = []
    # Sent as they are, marked, dropped; and counted in any case (accounting, section 2.3.2).
    for treatment in ("{}", "{set-dscp: AF12}", "{drop: true}"):
        text = (
            f"{CONNECTED}actions:\n  - {{name: metered, meter: {{kind: single-rate, committed-rate: {{value: 1, "
            f"unit: bit/s, basis: ip}}, committed-burst-bytes: 100, red: {treatment}}}}}\n"
            "rules: [{name: all, actions: [metered]}]\n"
        )
        device.reset()
        device.push(text)
        leaves = [_dscp(device, _frame(_udp(), dscp=_AF11)) for _ in range(2)]
        counted = device.counter("policy_traffic", range(COLOURS_PER_POLICY, 2 * COLOURS_PER_POLICY))
        found.append((leaves, [packets for packets, _ in counted.values()]))
    wanted = [([_AF11, _AF11], [1, 1]), ([_AF11, _AF12], [1, 1]), ([_AF11, None], [1, 1])]
    return judged(found == wanted, "sent, marked AF12, dropped; counted" if found == wanted else str(found))


@check(_RFC, "2.3.3.2", Level.DESCRIBED, "a marker sets one code point for all, whatever packets came with")
def marker_sets_one_code_point(device: Device) -> Finding:
    device.push(_marking(f"ingress-port: {_FROM}"))
    right = sum(_dscp(device, _frame(_udp(), dscp=dscp)) == _EF for dscp in range(64))
    return judged(right == 64, f"{right} of 64 code points become EF", right=right)


@check(_RFC, "2.3.3.2", Level.DESCRIBED, "or one of several of a PHB group, by the meter's state")
def marker_by_state_of_meter(device: Device) -> Finding:
    device.push(metered.policy(Meter(MeterKind.SINGLE_RATE, STILL_BPS, 1000, other_bytes=1000)))
    found = spelled(metered.send(device, at_once([1000] * 3)))
    return judged(found == "GYR", f"AF41, AF42, AF43 by state: {found}")


@check(
    _RFC, "2.3.3.3", Level.DESCRIBED, "a shaper delays packets until they are in profile", needs=(Capability.SHAPING,)
)
def shaper_delays(device: Device) -> Finding:
    device.push(CONNECTED + _shaped(hold_queue=100))
    frame = _frame(_udp(size=986 - 14))
    left = device.run([Arrival(0, _FROM, frame)] * 20, quiet_s=1.0)
    seconds = (left[-1].time_ns - left[0].time_ns) / 1e9 if left else 0.0
    bits = 19 * len(frame) * 8
    error = abs(seconds * _LINE_BPS / bits - 1)
    holds = len(left) == 20 and error <= (0.005 if device.virtual else 0.03)
    return judged(holds, f"{len(left)} of 20 together, then at {1 - error:.2%} of the rate", error=error)


@check(
    _RFC,
    "2.3.3.3",
    Level.DESCRIBED,
    "its buffer is finite: what has no room is discarded",
    needs=(Capability.SHAPING, Capability.QUEUE_LIMITS),
    virtual=True,
)
def shaper_buffer_is_finite(device: Device) -> Finding:
    device.push(CONNECTED + _shaped(hold_queue=5))
    left = device.run([Arrival(0, _FROM, _frame(_udp(size=972)))] * 20)
    # One is on the line, five wait.
    return judged(len(left) == 6, f"{len(left)} of 20 left: one on the line, hold queue of 5", left=len(left))


@check(_RFC, "2.3.3.4", Level.DESCRIBED, "a dropper discards what is out of profile: policing")
def dropper_polices(device: Device) -> Finding:
    text = metered.policy(Meter(MeterKind.SINGLE_RATE, STILL_BPS, 3000))
    device.push(text.replace("red: {set-dscp: 38}", "red: {drop: true}"))
    left = sum(bool(device.exchange(_FROM, metered.frame(1000), expected)) for expected in (1, 1, 1, 0, 0))
    return judged(left == 3, f"{left} of 5 left, profile of 3", left=left)


@check(_RFC, "2.3", Level.DESCRIBED, "order: classified by what came, metered, marked, then queued by the new mark")
def order_of_conditioning(device: Device) -> Finding:
    # AF11 is metered and becomes EF in profile, AF12 beyond; the output policy classifies packets by the new mark.
    text = (
        f"{CONNECTED}actions:\n  - {{name: metered, meter: {{kind: single-rate, committed-rate: {{value: 1, "
        "unit: bit/s, basis: ip}, committed-burst-bytes: 100, green: {set-dscp: EF}, red: {set-dscp: AF12}}}\n"
        "  - {name: urgent, set-dscp: CS6}\n"
        "rules:\n  - {name: in, match: {dscp: AF11}, actions: [metered]}\n"
        "  - {name: out, match: {egress-port: line, dscp: EF}, actions: [urgent]}\n"
    )
    device.push(text)
    found = [_dscp(device, _frame(_udp(), dscp=_AF11)) for _ in range(2)]
    return judged(found == [48, _AF12], f"in profile AF11, EF, CS6; out of profile AF11, AF12: leave as {found}")


@check(_RFC, "2.1.1", Level.MUST, "a node applies the PHB of the code point, also of packets that no rule names")
def phb_by_code_point(device: Device) -> Finding:
    classes = (
        "classes: [{name: gold}]\nbehaviour-aggregates: [{name: ef, dscp: EF, actions: [to-gold]}]\n"
        "actions: [{name: to-gold, class: gold}]\n"
    )
    device.push(CONNECTED + classes)
    for dscp in (_EF, 0, _AF11):
        device.exchange(_FROM, _frame(_udp(), dscp=dscp))
    counted = device.counter("policy_traffic", range(2 * COLOURS_PER_POLICY))
    packets = [sum(counted.get(cell, (0, 0))[0] for cell in range(first, first + 4)) for first in (0, 4)]
    return judged(packets == [2, 1], f"EF: {packets[1]} packet of its aggregate, others {packets[0]}")


@check(
    _RFC, "6.1", Level.MUST, "an ingress lets pass no code point that its sender may not use: it is marked or dropped"
)
def ingress_enforces_code_points(device: Device) -> Finding:
    # Only AF11 is agreed on. All other packets become best effort, or with `blocked` don't pass.
    agreed = "rules:\n  - {name: agreed, match: {dscp: AF11}}\n"
    device.push(f"{CONNECTED}actions: [{{name: reset, set-dscp: 0}}]\n{agreed}  - {{name: rest, actions: [reset]}}\n")
    found = [_dscp(device, _frame(_udp(), dscp=dscp)) for dscp in range(64)]
    device.push(f"{CONNECTED}{agreed}  - {{name: rest, permission: blocked}}\n")
    blocked = [_frame(_udp(), dscp=dscp) for dscp in (0, _AF12, _EF, 63)]
    passed_by = sum(bool(device.exchange(_FROM, frame, 0)) for frame in blocked)
    kept = _dscp(device, _frame(_udp(), dscp=_AF11))
    wanted = [dscp if dscp == _AF11 else 0 for dscp in range(64)]
    said = f"63 others become 0, or {passed_by} of {len(blocked)} pass; AF11 stays {kept}"
    return judged(found == wanted and not passed_by and kept == _AF11, said)


@check(_RFC, "2.3.4.2", Level.DESCRIBED, "a boundary node conditions each direction by its own agreement")
def conditions_each_direction(device: Device) -> Finding:
    text = (
        f"{CONNECTED}actions: [{{name: in, set-dscp: AF11}}, {{name: out, set-dscp: EF}}]\n"
        f"rules:\n  - {{name: up, match: {{ingress-port: {_FROM}}}, actions: [in]}}\n"
        f"  - {{name: down, match: {{ingress-port: {_TO}}}, actions: [out]}}\n"
    )
    device.push(text)
    found = [_dscp(device, _frame(_udp()), port=port) for port in (_FROM, _TO)]
    return judged(found == [_AF11, _EF], f"from the host {found[0]}, to it {found[1]}")


def _shaped(hold_queue: int) -> str:
    return (
        f"queueing: [{{port: line, hold-queue: {hold_queue}, schedule: {{kind: fifo}}, "
        f"shaper: {{rate: {{value: {_LINE_BPS}, unit: bit/s, basis: ethernet}}}}}}]\n"
    )
