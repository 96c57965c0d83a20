"""Queueing statements of interfaces and of output policies -> the queueing of ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from phb.errors import InputError
from phb.formats.ios.building.attachments import Attachment, whole_rate
from phb.formats.ios.building.early_detection import early_detection
from phb.formats.ios.building.ports import bits_per_second, is_port, length_basis, maybe_bandwidth, rate, rate_basis
from phb.formats.ios.building.queue_limits import limit_in_packets
from phb.formats.ios.building.shapers import build_shaper
from phb.formats.ios.building.subinterfaces import groups
from phb.formats.ios.configuration import Amount, Configuration, FlowFairness, Interface, PolicyClass
from phb.model import (
    DEFAULT_CLASS,
    Bandwidth,
    ClassBased,
    ClassQueue,
    Dialect,
    FairQueue,
    Fifo,
    FlowQueueing,
    Queueing,
)
from phb.origin import Origin

# "hold-queue" in the Cisco IOS Interface Command Reference: 40 packets out. `show interfaces` prints a maximum of 1000
# for weighted fair queueing, with classes or without; for 11.3 none is documented.
FIFO_HOLD_QUEUE, FAIR_HOLD_QUEUE = 40, 1000

# "fair-queue (WFQ)" in the Cisco IOS Quality of Service Solutions Command Reference: the threshold, and the dynamic
# queues that an interface has up to a bandwidth in kbit/s. 11.3 had 256 on all of them.
THRESHOLD = 64
DYNAMIC_QUEUES = ((64, 16), (128, 32), (256, 64), (512, 128))
MOST_DYNAMIC_QUEUES = 256

# "Weighted Fair Queueing" in the Cisco IOS Quality of Service Solutions Configuration Guide, and the source: it is on
# by default on serial lines up to 2.048 Mbit/s.
FAIR_BY_DEFAULT, FAIR_UP_TO = ("Async", "BRI", "Serial"), 2_048_000

# "queue-limit": 64 packets. "Hierarchical Queueing Framework" (Cisco white paper C11-481499): `fair-queue` in a class
# has 16 queues, each of a quarter of the class's limit.
QUEUE_LIMIT = 64
HQF_QUEUES, HQF_SHARE = 16, 4

# "max-reserved-bandwidth": classes may have 75 % of the bandwidth; HQF lets them have all of it.
RESERVED_PERCENT = {Dialect.IOS_11_3: 75, Dialect.IOS_12: 75, Dialect.IOS_HQF: 100}


def build_queueing(configuration: Configuration, attached: Sequence[Attachment]) -> list[Queueing]:
    """Give one statement for each interface that says how it queues, or queues fairly by default.

    Raises:
        InputError: Two ways to queue at one interface, or classes that IOS would refuse.
    """
    outputs = {each.interface.name: each for each in attached if each.direction == "output" and _queues(each)}
    result = []
    for group in groups(configuration):
        if not group or not is_port(group[0]):
            continue
        interface = group[0]
        queued = [outputs[each.name] for each in group if each.name in outputs]
        attachment = queued[0] if queued else None
        with configuration.collecting(*(each.interface for each in queued)):
            _check_whole_port(group, queued)
        with configuration.collecting(interface, *(() if attachment is None else attachment.policy_maps)):
            built = (
                _of_interface(configuration.dialect, interface)
                if attachment is None
                else _of_policy(configuration, interface, attachment)
            )
            if built is not None:
                result.append(built)
    return result


def _check_whole_port(group: Sequence[Interface], queued: Sequence[Attachment]) -> None:
    """Refuse queues of a subinterface where other packets leave by its port, too."""
    main = group[0]
    for each in queued:
        others = [other.name for other in group[1:] if other is not each.interface]
        others += [main.name] if main.address is not None else []
        if each.interface is not main and others:
            raise InputError(
                each.origin,
                f"queues or a shaper for {each.interface.name}, while other packets leave by {', '.join(others)}",
                f"only marks and policers there, or it on {main.name}: phb queues and shapes ports, not VLANs",
            )


def _queues(attachment: Attachment) -> bool:
    return attachment.shaper is not None or any(each.queues for each in attachment.classes.classes.values())


# ---------------------------------------------------------------------------
# Without classes
# ---------------------------------------------------------------------------


def _of_interface(dialect: Dialect, interface: Interface) -> Queueing | None:
    fair, said = interface.fair_queue, (interface.hold_queue, interface.random_detect, interface.shape)
    origins: dict[str, Origin] = {}
    given: dict[str, Any] = {"port": interface.name, "length_basis": length_basis(interface)}
    if fair is None and fair_by_default(interface):
        fair = FlowFairness(interface.origin)
    if fair is None and interface.shape is not None:
        # Packets that wait for a shaper are queued fairly ("traffic-shape rate").
        fair = FlowFairness(interface.shape.origin)
    if isinstance(fair, FlowFairness):
        if interface.random_detect is not None:
            raise InputError(
                interface.random_detect.origin, "'random-detect' beside 'fair-queue'", f"one of them; see {fair.origin}"
            )
        flows = _flows(dialect, interface, fair)
        given["schedule"] = FairQueue.model_validate({"kind": "fair-queue", **flows}).at(fair.origin)
        origins["schedule"] = fair.origin
        hold_queue = None if dialect is Dialect.IOS_11_3 else FAIR_HOLD_QUEUE
    elif fair is False or any(part is not None for part in said):
        given["schedule"], hold_queue = Fifo(kind="fifo"), FIFO_HOLD_QUEUE
    else:
        return None
    given["hold_queue"] = hold_queue
    if interface.hold_queue is not None:
        given["hold_queue"], origins["hold_queue"] = interface.hold_queue
    if interface.random_detect is not None:
        given["early_detection"] = early_detection(interface.random_detect)
        origins["early_detection"] = interface.random_detect.origin
    if interface.shape is not None:
        given["shaper"] = build_shaper(interface.shape, interface, dialect)
        origins["shaper"] = interface.shape.origin
    return Queueing.model_validate(given).at(interface.origin, origins)


def fair_by_default(interface: Interface) -> bool:
    """Whether an interface that says nothing queues fairly: a slow serial one."""
    bandwidth = maybe_bandwidth(interface)
    slow = interface.kind in FAIR_BY_DEFAULT and bandwidth is not None and bandwidth <= FAIR_UP_TO
    return slow and interface.random_detect is None


def _flows(dialect: Dialect, interface: Interface, fair: FlowFairness) -> dict[str, Any]:
    return {
        "dialect": dialect,
        "congestive_discard_threshold": fair.threshold or THRESHOLD,
        "dynamic_conversations": fair.conversations or _dynamic_queues(dialect, interface),
        "reservable": fair.reservable,
    }


def _dynamic_queues(dialect: Dialect, interface: Interface) -> int:
    bandwidth = maybe_bandwidth(interface)
    if dialect is not Dialect.IOS_11_3 and bandwidth is not None:
        for kilobits, queues in DYNAMIC_QUEUES:
            if bandwidth <= kilobits * 1000:
                return queues
    return MOST_DYNAMIC_QUEUES


# ---------------------------------------------------------------------------
# With classes
# ---------------------------------------------------------------------------


def _of_policy(configuration: Configuration, interface: Interface, attachment: Attachment) -> Queueing:
    dialect = configuration.dialect
    for name, part in (
        ("fair-queue", interface.fair_queue or None),
        ("random-detect", interface.random_detect),
        ("traffic-shape", interface.shape),
    ):
        if part is not None and part is not True:
            found = f"'{name}' beside policy map '{attachment.policy_map.name}', which queues"
            raise InputError(part.origin, found, f"one of them; the policy map is at {attachment.origin}")
    _check_shares(dialect, attachment)
    classes = sorted(attachment.classes.classes.values(), key=lambda each: each.name == DEFAULT_CLASS)
    queued = [each for each in classes if each.queues and each.name != DEFAULT_CLASS]
    last = attachment.classes.classes.get(DEFAULT_CLASS) or PolicyClass(DEFAULT_CLASS, attachment.classes.origin)
    queues = [
        _queue(dialect, attachment, each, limit_in_packets(configuration, attachment, each)) for each in (*queued, last)
    ]
    origins = {"schedule": attachment.classes.origin, "port": attachment.origin}
    given: dict[str, Any] = {
        "port": interface.name,
        "schedule": ClassBased(kind="classes", queues=tuple(queues)).at(attachment.classes.origin),
        "hold_queue": FAIR_HOLD_QUEUE,
        "length_basis": length_basis(interface),
    }
    if interface.hold_queue is not None:
        given["hold_queue"], origins["hold_queue"] = interface.hold_queue
    if attachment.shaper is not None and attachment.shaper.shape is not None:
        given["shaper"] = build_shaper(attachment.shaper.shape, interface, dialect)
        origins["shaper"] = attachment.shaper.shape.origin
    return Queueing.model_validate(given).at(attachment.origin, origins)


def _queue(dialect: Dialect, attachment: Attachment, each: PolicyClass, limit: int | None) -> ClassQueue:
    interface = attachment.interface
    given: dict[str, Any] = {"traffic_class": each.name}
    if each.priority is not None:
        _alone(each)
        given |= {"level": each.priority.level, "queue_limit": limit or QUEUE_LIMIT}
        return ClassQueue.model_validate(given).at(each.origin, {"level": each.priority.origin})
    if each.share is not None:
        given["bandwidth"] = _bandwidth(interface, each)
    elif dialect is Dialect.IOS_12 and each.name != DEFAULT_CLASS:
        found = f"class '{each.name}' with a queue, but without 'bandwidth' or 'priority'"
        raise InputError(each.origin, found, "one of them: before HQF only such classes have a queue")
    fair = each.fair_queue
    if fair is None and dialect is Dialect.IOS_12 and each.share is None:
        # "Class-Based Weighted Fair Queueing" in the Cisco IOS Quality of Service Solutions Configuration Guide:
        # class-default without a bandwidth is served flow by flow.
        fair = FlowFairness(each.origin)
    if fair is not None and dialect is Dialect.IOS_HQF:
        given["queue_limit"] = limit or QUEUE_LIMIT
        threshold = max(1, given["queue_limit"] // HQF_SHARE)
        fair = FlowFairness(fair.origin, threshold, fair.conversations or HQF_QUEUES)
    elif fair is not None:
        # Before HQF the limit is that of each conversation ("queue-limit").
        fair = FlowFairness(fair.origin, limit or THRESHOLD, fair.conversations)
    elif limit is not None or each.random_detect is None or dialect is Dialect.IOS_HQF:
        # Before HQF a class with early detection has no other limit ("random-detect").
        given["queue_limit"] = limit or QUEUE_LIMIT
    if fair is not None:
        given["fair_queue"] = FlowQueueing.model_validate(_flows(dialect, interface, fair)).at(fair.origin)
    if each.random_detect is not None:
        given["early_detection"] = early_detection(each.random_detect)
    if each.shape is not None:
        amount = each.shape.rate
        if amount.percent is not None:
            amount = Amount(bits_per_second(amount, whole_rate(attachment, each.shape.origin)))
        given["shaper"] = build_shaper(replace(each.shape, rate=amount), interface, dialect)
    return ClassQueue.model_validate(given).at(each.origin)


def _alone(each: PolicyClass) -> None:
    for name, part in (
        ("bandwidth", each.share),
        ("fair-queue", each.fair_queue),
        ("random-detect", each.random_detect),
        ("shape", each.shape),
    ):
        if part is not None:
            raise InputError(part.origin, f"'{name}' beside 'priority' in class '{each.name}'", "one of them")


def _bandwidth(interface: Interface, each: PolicyClass) -> Bandwidth:
    share = each.share
    assert share is not None
    if share.remaining_percent is not None:
        built = Bandwidth(remaining_percent=share.remaining_percent)
    elif share.remaining_ratio is not None:
        built = Bandwidth(weight=share.remaining_ratio)
    elif share.amount is not None and share.amount.percent is not None:
        built = Bandwidth(percent=share.amount.percent)
    else:
        assert share.amount is not None
        built = Bandwidth(rate=rate(share.amount.bits_per_second or 0, rate_basis(interface)))
    return built.at(share.origin)


def _check_shares(dialect: Dialect, attachment: Attachment) -> None:
    """Refuse shares as IOS does when a policy map is put on an interface: of two kinds, or more than there is."""
    shares = [each.share for each in attachment.classes.classes.values() if each.share is not None]
    kinds = {_kind(share.amount, share.remaining_percent): share for share in shares}
    if len(kinds) > 1:
        (one, first), (other, second) = list(kinds.items())[:2]
        raise InputError(second.origin, f"bandwidth in {other}", f"it in {one} as at {first.origin}")
    amounts = [(share.amount, share.origin) for share in shares if share.amount is not None]
    amounts += [
        (each.priority.rate, each.priority.origin)
        for each in attachment.classes.classes.values()
        if each.priority is not None and each.priority.rate is not None
    ]
    if not amounts:
        return
    if maybe_bandwidth(attachment.interface) is None and all(amount.percent is None for amount, _ in amounts):
        # Without the interface's bandwidth the sum can't be checked.
        return
    whole = whole_rate(attachment, amounts[0][1])
    percent = RESERVED_PERCENT[dialect]
    if dialect is not Dialect.IOS_HQF and attachment.interface.reserved_percent is not None:
        percent = attachment.interface.reserved_percent
    used, available = 0, Decimal(whole) * percent / 100
    for amount, origin in sorted(amounts, key=lambda each: each[1].line):
        bits = bits_per_second(amount, whole)
        used += bits
        if used > available:
            raise InputError(
                origin,
                f"{bits // 1000} kbit/s for a class at {attachment.interface.name}",
                f"at most the {(available - used + bits) / 1000:f} kbit/s that are left of {percent} % of "
                f"{whole // 1000} kbit/s",
            )


def _kind(amount: object, remaining_percent: int | None) -> str:
    if amount is None:
        return "a ratio of what remains" if remaining_percent is None else "percent of what remains"
    return "percent" if getattr(amount, "percent", None) is not None else "kbit/s"
