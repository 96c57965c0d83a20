"""Mistakes that a compiler could make: what each does to every entry."""

from dataclasses import replace

from phb.intent import Range, Ternary


def with_match(entry, field, change):
    value = entry.match.get(field)
    return entry if value is None else replace(entry, match={**entry.match, field: change(value)})


def with_parameter(entry, name, change):
    value = entry.parameters.get(name)
    return entry if value is None else replace(entry, parameters={**entry.parameters, name: change(value)})


MISTAKES = {
    "a range ends one too late": lambda entry: with_match(
        entry, "destination_port", lambda value: Range(value.low, min(value.high + 1, 65535))
    ),
    "a mask of the ToS octet lacks a bit": lambda entry: with_match(
        entry, "tos", lambda value: Ternary(value.value & 0xFE, value.mask & 0xFE)
    ),
    "an IPv6 prefix is too short": lambda entry: with_match(
        entry,
        "source",
        lambda value: Ternary(value.value & ~1, value.mask & ~1) if isinstance(value, Ternary) else value,
    ),
    "a priority is ignored": lambda entry: replace(entry, priority=5) if "multi_field" in entry.table else entry,
    "a committed burst is a byte larger": lambda entry: with_parameter(
        entry, "committed_burst", lambda value: value + 1
    ),
    "a meter counts the Ethernet header": lambda entry: (
        with_parameter(entry, "datagram", lambda value: 0) if "stream_meter" in entry.table else entry
    ),
    "a meter is blind": lambda entry: with_parameter(entry, "colour_aware", lambda value: 0),
    "red is not dropped": lambda entry: replace(entry, action="transmit") if entry.action == "drop" else entry,
    "ECN is overwritten": lambda entry: (
        with_parameter(entry, "mask", lambda value: value | 3) if entry.action in ("set_tos", "remark") else entry
    ),
    "a class has another number": lambda entry: (
        with_parameter(entry, "traffic_class", lambda value: value ^ 1) if entry.action == "set_class" else entry
    ),
    "one connection more": lambda entry: with_parameter(entry, "maximum_connections", lambda value: value + 1),
    "blocked is allowed": lambda entry: replace(entry, action="allow") if entry.action == "block" else entry,
    "the pool is smaller": lambda entry: with_parameter(entry, "shared_bytes", lambda value: value // 2),
}


def wrongly(intent, mistake):
    """What a compiler with the mistake makes of a policy, by what a right one made."""
    return replace(intent, entries=tuple(map(MISTAKES[mistake], intent.entries)))
