"""Capabilities of queues: frames wait behind a held port, and then their order and number are seen."""

from __future__ import annotations

from itertools import chain

from phb.pipeline_names import DropReason
from phb.targets import Capability
from phb_conform.capabilities.probe import EVERYTHING, PLUG, Probed, datagram, number_of, probe, target_of
from phb_device import CONNECTED, Device

_ALL_PORTS = "queueing: [{port: line, schedule: "
_FLOWS, _EACH = 4, 12
_LEVELS = 7
_MANY = 200
_PRIVATE, _POOL, _HOLES = 1_100, 4_000, 2


def _order(device: Device, frames: list[bytes]) -> list[int]:
    return [number_of(frame) for frame in device.batch(PLUG, frames)]


def _early(found: list[int], exact: list[int]) -> int:
    """Count those that left before one that was due earlier."""
    due = [exact.index(number) for number in found]
    return sum(any(later < place for later in due[number:]) for number, place in enumerate(due))


def _judge(found: list[int], exact: list[int], what: str) -> Probed:
    if found == exact:
        return Probed(True, f"{what}: {len(exact)} packets in exact order")
    if found == sorted(found):
        return Probed(False, f"{what}: {len(found)} packets left in the order of arrival")
    early, by_arrival = _early(found, exact), _early(sorted(found), exact)
    said = f"{what}: {early} of {len(found)} packets left before one that was due earlier; {by_arrival} by arrival"
    return Probed(early < by_arrival, said, approximate=early < by_arrival)


def _classified(names: list[str]) -> str:
    """Return a policy that puts flow i into the class of the i-th name."""
    rules = [
        f"  - {{name: {name}, match: {{egress-port: line, destination-ports: {5000 + flow}}}, actions: [{name}]}}\n"
        for flow, name in enumerate(names)
    ]
    classes = ", ".join(f"{{name: {name}}}" for name in names)
    actions = ", ".join(f"{{name: {name}, class: {name}}}" for name in names)
    return f"{CONNECTED}classes: [{classes}]\nactions: [{actions}]\nrules:\n{''.join(rules)}"


@probe(Capability.FLOW_QUEUEING)
def flow_queueing(device: Device) -> Probed:
    """Flows of several precedences leave by the tags of their weights."""
    policy = CONNECTED + _ALL_PORTS + "{kind: fair-queue, dialect: ios-11.3}, hold-queue: 64}]\n"
    device.push(policy, target=target_of(device))
    frames: list[bytes] = []
    tags: list[tuple[int, int]] = []
    for count in range(1, _EACH + 1):
        for flow in range(_FLOWS):
            precedence = 2 * flow
            number = len(frames)
            frames.append(datagram(number, flow=flow, tos=precedence << 5))
            # All flows begin at the plug's tag, and their packets are of one size.
            tags.append((4096 // (precedence + 1) * count, number))
    return _judge(_order(device, frames), [number for _, number in sorted(tags)], f"{_FLOWS} flows")


@probe(Capability.BANDWIDTH_SHARES)
def bandwidth_shares(device: Device) -> Probed:
    """Classes with shares of 1 : 2 : 4 are served in them while all have packets waiting."""
    shares = (1, 2, 4)
    names = [f"share{share}" for share in shares]
    policy = _classified(names)
    queues = ", ".join(f"{{class: share{share}, bandwidth: {{weight: {share}}}}}" for share in shares)
    policy += _ALL_PORTS + f"{{kind: classes, queues: [{queues}]}}, hold-queue: 64}}]\n"
    device.push(policy, target=target_of(device))
    frames = [datagram(flow * _EACH + count, flow=flow) for count in range(_EACH) for flow in range(len(shares))]
    found = _order(device, frames)
    # Until the largest share has been served whole: 3, 6, 12 packets, each up to one more or less.
    first = found[: _EACH * sum(shares) // max(shares)]
    served = [sum(number // _EACH == flow for number in first) for flow in range(len(shares))]
    wanted = [_EACH * share // max(shares) for share in shares]
    off = [abs(is_ - should) for is_, should in zip(served, wanted, strict=True)]
    # Packets come in turn: by their order each class has as many.
    nearer = sum(off) < sum(abs(len(first) // len(shares) - should) for should in wanted)
    said = f"shares of 1:2:4 were served {':'.join(map(str, served))} packets of the first {len(first)}"
    return Probed(nearer, said, approximate=nearer and max(off) > 1)


@probe(Capability.STRICT_LEVELS)
def strict_levels(device: Device) -> Probed:
    """Packets that arrive from the lowest level to the highest leave from the highest to the lowest."""
    names = [f"level{level}" for level in range(_LEVELS)]
    policy = _classified(names)
    queues = ", ".join(f"{{class: level{level}, level: {level}}}" for level in range(_LEVELS))
    device.push(policy + _ALL_PORTS + f"{{kind: classes, queues: [{queues}]}}}}]\n", target=EVERYTHING)
    # Packets that no rule takes are of the lowest: class-default.
    by_level = {
        level: [datagram((_LEVELS - level) * _EACH + count, flow=level) for count in range(_EACH)]
        for level in range(_LEVELS + 1)
    }
    arrivals = list(chain.from_iterable(by_level[level] for level in reversed(by_level)))
    exact = [number_of(frame) for level in by_level for frame in by_level[level]]
    probed = _judge(_order(device, arrivals), exact, f"{_LEVELS} levels and a class without one")
    exact_order = probed.supported and not probed.approximate
    return Probed(exact_order, probed.measured, _LEVELS if exact_order else None)


@probe(Capability.QUEUE_LIMITS)
def queue_limits(device: Device) -> Probed:
    """A hold queue keeps its length; without one a queue may grow until the switch drops by itself."""
    device.push(CONNECTED + _ALL_PORTS + "{kind: fifo}, hold-queue: 10}]\n", target=EVERYTHING)
    kept = len(_order(device, [datagram(number) for number in range(_MANY)]))
    counted = device.counter("drops", [DropReason.HOLD_QUEUE]).get(DropReason.HOLD_QUEUE, (0, 0))[0]
    device.reset()
    device.push(CONNECTED, target=EVERYTHING)
    most = len(_order(device, [datagram(number) for number in range(_MANY)]))
    said = f"a limit of 10 kept {kept} of {_MANY} packets and counted {counted} drops; without a limit {most} were kept"
    return Probed(kept == 10 and counted == _MANY - 10, said, most if most < _MANY else None)


@probe(Capability.PUSH_OUT)
def push_out(device: Device) -> Probed:
    """A full hold queue keeps the most urgent packets, which here come last."""
    policy = _classified(["urgent"])
    queues = "[{class: urgent, level: 0}]"
    device.push(
        policy + _ALL_PORTS + f"{{kind: classes, queues: {queues}}}, hold-queue: 10, push-out: true}}]\n",
        target=EVERYTHING,
    )
    kept = _order(device, [datagram(number, flow=0 if number >= 15 else 1) for number in range(20)])
    pushed = device.counter("drops", [DropReason.PUSHED_OUT]).get(DropReason.PUSHED_OUT, (0, 0))[0]
    urgent = sum(number >= 15 for number in kept)
    said = (
        f"a hold queue of 10 kept {urgent} of the 5 urgent ones that came last and {len(kept) - urgent} of 15 others, "
        f"and counted {pushed} pushed out"
    )
    return Probed((urgent, len(kept), pushed) == (5, 10, 10), said)


@probe(Capability.CLASS_SHAPING)
def class_shaping(device: Device) -> Probed:
    """Packets of a shaped class wait for its tokens, and others that came later go before them."""
    policy = _classified(["held"])
    queues = "[{class: held, shaper: {rate: {value: 100, unit: bit/s, basis: ethernet}}}]"
    device.push(policy + _ALL_PORTS + f"{{kind: classes, queues: {queues}}}, hold-queue: 64}}]\n", target=EVERYTHING)
    left = _order(device, [datagram(number, flow=number // 4) for number in range(8)])
    last = max((place for place, number in enumerate(left) if number >= 4), default=0)
    held = sum(number < 4 for number in left[last:])
    said = (
        f"of a class shaped to 100 bit/s {sum(number < 4 for number in left)} packets left, "
        f"{held} of them after the 4 of another class that had come later"
    )
    return Probed(held == 4, said)


@probe(Capability.EARLY_DETECTION)
def early_detection(device: Device) -> Probed:
    """Nothing is dropped while the average is below the minimum, everything from the maximum on."""
    detection = "early-detection: {average-weight: 1, profiles: [{minimum: 10, maximum: 11}]}"
    device.push(CONNECTED + _ALL_PORTS + f"{{kind: fifo}}, hold-queue: 64, {detection}}}]\n", target=EVERYTHING)
    kept = _order(device, [datagram(number) for number in range(40)])
    dropped = device.counter("drops", [DropReason.WRED]).get(DropReason.WRED, (0, 0))[0]
    # Half of each step: with i packets queued the average is i - 1 and less than a thousandth. It is 11 at the 13th.
    holds = kept == list(range(12)) and dropped == 28
    return Probed(holds, f"thresholds of 10 and 11 packets kept {len(kept)} of 40 and counted {dropped} early drops")


@probe(Capability.BUFFERS)
def buffers(device: Device) -> Probed:
    """A private buffer and half of the rest of the pool hold as many bytes as they should."""
    policy = CONNECTED + "actions: [{name: own}]\nrules: [{name: own, match: {egress-port: line}, actions: [own]}]\n"
    limits = f"buffers: {{shared-bytes: {_POOL}, holes: {_HOLES}, private: [{{action: own, bytes: {_PRIVATE}}}]}}"
    device.push(policy + _ALL_PORTS + f"{{kind: fifo}}, hold-queue: 64, {limits}}}]\n", target=EVERYTHING)
    kept = len(_order(device, [datagram(number, size=200) for number in range(40)]))
    dropped = device.counter("drops", [DropReason.NO_BUFFER]).get(DropReason.NO_BUFFER, (0, 0))[0]
    wanted = _packets_kept(200)
    # A packet-out counts with its two bytes of header, and the sizes are such that it makes no difference.
    assert wanted == _packets_kept(202)
    said = f"{_PRIVATE:,} bytes and half of the rest of {_POOL:,} held {kept} packets of 200 bytes"
    return Probed(kept == wanted and dropped == 40 - wanted, f"{said}; {dropped} drops counted")


def _packets_kept(size: int) -> int:
    """Count packets that find room: in the private buffer as far as it goes, the rest in the pool (p4src/buffer.p4)."""
    private = shared = kept = 0
    while True:
        own = min(size, _PRIVATE - private)
        if (shared + size - own) * _HOLES > _POOL - shared:
            return kept
        private, shared, kept = private + own, shared + size - own, kept + 1
