"""Rules that can't take any packet, or count at no moment."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator

from phb.lint.finding import Check, Context, Finding, Severity
from phb.model import Conditions, Rule, Validity

MATCH, TIME = "impossible-match", "never-valid"
_WITH_PORTS = (6, 17)  # TCP and UDP, whose ports the pipeline reads


def _find(context: Context) -> Iterator[Finding]:
    empty = {id(region.item) for region in context.regions.all if not region.always}
    for rule in context.policy.rules:
        portless = [conditions for conditions in rule.match if _asks_for_ports_in_vain(conditions)]
        if portless:
            yield _portless(rule, portless[0], whole=len(portless) == len(rule.match))
        elif id(rule) in empty and rule.unless:
            yield Finding(
                MATCH,
                Severity.ERROR,
                rule.origin("unless"),
                f"the exceptions of rule '{rule.name}' take everything it asks for",
                "the rule never takes a packet",
                "narrow 'unless', or remove the rule",
            )
        reason = never_counts(rule.valid, context)
        if reason:
            yield Finding(
                TIME,
                Severity.WARNING,
                rule.valid.origin(),
                f"rule '{rule.name}' counts at no moment: {reason}",
                "the rule is read and checked, but never in force",
                "correct 'valid', or remove the rule",
            )


def _asks_for_ports_in_vain(conditions: Conditions) -> bool:
    if conditions.protocol is None or conditions.protocol in _WITH_PORTS:
        return False
    # Where a protocol has no ports, the pipeline reads 0.
    ranges = (conditions.source_ports, conditions.destination_ports)
    return any(ports is not None and ports.first > 0 for ports in ranges)


def _portless(rule: Rule, conditions: Conditions, *, whole: bool) -> Finding:
    what = f"rule '{rule.name}'" if whole else f"an alternative of rule '{rule.name}'"
    return Finding(
        MATCH,
        Severity.ERROR,
        conditions.origin("protocol"),
        f"{what} asks for port numbers of protocol {conditions.protocol}, which has none",
        "only TCP and UDP have ports; in all other packets they read as 0",
        "leave the ports out, or name TCP or UDP",
    )


def never_counts(valid: Validity, context: Context) -> str:
    """Say why the rule will never count; empty if it may."""
    if valid.between is not None:
        first, last = valid.between
        if first > last:
            return f"its window ends ({last}) before it begins ({first})"
        now = context.at.astimezone(valid.time_zone) if valid.time_zone and context.at.tzinfo else context.at
        if last.replace(tzinfo=None) < now.replace(tzinfo=None):
            return f"its window was over at {last}"
    # 2000 is a leap year.
    longest = max((monthrange(2000, month)[1] for month in valid.months or range(1, 13)), default=31)
    if valid.days_of_month and min(valid.days_of_month) > longest:
        return f"none of its months has a day {min(valid.days_of_month)}"
    return ""


CHECK = Check({MATCH: Severity.ERROR, TIME: Severity.WARNING}, _find)
