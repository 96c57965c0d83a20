"""A policy in today's Policy Agent words, with the losses.

The text, read back, gives the same rules and actions; each difference is a loss with its place in the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from phb.formats.format import WRITING, Converted, Loss, WriteOptions
from phb.formats.policy_agent import collection
from phb.formats.policy_agent.exceptions import LARGEST, without_exceptions
from phb.formats.policy_agent.rules import TODAY, UTC
from phb.model import (
    Action,
    BehaviourAggregate,
    Conditions,
    Day,
    DelayObjective,
    Direction,
    Item,
    Meter,
    MeterKind,
    Objectives,
    Permission,
    PolicySet,
    Rate,
    RateBasis,
    Rule,
    SubnetPriority,
    Treatment,
    Validity,
)
from phb.origin import Origin
from phb.values import AnyAddress
from phb.visible import words

HEAD = "# Policy Agent configuration of the z/OS Communications Server; rates are kbit/s, token buckets kilobits.\n"

# Highest number first, with room for rules that are added later.
_STEP = 10
# The default queue of an adapter for each precedence (z/OS V2R4 IP Configuration Reference).
_QUEUE_OF_PRECEDENCE = (4, 4, 3, 2, 1, 1, 1, 1)
# What an action has no words for; where it has a delay, its interval is that of the file.
_OTHER_BOUNDS = tuple(name for name in Objectives.model_fields if name not in ("maximum_delays", "interval_s"))
_WORD = re.compile(r"[^\s#{}]+")


@dataclass
class _Writer:
    losses: dict[tuple[Origin, str], Loss] = field(default_factory=dict)
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    taken: set[tuple[str, str]] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    actions: Sequence[Action] = ()
    blocking: str = ""

    def lose(self, item: Item, key: str, what: str, why: str, *, kept: bool = False) -> None:
        loss = Loss(item.origin(key), what, why, item, key, kept)
        # Several rules made of one may repeat it.
        self.losses.setdefault((loss.origin, what), loss)

    def name(self, item: Action | Rule, kind: str) -> str:
        """Make a unique name for the item as the Policy Agent allows it: one word of at most 32 characters."""
        key = (kind, item.name)
        if key not in self.names:
            self.names[key] = self._free(item, kind)
        return self.names[key]

    def _free(self, item: Action | Rule, kind: str) -> str:
        name = item.name
        if _has_other_name(item):
            name = "-".join(_WORD.findall(" ".join(words(name))))[: TODAY.longest] or kind
        free = self.unused(kind, name)
        if free != item.name:
            why = f"names are one word of at most {TODAY.longest} characters; it becomes {free}"
            self.lose(item, "name", f"the name of {kind} '{item.name}'", why)
        return free

    def once(self, name: str) -> str:
        """Give the rule's name the first time, then names like it."""
        if name not in self.written:
            self.written.add(name)
            return name
        return self.unused("rule", name)

    def unused(self, kind: str, name: str) -> str:
        """Give a name like this one that nothing of the kind has yet; it is taken now."""
        number, free = 1, name
        while (kind, free) in self.taken:
            number += 1
            free = f"{name[: TODAY.longest - 6]}-{number}"
        self.taken.add((kind, free))
        return free


def write(policy: PolicySet, options: WriteOptions = WRITING) -> Converted:
    """Write the policy as a Policy Agent file, with the losses."""
    writer = _Writer(actions=policy.actions)
    _nodes(writer, policy)
    # Items that keep their names come first, so that a changed name never takes another's.
    for action in sorted(policy.actions, key=_has_other_name):
        writer.name(action, "action")
    for rule in sorted(policy.rules, key=_has_other_name):
        writer.name(rule, "rule")
    blocks = [f"TcpImage {image.name} {'FLUSH' if image.flush else 'NOFLUSH'}" for image in policy.images]
    blocks += _subnet_priorities(writer, policy)
    sampling = _sampling(writer, policy)
    blocks += [sampling] if sampling else []
    blocks += [_block(f"PolicyAction {writer.name(each, 'action')}", _action(writer, each)) for each in policy.actions]
    if any(rule.permission is Permission.BLOCKED for rule in policy.rules):
        writer.blocking = writer.unused("action", "blocked")
        blocks.append(_block(f"PolicyAction {writer.blocking}", ["Permission Blocked"]))
    rules = without_exceptions(policy.rules)
    if rules is None:
        rules = [(rule, rule) for rule in policy.rules]
    for place, (rule, source) in enumerate(rules):
        blocks += _rule(writer, rule, source, (len(rules) - place) * _STEP)
    return Converted("\n".join([HEAD, *(f"{block}\n" for block in blocks)]), tuple(writer.losses.values()))


def _has_other_name(item: Action | Rule) -> bool:
    return not _WORD.fullmatch(item.name) or not item.name.isprintable() or len(item.name) > TODAY.longest


def _block(head: str, lines: Iterable[str]) -> str:
    return "\n".join([head, "{", *(f"    {line}" for line in lines), "}"])


def _nodes(writer: _Writer, policy: PolicySet) -> None:
    """Write the facts about the node."""
    why = "a Policy Agent file describes policies, not nodes"
    for name, what in (("node", "the node's name"), ("time_zone", "the node's time zone")):
        if getattr(policy, name) is not None:
            writer.lose(policy, name, what, why)
    items: dict[str, Sequence[Item]] = {
        "a port": policy.ports,
        "a cross-connect": policy.cross_connects,
        "a route": policy.routes,
        "a class": policy.classes,
        "a port's queueing": policy.queueing,
        "a behaviour aggregate": policy.behaviour_aggregates,
        "'applicability'": () if policy.applicability is None else (policy.applicability,),
    }
    for what, each in items.items():
        for item in each:
            writer.lose(item, "", what, why, kept=not isinstance(item, BehaviourAggregate))
    for image in policy.images:
        if not _WORD.fullmatch(image.name) or not image.name.isprintable():
            writer.lose(image, "name", f"the name of stack '{image.name}'", "names are one word")


def _subnet_priorities(writer: _Writer, policy: PolicySet) -> Iterator[str]:
    for priority in policy.subnet_priorities:
        address = priority.address
        if priority.port is not None:
            port = policy.find_port(priority.port)
            if port is None or port.address is None:
                why = "SubnetAddr names an interface by its address, and no file says it"
                writer.lose(priority, "", f"the subnet priority of port '{priority.port}'", why)
                continue
            address = port.address
        yield _block("SetSubnetPrioTosMask", _subnet_priority(priority, address))


def _subnet_priority(priority: SubnetPriority, address: AnyAddress | None) -> Iterator[str]:
    if address is not None:
        yield f"SubnetAddr {address}"
    yield f"SubnetTosMask {priority.mask:08b}"
    for mapping in priority.mappings:
        queue = mapping.priority or _QUEUE_OF_PRECEDENCE[mapping.tos >> 5]
        user = "" if mapping.user_priority is None else f" {mapping.user_priority}"
        yield f"PriorityTosMapping {queue} {mapping.tos:08b}{user}"


# ---------------------------------------------------------------------------
# Actions
# ---------------------------------------------------------------------------


def _action(writer: _Writer, action: Action) -> list[str]:
    lines = ["PolicyScope DataTraffic"]
    owner = f"action '{action.name}'"
    if action.interface is not None:
        lines.append(f"OutboundInterface {action.interface}")
    mark = action.mark
    if mark is not None:
        lines.append(f"OutgoingTOS {mark.value:08b}")
        if mark.mask != 0xFF:
            key = next(key for key in ("set_tos", "set_dscp", "set_precedence") if getattr(action, key) is not None)
            why = f"OutgoingTOS sets all eight bits, not {mark.mask:08b} of them"
            writer.lose(action, key, f"the mask of '{key.replace('_', '-')}' of {owner}", why)
    for key, word in (("max_rate", "MaxRate"), ("min_rate", "MinRate")):
        rate: Rate | None = getattr(action, key)
        if rate is not None:
            lines.append(f"{word} {_kilobits(writer, action, key, rate, basis=RateBasis.TCP_PAYLOAD, owner=owner)}")
    if action.max_connections is not None:
        lines.append(f"MaxConnections {action.max_connections}")
    if action.meter is not None:
        lines += _meter(writer, action, action.meter)
    if action.priority is not None:
        writer.lose(action, "set_pcp", f"'set-pcp' of {owner}", "actions don't mark 802.1p priorities")
    for key, why in (("set_qos_group", "actions set no QoS groups"), ("copy_marks", "actions copy no marks")):
        if getattr(action, key) not in (None, ()):
            writer.lose(action, key, f"'{key.replace('_', '-')}' of {owner}", why)
    if action.traffic_class is not None:
        writer.lose(action, "traffic_class", f"'class' of {owner}", "actions name no queue")
    if action.objectives is not None:
        lines += _delay(writer, action.objectives, owner)
    return lines


def _sampling(writer: _Writer, policy: PolicySet) -> str | None:
    """Write the interval that all delays have in common, if it isn't the default; else name those with another one."""
    told = [(each, each.objectives) for each in policy.actions if each.objectives and _max_delay(each.objectives)]
    if not told:
        return None
    interval = told[0][1].interval_s
    for action, objectives in told:
        if objectives.interval_s != interval:
            what = f"the interval of {objectives.interval_s} s of the objectives of action '{action.name}'"
            writer.lose(objectives, "interval_s", what, f"a file has one interval, {interval} s here", kept=True)
    if interval == Objectives.model_fields["interval_s"].default:
        return None
    return _block(collection.STATEMENT, [f"{collection.INTERVAL} {interval}"])


def _delay(writer: _Writer, objectives: Objectives, owner: str) -> list[str]:
    told = _max_delay(objectives)
    for bound in objectives.maximum_delays:
        if bound is not told:
            why = "delays are whole milliseconds" if bound.percentile is None else "MaxDelay is a mean"
            writer.lose(bound, "", f"'{bound}' of {owner}", why, kept=True)
    _lost_objectives(writer, objectives, owner, _OTHER_BOUNDS if told is not None else (*_OTHER_BOUNDS, "interval_s"))
    return [] if told is None else [f"MaxDelay {told.milliseconds:f}"]


def _max_delay(objectives: Objectives) -> DelayObjective | None:
    """Give the bound that MaxDelay says."""
    for bound in objectives.maximum_delays:
        if bound.percentile is None and bound.milliseconds == bound.milliseconds.to_integral_value():
            return bound
    return None


def _lost_objectives(writer: _Writer, objectives: Objectives, owner: str, keys: Iterable[str]) -> None:
    why = "an action has a MaxDelay, and MaxRate and MinRate of each connection"
    for key in keys:
        if getattr(objectives, key) != Objectives.model_fields[key].default:
            writer.lose(objectives, key, f"'{key.replace('_', '-')}' of the objectives of {owner}", why, kept=True)


def _kilobits(writer: _Writer, item: Item, key: str, rate: Rate, *, basis: RateBasis, owner: str) -> int:
    """Give a rate as a whole number of kbit/s, at least 1."""
    exact = rate.bits_per_second / 1000
    kilobits = max(1, int(exact.to_integral_value()))
    what = f"'{key.replace('_', '-')}' of {owner}"
    if exact != kilobits:
        writer.lose(item, key, f"{exact - kilobits:+} kbit/s of {what}", "rates are whole kbit/s")
    if rate.basis is not basis:
        writer.lose(item, key, f"the basis '{rate.basis.value}' of {what}", f"it counts '{basis.value}'")
    return kilobits


def _meter(writer: _Writer, action: Action, meter: Meter) -> list[str]:
    owner = f"action '{action.name}'"
    excess = _excess(action, meter)
    why = None
    if meter.kind is MeterKind.TWO_RATE_SEPARATE:
        why = "a profile's peak rate includes its rate"
    elif meter.colour_aware:
        why = "a profile knows no colours of packets"
    elif meter.excess_burst_bytes:
        why = "a profile has no excess burst"
    elif meter.green != Treatment():
        why = "packets in profile are marked as the action says"
    elif meter.yellow != meter.red or excess is None:
        why = "what is out of profile is all dropped, or all sent with one ToS"
    elif meter.committed_burst_bytes < 125 or (meter.peak_burst_bytes is not None and meter.peak_burst_bytes < 125):
        why = "buckets are whole kilobits"
    elif meter.peak_rate is not None and meter.peak_rate.bits_per_second < meter.committed_rate.bits_per_second:
        why = "a profile's peak rate is at least its rate"
    if why is not None or excess is None:
        writer.lose(action, "meter", f"the meter of {owner}", why or "")
        return []

    def rate(key: str, value: Rate) -> int:
        return _kilobits(writer, meter, key, value, basis=RateBasis.IP, owner=owner)

    def bucket(key: str, octets: int) -> int:
        if octets % 125:
            writer.lose(
                meter,
                key,
                f"{octets % 125} bytes of '{key.replace('_', '-')}' of {owner}",
                "buckets are whole kilobits",
            )
        return octets // 125

    lines = [
        f"DiffServInProfileRate {rate('committed_rate', meter.committed_rate)}",
        f"DiffServInProfileTokenBucket {bucket('committed_burst_bytes', meter.committed_burst_bytes)}",
    ]
    if meter.peak_rate is not None and meter.peak_burst_bytes is not None:
        lines.append(f"DiffServInProfilePeakRate {rate('peak_rate', meter.peak_rate)}")
        lines.append(f"DiffServInProfileMaxPacketSize {bucket('peak_burst_bytes', meter.peak_burst_bytes)}")
    return [*lines, *excess]


def _excess(action: Action, meter: Meter) -> list[str] | None:
    """Give the treatment of packets out of profile; None where the Policy Agent has no word for it."""
    treatment = meter.red
    if treatment.drop:
        return ["DiffServExcessTrafficTreatment Drop"]
    mark = treatment.mark
    if treatment.priority is not None or mark is None or mark.mask != 0xFF:
        return None
    return ["DiffServExcessTrafficTreatment BestEffort", f"DiffServOutProfileTransmittedTOSByte {mark.value:08b}"]


# ---------------------------------------------------------------------------
# Rules
# ---------------------------------------------------------------------------


def _rule(writer: _Writer, rule: Rule, source: Rule, priority: int) -> Iterator[str]:
    """Write one rule for each alternative of a rule, whose origin in the policy is `source`."""
    owner = f"rule '{source.name}'"
    if any(part.ingress_port is not None or part.egress_port is not None for part in source.match):
        writer.lose(source, "match", owner, "rules of a host can't ask for a port of the switch")
        return
    if any(_asks_marks(part) for part in (*source.match, *source.unless)):
        writer.lose(source, "match", owner, "rules of a host can't ask for marks that packets already have")
        return
    if source.objectives is not None:
        why = "rules have no objectives, actions have a MaxDelay"
        writer.lose(source, "objectives", f"'objectives' of {owner}", why, kept=True)
    if rule.unless:
        writer.lose(source, "unless", f"'unless' of {owner}", f"without it, there would be more than {LARGEST} rules")
    name = writer.name(source, "rule")
    joined = _joined(rule.match)
    # Rules made for an exception have other names.
    is_own = (rule.match, rule.actions) == (source.match, source.actions)
    if rule is not source or len(joined) > 1:
        why = "a rule has one set of conditions and no exceptions; it becomes several, counted and limited apart"
        limited = any(action.max_connections for action in writer.actions if action.name in source.actions)
        writer.lose(source, "match", f"that {owner} is one", why, kept=not limited)
    head = [f"PolicyRulePriority {priority}", *_direction(writer, rule, source)]
    foot = [*_valid(writer, source, rule.valid)]
    foot += _references(writer, rule, source)
    if rule.permission is Permission.BLOCKED:
        foot.append(f"PolicyActionReference {writer.blocking}")
    for conditions in joined:
        unique = writer.once(name) if is_own else writer.unused("rule", name)
        yield _block(f"PolicyRule {unique}", [*head, *conditions, *foot])


def _references(writer: _Writer, rule: Rule, source: Rule) -> Iterator[str]:
    for name in rule.actions:
        if ("action", name) in writer.names:
            yield f"PolicyActionReference {writer.names['action', name]}"
        else:
            why = "a PolicyRule refers to actions of its own file, and none of these files has it"
            writer.lose(source, "actions", f"action '{name}' of rule '{source.name}'", why)


def _joined(match: Sequence[Conditions]) -> list[list[str]]:
    """Write alternatives as lines; those that differ by consecutive protocols only are one range."""
    bare = [conditions.model_copy(update={"protocol": None}) for conditions in match]
    protocols = [conditions.protocol for conditions in match]
    first = protocols[0]
    if first is None or len(match) == 1:
        return [_conditions(conditions) for conditions in match]
    if all(one == bare[0] for one in bare) and protocols == list(range(first, first + len(match))):
        return [[f"ProtocolNumberRange {first}-{protocols[-1]}", *_conditions(bare[0])]]
    return [_conditions(conditions) for conditions in match]


def _asks_marks(asked: Conditions) -> bool:
    marks = (asked.tos_bits, asked.pcp, asked.vlan, asked.qos_group, asked.tcp_flags, asked.icmp_type)
    return any(mark is not None for mark in marks)


def _conditions(conditions: Conditions) -> list[str]:
    lines = []
    if conditions.protocol is not None:
        lines.append(f"ProtocolNumberRange {conditions.protocol}")
    for word, addresses in (("Source", conditions.source), ("Destination", conditions.destination)):
        if addresses is not None:
            last = "" if addresses.first == addresses.last else f"-{addresses.last}"
            lines.append(f"{word}AddressRange {addresses.first}{last}")
    for word, ports in (("Source", conditions.source_ports), ("Destination", conditions.destination_ports)):
        if ports is not None:
            lines.append(f"{word}PortRange {ports}")
    return lines


def _direction(writer: _Writer, rule: Rule, source: Rule) -> list[str]:
    if source.direction is Direction.ANY:
        writer.lose(
            source, "direction", f"direction 'any' of rule '{source.name}'", "a host's rule is for its own traffic"
        )
    if rule.direction in (Direction.ANY, Direction.BOTH):
        return []
    return [f"Direction {rule.direction.value.capitalize()}"]


def _valid(writer: _Writer, rule: Rule, valid: Validity) -> Iterator[str]:
    owner = f"rule '{rule.name}'"
    if valid.days != tuple(Day):
        yield "DayOfWeekMask " + "".join("1" if day in valid.days else "0" for day in Day)
    if valid.time is not None:
        if valid.time.first.second or valid.time.last.second:
            writer.lose(valid, "time", f"'time' of {owner}", "times of day are hours and minutes")
        else:
            yield f"TimeOfDayRange {valid.time}"
    for word, width, given in (("MonthOfYearMask", 12, valid.months), ("DayOfMonthMask", 31, valid.days_of_month)):
        if given:
            yield f"{word} " + "".join("1" if place in given else "0" for place in range(1, width + 1))
    if valid.between is not None:
        yield "ConditionTimeRange " + ":".join(f"{end:%Y%m%d%H%M%S}" for end in valid.between)
        if any(end.microsecond or end.tzinfo is not None for end in valid.between):
            writer.lose(valid, "between", f"zone or microseconds of 'between' of {owner}", "moments are local seconds")
    if valid.time_zone is not None:
        if valid.time_zone.key == UTC.key:
            yield "TimeZone UTC"
        else:
            writer.lose(valid, "time_zone", f"time zone '{valid.time_zone}' of {owner}", "zones are Local or UTC")
