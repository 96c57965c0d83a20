"""``policy-map``: classes, and the treatment of each."""

from __future__ import annotations

from phb.formats.ios.configuration import (
    Amount,
    Configuration,
    FlowFairness,
    Mark,
    PolicyClass,
    PolicyMap,
    Priority,
    QueueLimit,
    Shape,
    Share,
)
from phb.formats.ios.language.lines import Words
from phb.formats.ios.language.modes import GLOBAL, HQF, MQC, POLICY_CLASS, POLICY_MAP
from phb.formats.ios.language.names import take_dscp, take_precedence
from phb.formats.ios.language.vocabulary import Mode
from phb.formats.ios.statements.early_detection import take_random_detect
from phb.formats.ios.statements.rates import KILOBITS, SHAPED, note_bursts, take_bursts, take_conversations
from phb.model import DEFAULT_CLASS, Copied, Dialect

# Bounds of "priority" and "queue-limit" in the Cisco IOS Quality of Service Solutions Command Reference.
PRIORITY_BURST = (32, 2_000_000)
QUEUE_LIMIT = (1, 4096)


@GLOBAL.statement("policy-map", since=MQC)
def _policy_map(configuration: Configuration, _: object, words: Words) -> Mode:
    name = words.name("a policy map's name")
    words.done()
    return Mode(POLICY_MAP, configuration.policy_maps.setdefault(name, PolicyMap(name, words.origin)))


@POLICY_MAP.statement("class")
def _class(configuration: Configuration, policy_map: PolicyMap, words: Words) -> Mode:
    name = words.name("a class map's name")
    if words.maybe("insert-before"):
        words.line.fail("'insert-before'", "the classes in the order in which packets are asked")
    words.done()
    # class-default is asked last wherever it stands, and is spelled in any case.
    name = DEFAULT_CLASS if name.lower() == DEFAULT_CLASS else name
    return Mode(POLICY_CLASS, policy_map.classes.setdefault(name, PolicyClass(name, words.origin)))


@POLICY_CLASS.statement("set")
def _set(configuration: Configuration, policy_class: PolicyClass, words: Words) -> None:
    unsupported = ("atm-clp", "discard-class", "fr-de", "mpls", "vlan")
    kind = words.maybe("cos", "dscp", "ip", "precedence", "qos-group", *unsupported)
    if kind is None or kind in unsupported:
        if kind is not None:
            words.line.fail(f"'set {kind}'", "dscp, precedence or cos: phb has no such mark")
        words.fail("one of dscp, precedence, cos, ip dscp, ip precedence")
    ipv4_only = kind == "ip"
    if ipv4_only:
        kind = words.keyword("dscp", "precedence")
    copied = None if ipv4_only else _copied(words, str(kind))
    match kind:
        case _ if copied is not None:
            mark = Mark("copy_marks", 0, ipv4_only, words.origin, copied)
        case "qos-group":
            mark = Mark("set_qos_group", words.number(0, 99, "a QoS group"), ipv4_only, words.origin)
        case "dscp":
            mark = Mark("set_dscp", take_dscp(words), ipv4_only, words.origin)
        case "precedence":
            mark = Mark("set_precedence", take_precedence(words), ipv4_only, words.origin)
        case _:
            mark = Mark("set_pcp", words.number(0, 7, "a class of service"), ipv4_only, words.origin)
    words.done()
    for other in policy_class.marks:
        if other.target == mark.target:
            words.line.fail(f"'{words.origin.statement}'", f"one mark; another one stands at {other.origin}")
    policy_class.marks.append(mark)


def _copied(words: Words, kind: str) -> Copied | None:
    """Read ``set dscp cos`` and the like: which mark becomes which, by the default table."""
    choices = {"cos": ("dscp", "precedence"), "qos-group": ("cos", "dscp", "precedence")}.get(
        kind, ("cos", "qos-group")
    )
    word = (words.peek() or "").lower()
    if word not in choices:
        return None
    source = words.keyword(*choices)
    if "qos-group" in (kind, source):
        words.line.fail(f"'set {kind} {source}'", "a QoS group set to a number, or matched by one")
    if words.peek() is not None:
        words.fail("no table map: phb copies by the default table, the upper three bits")
    if kind == "cos":
        return Copied.PRECEDENCE_TO_PCP
    return Copied.PCP_TO_DSCP if kind == "dscp" else Copied.PCP_TO_PRECEDENCE


@POLICY_CLASS.statement("priority")
def _priority(configuration: Configuration, policy_class: PolicyClass, words: Words) -> None:
    _once(policy_class.priority, words)
    level = 0
    if words.maybe("level"):
        if configuration.dialect is not HQF[0]:
            words.line.fail("'priority level'", f"a statement of {configuration.dialect.value}; it came with {HQF[1]}")
        level = words.number(1, 2, "a priority level") - 1
    rate = _maybe_amount(words)
    burst = words.maybe_number(*PRIORITY_BURST, "a burst in bytes") if rate is not None else None
    words.done()
    policy_class.priority = Priority(words.origin, level, rate, burst)


@POLICY_CLASS.statement("bandwidth")
def _bandwidth(configuration: Configuration, policy_class: PolicyClass, words: Words) -> None:
    _once(policy_class.share, words)
    if words.maybe("remaining"):
        if words.maybe("ratio"):
            if configuration.dialect is not HQF[0]:
                found = "'bandwidth remaining ratio'"
                words.line.fail(found, f"a statement of {configuration.dialect.value}; it came with {HQF[1]}")
            share = Share(words.origin, remaining_ratio=words.number(1, 1000, "a ratio"))
        else:
            words.keyword("percent")
            share = Share(words.origin, remaining_percent=words.number(1, 100, "a percentage"))
    else:
        amount = _maybe_amount(words)
        if amount is None:
            words.fail("kbit/s, 'percent' or 'remaining'")
        share = Share(words.origin, amount)
    words.done()
    policy_class.share = share


def _maybe_amount(words: Words) -> Amount | None:
    if words.maybe("percent"):
        return Amount(percent=words.number(1, 100, "a percentage"))
    kilobits = words.maybe_number(*KILOBITS, "kbit/s")
    return None if kilobits is None else Amount(kilobits * 1000)


@POLICY_CLASS.statement("fair-queue")
def _fair_queue(configuration: Configuration, policy_class: PolicyClass, words: Words) -> None:
    _once(policy_class.fair_queue, words)
    if policy_class.name != DEFAULT_CLASS and configuration.dialect is Dialect.IOS_12:
        words.line.fail("'fair-queue'", f"it in {DEFAULT_CLASS} only; other classes have it since {HQF[1]}")
    policy_class.fair_queue = FlowFairness(words.origin, conversations=take_conversations(words, "a number of queues"))
    words.done()


@POLICY_CLASS.statement("random-detect")
def _random_detect(configuration: Configuration, policy_class: PolicyClass, words: Words) -> None:
    take_random_detect(configuration, policy_class, words)


@POLICY_CLASS.statement("queue-limit")
def _queue_limit(configuration: Configuration, policy_class: PolicyClass, words: Words) -> None:
    _once(policy_class.queue_limit, words)
    limit = words.number(1, 2**31 - 1, "a limit")
    units = ("packets", "bytes", "ms", "us")
    unit = words.maybe(*units)
    if unit is None and words.peek() is not None:
        words.fail(f"one of {', '.join(units)}")
    words.done()
    unit = unit or "packets"
    if unit == "packets" and limit > QUEUE_LIMIT[1]:
        words.line.fail(f"'{limit}'", f"packets from {QUEUE_LIMIT[0]} to {QUEUE_LIMIT[1]}")
    if unit != "packets" and configuration.dialect is not HQF[0]:
        words.line.fail(
            f"'queue-limit' in {unit}", f"packets in {configuration.dialect.value}; others came with {HQF[1]}"
        )
    policy_class.queue_limit = QueueLimit(words.origin, limit, unit)


@POLICY_CLASS.statement("shape average", "shape peak")
def _shape(configuration: Configuration, policy_class: PolicyClass, words: Words) -> None:
    _once(policy_class.shape, words)
    if words.maybe("percent"):
        rate = Amount(percent=words.number(1, 100, "a percentage"))
        if words.peek() is not None:
            words.fail("no burst in ms after a percentage: phb takes bursts in bits")
    else:
        rate = Amount(words.rate(*SHAPED))
    committed, excess = take_bursts(words)
    words.done()
    policy_class.shape = Shape(words.origin, rate, committed, excess, peak=words.phrase == "shape peak")
    note_bursts(configuration, policy_class.shape)


@POLICY_CLASS.statement("service-policy")
def _service_policy(configuration: Configuration, policy_class: PolicyClass, words: Words) -> None:
    _once(policy_class.child, words)
    name = words.name("a policy map's name")
    words.done()
    policy_class.child = (name, words.origin)


def _once(earlier: object, words: Words) -> None:
    if earlier is not None:
        origin = earlier[1] if isinstance(earlier, tuple) else earlier.origin  # type: ignore[attr-defined]
        words.line.fail(f"{words.line.words[0]} again", f"it once; it also stands at {origin}")
