"""OS/390 V2R7 Policy Agent configuration files.

The statements are those of the joint IBM and Cisco test (its appendix D): TcpImage, SetSubnetPrioTosMask,
ServiceCategories, ServicePolicyRules. Keywords are case-insensitive, one attribute stands on a line, ``#`` starts a
comment. A service category becomes an action, a service policy rule a rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NoReturn, TypeVar

from phb.errors import InputError
from phb.formats.format import READING, ReadOptions
from phb.model import (
    Action,
    Conditions,
    Day,
    Direction,
    Image,
    Permission,
    PolicySet,
    PriorityMapping,
    Rate,
    RateBasis,
    RateUnit,
    Rule,
    SubnetPriority,
    Validity,
)
from phb.origin import Origin
from phb.values import AddressRange, PortRange, TimeRange, TypeOfService, parse_address, parse_protocol

T = TypeVar("T")


@dataclass(frozen=True)
class Line:
    """One statement or attribute: its words, and where it stands."""

    words: tuple[str, ...]
    origin: Origin

    @property
    def keyword(self) -> str:
        """The first word as the user wrote it."""
        return self.words[0]

    def fail(self, found: str, expected: str) -> NoReturn:
        """Refuse this line."""
        raise InputError(self.origin, found, expected)


@dataclass
class Block:
    """A statement with attributes in braces."""

    head: Line
    attributes: list[Line] = field(default_factory=list)


def read(text: str, file: str, options: ReadOptions = READING) -> PolicySet:
    """Read a Policy Agent file.

    Raises:
        InputError: With the line of the first thing that is wrong.

    """
    images: list[Image] = []
    priorities: list[SubnetPriority] = []
    actions: list[Action] = []
    rules: list[Rule] = []
    for block in _blocks(list(_lines(text, file)), file):
        match block.head.keyword.lower():
            case "tcpimage":
                images.append(_image(block.head))
            case "setsubnetpriotosmask":
                priorities.append(_subnet_priority(block))
            case "servicecategories":
                actions.append(_category(block))
            case _:
                rules.append(_rule(block))
    policy = PolicySet(
        images=tuple(images), subnet_priorities=tuple(priorities), actions=tuple(actions), rules=tuple(rules)
    )
    return policy.at(Origin(file, 1))


# ---------------------------------------------------------------------------
# Lines and blocks
# ---------------------------------------------------------------------------

_STATEMENTS = ("TcpImage", "SetSubnetPrioTosMask", "ServiceCategories", "ServicePolicyRules")


def _lines(text: str, file: str) -> Iterator[Line]:
    for number, raw in enumerate(text.splitlines(), start=1):
        words: list[str] = []
        statement = raw.partition("#")[0].strip()
        origin = Origin(file, number, " ".join(statement.split()))
        # Braces may share a line with other words; each stands for itself.
        for word in re.findall(r"[{}]|[^\s{}]+", statement):
            if word in "{}":
                if words:
                    yield Line(tuple(words), origin)
                    words = []
                yield Line((word,), origin)
            else:
                words.append(word)
        if words:
            yield Line(tuple(words), origin)


def _blocks(lines: Sequence[Line], file: str) -> Iterator[Block]:
    position = 0
    while position < len(lines):
        head = lines[position]
        position += 1
        if head.keyword.lower() not in {statement.lower() for statement in _STATEMENTS}:
            head.fail(f"'{head.keyword}'", "one of " + ", ".join(_STATEMENTS))
        block = Block(head)
        if head.keyword.lower() != "tcpimage":
            position = _attributes(block, lines, position)
        yield block


def _attributes(block: Block, lines: Sequence[Line], position: int) -> int:
    """Fill the block from the line after its head; give the position behind its closing brace."""
    if position == len(lines) or lines[position].keyword != "{":
        where = lines[position] if position < len(lines) else block.head
        where.fail(f"'{where.keyword}'", f"'{{' after {block.head.keyword}")
    for index in range(position + 1, len(lines)):
        line = lines[index]
        if line.keyword == "}":
            return index + 1
        if line.keyword == "{":
            line.fail("'{'", f"an attribute of {block.head.keyword} or '}}'")
        block.attributes.append(line)
    block.head.fail(f"{block.head.keyword} without an end", "'}' before the end of the file")


class _Attributes:
    """The attributes of a block by keyword; reading one is asking for it, and what nobody asks for is refused."""

    def __init__(self, block: Block, allowed: Sequence[str], repeated: Sequence[str] = ()) -> None:
        self._by_keyword: dict[str, list[Line]] = {}
        names = {keyword.lower() for keyword in allowed}
        many = {keyword.lower() for keyword in repeated}
        for line in block.attributes:
            keyword = line.keyword.lower()
            if keyword not in names:
                line.fail(f"'{line.keyword}'", f"one of {', '.join(allowed)} in {block.head.keyword}")
            earlier = self._by_keyword.setdefault(keyword, [])
            if earlier and keyword not in many:
                line.fail(f"{line.keyword} again", f"it once; it also stands at {earlier[0].origin}")
            earlier.append(line)
        self._fields: dict[str, Origin] = {}

    def all(self, keyword: str) -> list[Line]:
        """Every line with this keyword."""
        return self._by_keyword.get(keyword.lower(), [])

    def value(self, keyword: str, name: str, parse: Callable[[str], T], expected: str) -> T | None:
        """The attribute's value, or None when it isn't given; `name` is the model's word for it."""
        for line in self.all(keyword):
            self._fields[name] = line.origin
            return _parse(line, parse, expected)
        return None

    def origins(self) -> dict[str, Origin]:
        """Where each attribute read so far stands, by the model's word."""
        return dict(self._fields)


def _parse(line: Line, parse: Callable[[str], T], expected: str) -> T:
    text = " ".join(line.words[1:])
    if not text:
        line.fail(f"{line.keyword} without a value", expected)
    try:
        return parse(text)
    except (ValueError, TypeError):
        line.fail(f"'{text}'", expected)


# ---------------------------------------------------------------------------
# Values
# ---------------------------------------------------------------------------


def _bits(width: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(rf"[01]{{{width}}}", text):
            raise ValueError
        return int(text, 2)

    return parse


def _range_text(text: str) -> str:
    """``700 719`` and ``700-719`` mean the same."""
    words = text.split()
    if len(words) > 2:
        raise ValueError
    return "-".join(words)


def _addresses(text: str) -> AddressRange:
    return AddressRange.parse(_range_text(text))


def _ports(text: str) -> PortRange:
    return PortRange.parse(_range_text(text))


def _protocol(text: str) -> int:
    return parse_protocol(int(text) if text.isdigit() else text)


def _days(text: str) -> tuple[Day, ...]:
    # RFC 3060 section 6.5.3 puts Sunday first; the source's masks are all ones.
    mask = f"{_bits(7)(text):07b}"
    days = tuple(day for day, bit in zip(Day, mask, strict=True) if bit == "1")
    if not days:
        raise ValueError
    return days


def _rate(text: str) -> Rate:
    # The Policy Agent counts in kbit/s, and keeps a connection's rate by its TCP window, which counts payload.
    if not re.fullmatch(r"\d{1,9}", text) or int(text) == 0:
        raise ValueError
    return Rate(value=Decimal(text), unit=RateUnit.KBIT, basis=RateBasis.TCP_PAYLOAD)


def _name(line: Line, what: str) -> str:
    if len(line.words) != 2 or len(line.words[1]) > 64:
        line.fail(f"'{' '.join(line.words)}'", f"{what} with one name of at most 64 characters")
    return line.words[1]


def _word(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError
        return text.lower()

    return parse


# ---------------------------------------------------------------------------
# Statements
# ---------------------------------------------------------------------------


def _image(head: Line) -> Image:
    flags = [word.lower() for word in head.words[2:]]
    if len(head.words) < 2 or flags not in ([], ["flush"], ["noflush"]):
        head.fail(f"'{' '.join(head.words)}'", "TcpImage NAME [FLUSH|NOFLUSH]")
    return Image(name=head.words[1], flush=flags != ["noflush"]).at(head.origin)


def _subnet_priority(block: Block) -> SubnetPriority:
    if len(block.head.words) != 1:
        block.head.fail(f"'{' '.join(block.head.words)}'", "SetSubnetPrioTosMask without a name")
    attributes = _Attributes(
        block, ("SubnetAddr", "SubnetTosMask", "PriorityTosMapping"), repeated=("PriorityTosMapping",)
    )
    mask = attributes.value("SubnetTosMask", "mask", _bits(8), "eight binary digits")
    if mask is None:
        block.head.fail("no SubnetTosMask", "SubnetTosMask with eight binary digits")
    address = attributes.value("SubnetAddr", "address", parse_address, "an IPv4 or IPv6 address")
    return SubnetPriority(
        address=address,
        mask=mask,
        mappings=tuple(_priority_mapping(line) for line in attributes.all("PriorityTosMapping")),
    ).at(block.head.origin, attributes.origins())


def _priority_mapping(line: Line) -> PriorityMapping:
    def parse(text: str) -> PriorityMapping:
        priority, tos = text.split()
        if not re.fullmatch("[1-8]", priority):
            raise ValueError
        return PriorityMapping(priority=int(priority), tos=_bits(8)(tos))

    return _parse(line, parse, "a priority from 1 to 8 and eight binary digits").at(line.origin)


_SCOPE = "DataTraffic (phb marks data packets; RSVP signalling is not supported)"


def _category(block: Block) -> Action:
    name = _name(block.head, "ServiceCategories")
    attributes = _Attributes(block, ("PolicyScope", "MaxRate", "MinRate", "Interface", "OutgoingTOS"))
    attributes.value("PolicyScope", "scope", _word("datatraffic"), _SCOPE)
    kilobits = "kbit/s as a whole number from 1"
    tos = attributes.value("OutgoingTOS", "set_tos", _bits(8), "eight binary digits")
    return Action(
        name=name,
        interface=attributes.value("Interface", "interface", parse_address, "an IPv4 or IPv6 address"),
        set_tos=TypeOfService(tos) if tos is not None else None,
        max_rate=attributes.value("MaxRate", "max_rate", _rate, kilobits),
        min_rate=attributes.value("MinRate", "min_rate", _rate, kilobits),
    ).at(block.head.origin, attributes.origins())


def _rule(block: Block) -> Rule:
    name = _name(block.head, "ServicePolicyRules")
    attributes = _Attributes(
        block,
        (
            "PolicyScope",
            "Direction",
            "Permission",
            "ProtocolNumber",
            "DaysOfWeekMask",
            "TimeOfDayRange",
            "SourceAddressRange",
            "DestinationAddressRange",
            "SourcePortRange",
            "DestinationPortRange",
            "ServiceReference",
        ),
        repeated=("ServiceReference",),
    )
    attributes.value("PolicyScope", "scope", _word("datatraffic"), _SCOPE)
    direction = attributes.value(
        "Direction", "direction", _word("incoming", "outgoing", "both"), "Incoming, Outgoing or Both"
    )
    permission = attributes.value("Permission", "permission", _word("allowed", "blocked"), "Allowed or Blocked")
    addresses = "one address or two, first and last"
    ports = "one port number or two, first and last"
    source = attributes.value("SourceAddressRange", "source", _addresses, addresses)
    destination = attributes.value("DestinationAddressRange", "destination", _addresses, addresses)
    if source is not None and destination is not None and source.version != destination.version:
        where = attributes.all("DestinationAddressRange")[0]
        where.fail(f"source {source} and destination {destination}", "addresses of one IP version")
    conditions = Conditions(
        protocol=attributes.value("ProtocolNumber", "protocol", _protocol, "a protocol number from 0 to 255"),
        source=source,
        destination=destination,
        source_ports=attributes.value("SourcePortRange", "source_ports", _ports, ports),
        destination_ports=attributes.value("DestinationPortRange", "destination_ports", _ports, ports),
    )
    days = attributes.value("DaysOfWeekMask", "days", _days, "seven binary digits, Sunday first, at least one set")
    time = attributes.value("TimeOfDayRange", "time", TimeRange.parse, "a time range such as 0:01-23:59")
    references = attributes.all("ServiceReference")
    origins = attributes.origins()
    if references:
        origins["actions"] = references[0].origin
    return Rule(
        name=name,
        direction=Direction(direction or "both"),
        permission=Permission(permission or "allowed"),
        match=(conditions.at(block.head.origin, origins),),
        valid=Validity(days=days or tuple(Day), time=time).at(block.head.origin, origins),
        actions=tuple(_name(line, "ServiceReference") for line in references),
    ).at(block.head.origin, origins)
