"""Scheduler policies: queues by priority and weight, shapers, policers; and profiles of early detection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import gcd

from phb.formats.openconfig.classifiers import REMARKS, remark
from phb.formats.openconfig.tree import Node
from phb.model import (
    Bandwidth,
    DropProfile,
    EarlyDetection,
    Meter,
    MeterKind,
    Rate,
    RateBasis,
    RateUnit,
    Shaper,
    Treatment,
)
from phb.model.scheduling import MOST_BURST_BYTES
from phb.notice import Notice
from phb.origin import Origin

FRAME_BYTES = 1514
"""What a packet of a threshold in bytes is taken for: a full Ethernet frame, without its check sequence."""
MOST_PACKETS = 4096
"""The most packets of average queue that early detection can ask for."""
MOST_WEIGHT = 1000
QUEUE_PACKETS = 64
"""How many packets a queue holds of which nothing else is said. The model leaves it open; so none takes all room."""


@dataclass(frozen=True)
class Input:
    """A queue that a scheduler serves."""

    queue: Node
    weight: int
    origin: Origin


@dataclass(frozen=True)
class Scheduler:
    """One scheduler of a policy; without inputs it is the whole port's.

    Attributes:
        sequence: Lower ones are first.
        behaviour: ``SHAPE`` or ``POLICE``; None where there is no rate.
    """

    sequence: int
    origin: Origin
    strict: bool = False
    inputs: Sequence[Input] = ()
    behaviour: str | None = None
    shaper: Shaper | None = None
    depth: int | None = None
    meter: Meter | None = None


@dataclass(frozen=True)
class Policy:
    """A scheduler policy."""

    name: str
    origin: Origin
    schedulers: Sequence[Scheduler] = field(default_factory=tuple)

    @property
    def port_shaper(self) -> Scheduler | None:
        """The scheduler that shapes the whole port."""
        found = (each for each in self.schedulers if not each.inputs and each.behaviour != "POLICE")
        return next(found, None)


def read_policies(node: Node | None) -> dict[str, Policy]:
    """Read the container ``scheduler-policies``."""
    if node is None:
        return {}
    return {name: _policy(name, each) for name, each in node.list_of("scheduler-policy", "name")}


def _policy(name: str, node: Node) -> Policy:
    members = node.container("name", "config", "schedulers")
    if "config" in members:
        members["config"].container("name")
    listed = members["schedulers"].list_of("scheduler", "sequence") if "schedulers" in members else ()
    schedulers = sorted((_scheduler(each) for _, each in listed), key=lambda scheduler: scheduler.sequence)
    return Policy(name, node.origin, schedulers)


def _scheduler(node: Node) -> Scheduler:
    members = node.container("sequence", "config", "inputs", "one-rate-two-color", "two-rate-three-color", "output")
    config = members["config"].container("sequence", "type", "priority") if "config" in members else {}
    kind = config["type"].word("ONE_RATE_TWO_COLOR", "TWO_RATE_THREE_COLOR") if "type" in config else None
    if "priority" in config:
        config["priority"].word("STRICT")
    if "output" in members:
        for leaf in members["output"].config("output-type").values():
            leaf.word("INTERFACE")
    sequence = members["sequence"].number(0, 2**32 - 1)
    listed = members["inputs"].list_of("input", "id") if "inputs" in members else ()
    inputs = [_input(name, each) for name, each in listed]
    one, two = members.get("one-rate-two-color"), members.get("two-rate-three-color")
    if one is not None and two is not None:
        raise two.wrong("one of them", "both 'one-rate-two-color' and 'two-rate-three-color'")
    for meter, its_kind in ((one, "ONE_RATE_TWO_COLOR"), (two, "TWO_RATE_THREE_COLOR")):
        if meter is not None and kind not in (None, its_kind):
            raise meter.wrong(its_kind, f"'{meter.path}' of a scheduler of type {kind}")
    strict = "priority" in config
    if two is not None:
        return Scheduler(sequence, node.origin, strict, inputs, "POLICE", meter=_two_rates(two))
    if one is None:
        return Scheduler(sequence, node.origin, strict, inputs)
    return _one_rate(one, Scheduler(sequence, node.origin, strict, inputs))


def _input(name: str, node: Node) -> Input:
    members = node.container("id", "config")
    leaves = members["config"].container("id", "input-type", "queue", "weight") if "config" in members else {}
    if "input-type" in leaves:
        leaves["input-type"].word("QUEUE")
    if "queue" not in leaves:
        raise node.wrong("its 'queue'", f"input '{name}' without a queue")
    weight = leaves["weight"].number(1) if "weight" in leaves else 1
    return Input(leaves["queue"], weight, node.origin)


def _rate(node: Node) -> Rate:
    return Rate(value=Decimal(node.number(1, 10**12)), unit=RateUnit.BIT, basis=RateBasis.ETHERNET)


def _treatment(node: Node | None, known: Sequence[str]) -> Treatment:
    if node is None:
        return Treatment()
    leaves = node.config(*known)
    if "drop" in leaves and leaves["drop"].flag():
        marks = remark(leaves).as_fields()
        if marks:
            raise leaves["drop"].wrong("'drop' alone", "packets that are dropped and marked")
        return Treatment(drop=True).at(node.origin)
    return Treatment(**remark(leaves).as_fields()).at(node.origin)


def _one_rate(node: Node, found: Scheduler) -> Scheduler:
    members = node.container("config", "conform-action", "exceed-action")
    known = ("cir", "bc", "queuing-behavior", "max-queue-depth-packets", "overhead")
    leaves = members["config"].container(*known) if "config" in members else {}
    behaviour = leaves["queuing-behavior"].word("SHAPE", "POLICE") if "queuing-behavior" in leaves else "SHAPE"
    burst = leaves["bc"].number(0, MOST_BURST_BYTES) if "bc" in leaves else None
    if behaviour == "POLICE":
        for name in ("max-queue-depth-packets", "overhead"):
            if name in leaves:
                raise leaves[name].wrong("it with SHAPE only", f"'{name}' of a policer")
        meter = _single_rate(node, leaves, burst, members)
        return Scheduler(found.sequence, found.origin, found.strict, found.inputs, behaviour, meter=meter)
    for name in ("conform-action", "exceed-action"):
        if name in members:
            raise members[name].wrong("it with POLICE only", f"'{name}' of a shaper")
    depth = leaves["max-queue-depth-packets"].number(1, MOST_PACKETS) if "max-queue-depth-packets" in leaves else None
    shaper = None
    if "cir" in leaves:
        shaper = Shaper(rate=_shaped(leaves), burst_bytes=burst or None).at(leaves["cir"].origin)
    return Scheduler(found.sequence, found.origin, found.strict, found.inputs, behaviour, shaper, depth)


_OVERHEADS = {-basis.left_out: basis for basis in (RateBasis.ETHERNET, RateBasis.IP, RateBasis.PPP)}


def _shaped(leaves: dict[str, Node]) -> Rate:
    rate = _rate(leaves["cir"])
    if "overhead" not in leaves:
        return rate
    basis = _OVERHEADS.get(leaves["overhead"].value) if type(leaves["overhead"].value) is int else None
    if basis is None:
        raise leaves["overhead"].wrong("0, -14 (IP) or -10 (PPP)")
    return rate.model_copy(update={"basis": basis})


def _needed(node: Node, leaves: dict[str, Node], *names: str) -> None:
    for name in names:
        if name not in leaves:
            raise node.wrong(f"its '{name}'", f"a policer without '{name}'")


def _single_rate(node: Node, leaves: dict[str, Node], burst: int | None, members: dict[str, Node]) -> Meter:
    _needed(node, leaves, "cir", "bc")
    return Meter(
        kind=MeterKind.SINGLE_RATE,
        committed_rate=_rate(leaves["cir"]),
        committed_burst_bytes=burst or 0,
        green=_treatment(members.get("conform-action"), REMARKS),
        red=_treatment(members.get("exceed-action"), (*REMARKS, "drop")),
    ).at(node.origin)


def _two_rates(node: Node) -> Meter:
    members = node.container("config", "conform-action", "exceed-action", "violate-action")
    leaves = members["config"].container("cir", "pir", "bc", "be") if "config" in members else {}
    _needed(node, leaves, "cir", "pir", "bc", "be")
    return Meter(
        kind=MeterKind.TWO_RATE,
        committed_rate=_rate(leaves["cir"]),
        committed_burst_bytes=leaves["bc"].number(0, MOST_BURST_BYTES),
        peak_rate=_rate(leaves["pir"]),
        peak_burst_bytes=leaves["be"].number(0, MOST_BURST_BYTES),
        green=_treatment(members.get("conform-action"), REMARKS),
        yellow=_treatment(members.get("exceed-action"), (*REMARKS, "drop")),
        red=_treatment(members.get("violate-action"), (*REMARKS, "drop")),
    ).at(node.origin)


def shares(inputs: Sequence[Input]) -> Iterator[Bandwidth]:
    """Give the weights of weighted queues, in their lowest terms."""
    common = gcd(*(each.weight for each in inputs))
    for each in inputs:
        if each.weight // common > MOST_WEIGHT:
            raise each.queue.wrong(f"at most {MOST_WEIGHT} times the others'", f"a weight of {each.weight}")
        yield Bandwidth(weight=each.weight // common)


@dataclass(frozen=True)
class Profile:
    """A queue management profile: thresholds in packets, or in percent of the queue's limit."""

    origin: Origin
    detects: bool
    minimum: int
    maximum: int
    percent: bool
    denominator: int
    weight: int | None
    ecn: bool

    def limit(self) -> int:
        """Give the packets of a queue of which nothing else is said: enough for the thresholds."""
        return MOST_PACKETS if self.percent else max(QUEUE_PACKETS, self.maximum)

    def early_detection(self, limit: int) -> EarlyDetection | None:
        """Give the early detection of a queue of so many packets."""
        if not self.detects:
            return None
        minimum, maximum = self.minimum, self.maximum
        if self.percent:
            minimum, maximum = (threshold * limit // 100 for threshold in (minimum, maximum))
        drop = DropProfile(minimum=minimum, maximum=max(1, maximum), denominator=self.denominator).at(self.origin)
        detection = EarlyDetection(ecn=self.ecn, profiles=(drop,))
        if self.weight is not None:
            detection = detection.model_copy(update={"average_weight": self.weight})
        return detection.at(self.origin)


def read_profiles(node: Node | None, notices: list[Notice]) -> dict[str, Profile]:
    """Read the container ``queue-management-profiles``."""
    if node is None:
        return {}
    return {name: _profile(name, each, notices) for name, each in node.list_of("queue-management-profile", "name")}


_THRESHOLDS = ("min-threshold", "max-threshold")


def _profile(name: str, node: Node, notices: list[Notice]) -> Profile:
    members = node.container("name", "config", "wred")
    if "config" in members:
        members["config"].container("name")
    uniform = members["wred"].container("uniform").get("uniform") if "wred" in members else None
    percents = tuple(f"{threshold}-percent" for threshold in _THRESHOLDS)
    known = (*_THRESHOLDS, *percents, "enable-ecn", "drop", "weight", "max-drop-probability-percent")
    leaves = {} if uniform is None else uniform.config(*known)
    ecn = "enable-ecn" in leaves and leaves["enable-ecn"].flag()
    drop = "drop" in leaves and leaves["drop"].flag()
    percent = any(each in leaves for each in percents)
    names = percents if percent else _THRESHOLDS
    if percent and any(each in leaves for each in _THRESHOLDS):
        raise node.wrong("one of them", f"profile '{name}' with thresholds in bytes and in percent")
    if not (ecn or drop) or not any(each in leaves for each in names):
        return Profile(node.origin, False, 0, 1, percent, 1, None, ecn)
    for each in names:
        if each not in leaves:
            raise node.wrong(f"its '{each}'", f"profile '{name}' without '{each}'")
    minimum, maximum = (leaves[each].number(0, 100) if percent else _packets(leaves[each], notices) for each in names)
    if minimum > maximum:
        raise leaves[names[0]].wrong("at most the maximum", f"a minimum above the maximum of profile '{name}'")
    likely = leaves["max-drop-probability-percent"].number(0, 100) if "max-drop-probability-percent" in leaves else 100
    if ecn and not drop:
        message = f"profile '{name}' drops packets of transports without ECN early, which 'drop: false' says it doesn't"
        notices.append(Notice(node.origin, message))
    weight = leaves["weight"].number(1, 16) if "weight" in leaves else None
    return Profile(node.origin, True, minimum, maximum, percent, round(100 / likely) if likely else 65536, weight, ecn)


def _packets(node: Node, notices: list[Notice]) -> int:
    packets = -(-node.number() // FRAME_BYTES)
    if packets <= MOST_PACKETS:
        return packets
    notices.append(Notice(node.origin, f"'{node.path}' is {MOST_PACKETS} packets, the most that a queue can have"))
    return MOST_PACKETS
