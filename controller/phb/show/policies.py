"""Policies: their matches, actions and counters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address

from phb.compiler.window import clamped_bps
from phb.device.session import CounterValue
from phb.explain.words import tos_words
from phb.pipeline_names import COLOURS, COLOURS_PER_POLICY, REASONS_PER_POLICY, DropReason
from phb.show.held import HOOKS, HeldEntry
from phb.show.reading import Reading, add
from phb.values import flags_or_type, write_protocol


@dataclass
class PolicyRow:
    """One policy of a switch; policy 0 is for packets that no rule took.

    Attributes:
        rule: The rule's name; None for policy 0, and where no file says it.
        direction: Of a rule of a host; empty for others.
        hook: ``input`` or ``output``.
        match: One line for each entry.
        does: The treatment of its traffic, in words.
        colours: Packets by colour.
        drops: Packets by drop reason.
    """

    number: int
    rule: str | None
    direction: str
    place: str | None
    hook: str
    match: list[str] = field(default_factory=list)
    does: list[str] = field(default_factory=list)
    traffic_class: str = ""
    stream: int = 0
    colours: dict[str, CounterValue] = field(default_factory=dict)
    drops: dict[str, int] = field(default_factory=dict)

    @property
    def seen(self) -> CounterValue:
        """All colours together."""
        return add(self.colours.values())


async def read_policies(reading: Reading) -> list[PolicyRow]:
    """Read the policies of a switch, by number."""
    rows = {0: PolicyRow(0, None, "", None, "input")}
    for control, hook in HOOKS.items():
        for entry in reading.held.classifying(control):
            if not reading.held.in_force(entry):
                continue
            number = entry.parameters["policy"]
            row = rows.setdefault(number, _row(reading, number, hook))
            words = match_words(entry)
            if words not in row.match:  # a rule without addresses has an entry for each IP version
                row.match.append(words)
            row.traffic_class = reading.names.traffic_class(entry.parameters["traffic_class"])
            row.stream = entry.parameters["stream"]
    _treatments(reading, rows)
    traffic = await reading.counter(
        "policy_traffic", (number * COLOURS_PER_POLICY + colour for number in rows for colour in COLOURS)
    )
    for index, value in traffic.items():
        rows[index // COLOURS_PER_POLICY].colours[COLOURS[index % COLOURS_PER_POLICY]] = value
    # A policy without packets has no drops: of 65,536 policies few cells are left to read.
    drops = await reading.counter(
        "policy_drops",
        (row.number * REASONS_PER_POLICY + reason for row in rows.values() if row.colours for reason in DropReason),
    )
    for index, value in drops.items():
        rows[index // REASONS_PER_POLICY].drops[reason_words(index % REASONS_PER_POLICY)] = value.packets
    return [rows[number] for number in sorted(rows)]


def _row(reading: Reading, number: int, hook: str) -> PolicyRow:
    known = reading.names.policies.get(number)
    if known is None:
        return PolicyRow(number, None, "", None, hook)
    direction = known.direction if known.direction != "any" else ""
    return PolicyRow(number, known.rule, direction, str(known.origin) if known.origin.line else None, hook)


def _treatments(reading: Reading, rows: dict[int, PolicyRow]) -> None:
    for entry in reading.held:
        number = entry.match.get("policy", (None, 0))[0]
        if number not in rows or entry.default:
            continue
        words = _does(entry)
        if words:
            rows[number].does.append(words)


def _does(entry: HeldEntry) -> str:
    parameters = entry.parameters
    colour = f"{COLOURS[entry.match['colour'][0]]}: " if "colour" in entry.match else ""
    if entry.action in ("block", "drop"):
        return f"{colour}{entry.action}"
    if entry.action == "limit_connections":
        return f"at most {parameters['maximum_connections']} connections"
    if entry.action == "clamp":
        least = f", at least {clamped_bps(parameters['minimum'])}" if parameters["minimum"] else ""
        return f"each connection at most {clamped_bps(parameters['maximum'])}{least} bit/s on average"
    words = []
    if entry.action.endswith("_marks"):
        return colour + ", ".join(_mark_words(parameters))
    if entry.action in ("set_tos", "set_tos_and_pcp", "remark", "remark_tos_and_pcp"):
        mask = parameters["mask"]
        words.append(
            f"ToS {tos_words(parameters['value'])}" if mask == 0xFF else f"ToS {parameters['value']:#x} under {mask:#x}"
        )
    if "pcp" in entry.action:
        words.append(f"priority {parameters.get('pcp_value', parameters['value'])}")
    return colour + ", ".join(words) if words else ""


def _mark_words(parameters: Mapping[str, int]) -> Iterator[str]:
    if parameters["from_pcp"]:
        yield f"ToS from the priority under {parameters['from_pcp']:#x}"
    if parameters["from_precedence"]:
        yield "priority from the precedence"
    if parameters["mask"]:
        yield f"ToS {parameters['value']:#x} under {parameters['mask']:#x}"
    if parameters["pcp_mask"]:
        yield f"priority {parameters['pcp_value']}"
    if parameters["qos_group_mask"]:
        yield f"QoS group {parameters['qos_group']}"


def match_words(entry: HeldEntry) -> str:
    """Write an entry's match in an engineer's words, without the version."""
    words = [_word(entry, name, *value) for name, value in entry.match.items() if name != "version"]
    return " ".join(words) or "anything"


def _word(entry: HeldEntry, name: str, first: int, second: int) -> str:
    if name == "flags_or_type":
        return "=".join(flags_or_type(entry.match.get("protocol", (None,))[0], first, second))
    return f"{name}={_value(entry, name, first, second)}"


def _value(entry: HeldEntry, name: str, first: int, second: int) -> str:
    wide = entry.table.endswith("ipv6")
    if name in ("source", "destination"):
        size = 16 if wide else 4
        low, high = (str(ip_address(number.to_bytes(size, "big"))) for number in (first, second))
        if wide:
            return f"{low}/{second.bit_count()}"
        return low if first == second else f"{low}-{high}"
    if name.endswith("_port") and name not in ("ingress_port", "egress_port"):
        return str(first) if first == second else f"{first}-{second}"
    if name in ("tos", "pcp"):
        return f"{first:#x}&{second:#x}"
    return str(write_protocol(first)) if name == "protocol" else str(first)


def reason_words(reason: int) -> str:
    """Give a drop reason in words."""
    known = reason in DropReason.__members__.values()
    return DropReason(reason).name.lower().replace("_", " ") if known else f"reason {reason}"
