"""RFC 2474: the DS field, its code points and the class selectors."""

from __future__ import annotations

from phb.targets import Capability
from phb_conform.check import Finding, Level, check, judged
from phb_conform.probing import IN, OUT, by_level, datagram, header_checksum_is_right, order, through, tos_of
from phb_conform.streams import serve, steady, together
from phb_device import CONNECTED, Device

_CODE_POINTS = range(64)
_CLASS_SELECTORS = tuple(number << 3 for number in range(8))
_QUEUES = (Capability.SHAPING, Capability.STRICT_LEVELS)


def _moved(code_point: int) -> int:
    """Return another code point for each: a permutation, so that no two can be confused."""
    return (code_point * 5 + 3) % 64


_PERMUTED = CONNECTED + (
    "actions:\n"
    + "".join(f"  - {{name: to-{_moved(each)}, set-dscp: {_moved(each)}}}\n" for each in _CODE_POINTS)
    + "behaviour-aggregates:\n"
    + "".join(f"  - {{name: from-{each}, dscp: {each}, actions: [to-{_moved(each)}]}}\n" for each in _CODE_POINTS)
)


def _permuted(device: Device, octets: range, version: int = 4) -> Finding:
    """Send ToS octets through a node that replaces each code point by another."""
    device.push(_PERMUTED)
    left = through(device, [datagram(octet, tos=octet, version=version) for octet in octets])
    wrong = [
        octet for octet in octets if octet not in left or tos_of(left[octet]) != _moved(octet >> 2) << 2 | octet & 3
    ]
    if version == 4:
        wrong += [octet for octet, frame in left.items() if not header_checksum_is_right(frame)]
    said = f"{len(octets) - len(set(wrong))} of {len(octets)} IPv{version} octets as asked"
    return judged(not wrong, said + (f", the first that isn't: {wrong[0]:#04x}" if wrong else ""))


@check(
    "RFC 2474", "3", Level.MUST, "behaviours are chosen by all six bits of the code point, any value to any behaviour"
)
def each_code_point_chooses_its_behaviour(device: Device) -> Finding:
    """64 code points, each with a mark of its own."""
    return _permuted(device, range(0, 256, 4))


@check("RFC 2474", "3", Level.MUST, "the two bits beside the code point neither choose a behaviour nor change with it")
def bits_beside_the_code_point_do_not_count(device: Device) -> Finding:
    return _permuted(device, range(256))


@check("RFC 2474", "3", Level.MUST, "IPv6's traffic class is the DS field just as IPv4's ToS octet is")
def ipv6_has_the_same_field(device: Device) -> Finding:
    return _permuted(device, range(256), version=6)


@check("RFC 2474", "3", Level.SHOULD, "a packet with an unknown code point is forwarded, its code point unchanged")
def unknown_code_points_pass_unchanged(device: Device) -> Finding:
    """A policy that knows EF and AF41 only, which it marks anew."""
    device.push(
        CONNECTED
        + "actions: [{name: one, set-dscp: 1}]\n"
        + "behaviour-aggregates: [{name: ef, dscp: EF, actions: [one]}, {name: af41, dscp: AF41, actions: [one]}]\n"
    )
    unknown = [each for each in _CODE_POINTS if each not in (46, 34)]
    frames = {each | version << 8: datagram(each | version << 8, tos=each << 2, version=version)
              for version in (4, 6) for each in unknown}  # fmt: skip
    left = through(device, frames.values())
    same = sum(left.get(number) == frame for number, frame in frames.items())
    return judged(same == len(frames), f"{same} of {len(frames)} packets left as they came")


@check("RFC 2474", "4", Level.SHOULD, "an unknown code point is served like the default behaviour", needs=_QUEUES)
def unknown_code_points_share_the_default_queue(device: Device) -> Finding:
    """Behind a known one they leave in the order in which they came, among packets of the default behaviour."""
    device.push(by_level([46]))
    octets = [0, 1, 0, 63, 0, 22, 0, 35, 46, 0]
    found = order(device, [datagram(number, tos=each << 2) for number, each in enumerate(octets)])
    wanted = [8, 0, 1, 2, 3, 4, 5, 6, 7, 9]
    return judged(found == wanted, f"order {found}, by arrival behind the one known packet would be {wanted}")


@check(
    "RFC 2474", "4.1", Level.MUST, "there is a default behaviour: what nothing says anything of is forwarded in order"
)
def there_is_a_default_behaviour(device: Device) -> Finding:
    device.push(CONNECTED)
    frames = {number: datagram(number, version=4 if number % 2 else 6) for number in range(40)}
    left = through(device, frames.values())
    return judged(list(left.items()) == list(frames.items()), f"{len(left)} of {len(frames)} packets left, in order")


@check(
    "RFC 2474", "4.2.2.2", Level.SHOULD, "a larger class selector is forwarded no later than a smaller", needs=_QUEUES
)
def class_selectors_are_served_in_order(device: Device) -> Finding:
    """Three packets of each of the eight, the smallest first."""
    device.push(by_level(_CLASS_SELECTORS[:0:-1]))
    sent = [each for each in _CLASS_SELECTORS for _ in range(3)]
    left = order(device, [datagram(number, tos=each << 2) for number, each in enumerate(sent)])
    found = [sent[number] >> 3 for number in left]
    wanted = sorted((each >> 3 for each in sent), reverse=True)
    return judged(found == wanted, f"class selectors left in the order {''.join(map(str, found))}")


_TWO_CLASSES = (
    CONNECTED
    + "classes: [{name: one}]\nactions: [{name: to-one, class: one}]\n"
    + "behaviour-aggregates: [{name: cs1, dscp: CS1, actions: [to-one]}]\n"
    + "queueing:\n  - port: line\n    schedule:\n      kind: classes\n      queues:\n"
    + "        - {class: one, bandwidth: {percent: 50}, queue-limit: 20}\n"
    + "        - {class: class-default, queue-limit: 20}\n"
)
_LINE_BPS = 1_000_000


@check("RFC 2474", "4.2.2.2", Level.MUST, "class selectors make two classes that do not hurt each other", virtual=True)
def class_selectors_make_independent_classes(device: Device) -> Finding:
    """CS1 and CS0 have half a line each; in turn one sends five times the line, the other four fifths of its half."""
    losses = {}
    for greedy, modest in ((0x00, 0x20), (0x20, 0x00)):
        device.reset()
        device.push(_TWO_CLASSES)
        arrivals = together(
            steady(datagram(tos=greedy, size=1250), 5 * _LINE_BPS, 2), steady(datagram(tos=modest), 0.4 * _LINE_BPS, 2)
        )
        served = serve(device, arrivals, _LINE_BPS)
        losses[greedy] = (served[greedy].loss, served[modest].loss)
    said = "; ".join(f"greedy CS{octet >> 5} loses {one:.1%}, the other class {other:.1%}"
                     for octet, (one, other) in losses.items())  # fmt: skip
    return judged(all(one > 0.5 and other == 0 for one, other in losses.values()), said)


@check("RFC 2474", "4.2.2.2", Level.MUST, "CS6 and CS7, routing's own, are preferred to the default", needs=_QUEUES)
def routing_is_preferred(device: Device) -> Finding:
    """They come last and leave first."""
    device.push(by_level([56, 48]))
    octets = [0, 0, 0, 0, 48 << 2, 0, 56 << 2, 48 << 2]
    left = order(device, [datagram(number, tos=octet) for number, octet in enumerate(octets)])
    found = [octets[number] >> 5 for number in left]
    return judged(found == [7, 6, 6, 0, 0, 0, 0, 0], f"class selectors left in the order {''.join(map(str, found))}")


@check("RFC 2474", "3", Level.MUST, "which behaviour a code point means can be configured, and configured anew")
def the_mapping_can_be_configured(device: Device) -> Finding:
    """One code point is given a behaviour, then another one; then a second code point has the same behaviour."""
    actions = CONNECTED + "actions: [{name: to-11, set-dscp: 11}, {name: to-13, set-dscp: 13}]\n"
    found = []
    for mapping in ({5: 11}, {5: 13}, {5: 13, 61: 13}, {}):
        rows = "".join(f"  - {{name: from-{one}, dscp: {one}, actions: [to-{to}]}}\n" for one, to in mapping.items())
        device.push(actions + (f"behaviour-aggregates:\n{rows}" if rows else ""))
        left = through(device, [datagram(each, tos=each << 2) for each in (5, 61)])
        found.append([tos_of(frame) >> 2 for frame in left.values()])
    wanted = [[11, 61], [13, 61], [13, 13], [5, 61]]
    return judged(found == wanted, f"code points 5 and 61 became {found}")


@check("RFC 2474", "7.1", Level.MUST, "a boundary node sets code points by where packets come from and what they are")
def a_boundary_sets_code_points(device: Device) -> Finding:
    """EF that a customer claims becomes the default; calls by their ports become EF; other bits stay."""
    device.push(
        CONNECTED
        + "actions: [{name: call, set-dscp: EF}, {name: rest, set-dscp: CS0}]\n"
        + "rules:\n"
        + "  - {name: calls, match: {ingress-port: lan, protocol: udp, source-ports: 16384-32767}, actions: [call]}\n"
        + "  - {name: others, match: {ingress-port: lan}, actions: [rest]}\n"
    )
    wrong = []
    for version in (4, 6):
        for source_port, octet, wanted in ((20000, 0x03, 0xBB), (20000, 0xB8, 0xB8), (80, 0xB9, 0x01), (80, 0x00, 0)):
            left = through(device, [datagram(1, tos=octet, version=version, source_port=source_port)])
            if left != {1: datagram(1, tos=wanted, version=version, source_port=source_port)}:
                wrong.append(f"IPv{version} {octet:#04x} of port {source_port}")
    inside = datagram(1, tos=0xB8, source_port=80)
    if device.exchange(OUT, inside) != [(IN, inside)]:
        wrong.append("what comes from inside")
    return judged(not wrong, f"not as asked: {', '.join(wrong)}" if wrong else "9 kinds of packets as asked")
