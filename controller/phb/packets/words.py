"""Sets of packets in a policy's words: as `match` and `unless` of the YAML format say them, and in a line of text.

What YAML has no word for has one here that reads alike: `frame: not-ip` of frames without an IP header, `tcp-flags:
none` and `icmp-type: none` of packets without such a header (later fragments, truncated packets, other protocols),
`pcp: untagged` beside priorities, and `when` with moments. A list of values means any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address
from itertools import product
from typing import Any, Final, TypeAlias

from phb.model import PolicySet
from phb.packets.boxes import Interval, ValueBox, intersection
from phb.packets.epochs import Epochs
from phb.packets.joining import ALL_INTERVALS, LINE, Part, join
from phb.packets.space import (
    NO_HEADER,
    NO_MESSAGE,
    PORTS,
    UNTAGGED,
    Dimension,
    Subset,
    Version,
    every,
    every_packet,
)
from phb.values import (
    CODE_POINTS,
    ICMP_VERSIONS,
    LAST_QOS_GROUP,
    PROTOCOLS,
    AddressRange,
    PortRange,
    TcpFlags,
    write_protocol,
)
from phb.values import UNTAGGED as UNTAGGED_WORD
from phb.visible import visible

NOT_IP: Final = "not-ip"
NONE: Final = "none"

Conditions: TypeAlias = dict[str, Any]
"""Keys as in YAML; a list is any of its values."""

_ALTERNATIVES = 256  # conditions of one set of words, above which they aren't written out
_DSCP_NAMES = {number: name.lower() for name, number in reversed(CODE_POINTS.items())}
ECN: Final = ("not-ect", "ect1", "ect0", "ce")
"""Of the lower two bits of the ToS octet, as `phb explain` calls them."""


@dataclass(frozen=True)
class Naming:
    """What ports and moments are called.

    Attributes:
        ports: Names by number, as one policy or another says it.
        agreed: The numbers of ports that all policies call alike, and no other port so.
    """

    epochs: Epochs
    ports: Mapping[int, tuple[str, ...]]
    agreed: frozenset[int] = frozenset()

    @classmethod
    def of(cls, policies: Iterable[PolicySet], epochs: Epochs) -> Naming:
        """Take the names of policies that are told together."""
        said = [{port.number: port.name for port in policy.ports if port.number is not None} for policy in policies]
        names = {
            number: tuple(dict.fromkeys(each[number] for each in said if number in each))
            for number in sorted({number for each in said for number in each})
        }
        used = Counter(name for each in names.values() for name in each)
        agreed = {
            number
            for number, each in names.items()
            if len(each) == 1 and used[each[0]] == 1 and all(number in policy for policy in said)
        }
        return cls(epochs, names, frozenset(agreed))

    def port(self, number: int) -> str | int:
        """Give the name that all policies have for a port, else its number."""
        return self.ports[number][0] if number in self.agreed else number

    def shown(self, number: int) -> str:
        """Give a port's names for people, and its number where they may mean different ports."""
        names = "/".join(map(visible, self.ports.get(number, ())))
        return names if number in self.agreed else f"{names} ({number})" if names else str(number)


@dataclass(frozen=True)
class Words:
    """Some packets: those that meet all of `match`, and none of `unless`.

    Attributes:
        text: The same in one line.
    """

    match: Conditions
    unless: tuple[Conditions, ...]
    text: str

    def as_json(self) -> dict[str, Any]:
        """Give the words for programs; `unless` is left out where there is nothing."""
        return {"match": self.match, **({"unless": list(self.unless)} if self.unless else {}), "text": self.text}

    def yaml(self) -> tuple[list[Conditions], list[Conditions]] | None:
        """Give `match` and `unless` of a rule in YAML, without lists of values; None where it has no words, or many."""
        match, unless = _written_out(self.match), [_written_out(each) for each in self.unless]
        if match is None or any(each is None for each in unless):
            return None
        return match, [conditions for each in unless if each is not None for conditions in each]


def in_words(
    boxes: Iterable[ValueBox],
    naming: Naming,
    within: Iterable[ValueBox] | None = None,
    outside: Iterable[ValueBox] | None = None,
) -> list[Words]:
    """Say which packets lie in some boxes; together the words mean exactly those of `within`.

    Args:
        boxes: The set.
        naming: What ports and moments are called.
        within: All packets that there are; None is what a parser can give at any time.
        outside: The packets of `within` that aren't in the boxes, where the caller knows them.
    """
    there = every_packet(naming.epochs.all) if within is None else tuple(within)
    parts = join(boxes, there, outside)
    return [words for part in parts for words in _words_of_part(part, naming)]


def _words_of_part(part: Part, naming: Naming) -> Iterator[Words]:
    for piece in _pieces(part.box):
        said = _Saying(piece, naming)
        exceptions = [
            _Saying(_Piece(other.box, versions), naming, among=piece.box.subsets[Subset.EPOCH] & naming.epochs.all)
            for box in part.unless
            for other in _pieces(box)
            if (versions := _asked(other.versions, piece.versions)) and intersection(piece.box, other.box) is not None
        ]
        text = said.text() + "".join(
            f"{'; nor' if number else ', but not'} {each.text()}" for number, each in enumerate(exceptions)
        )
        yield Words(said.match, (*said.unless, *(each.match for each in exceptions)), text)


@dataclass(frozen=True)
class _Piece:
    """A part of a wide box that conditions can ask for together.

    Attributes:
        versions: Of its packets; all three where nothing but tag, ports and time is asked.
    """

    box: ValueBox
    versions: tuple[Version, ...]


def _asked(versions: tuple[Version, ...], of: tuple[Version, ...]) -> tuple[Version, ...]:
    """Give the versions that an exception has to speak of: rules in YAML take no frames without IP."""
    return versions if Version.NONE in of else tuple(each for each in versions if each is not Version.NONE)


def _pieces(box: ValueBox) -> Iterator[_Piece]:
    for tagged in _by_tag(box):
        yield from _by_version(tagged)


def _by_tag(box: ValueBox) -> Iterator[ValueBox]:
    """Divide frames with and without a tag, where some VLANs are asked: what has no tag is in none."""
    tags, (low, high) = box.subsets[Subset.TAG], box.intervals[Dimension.VLAN]
    if (low, high) == ALL_INTERVALS[Dimension.VLAN]:
        yield box
        return
    if low == 0 and tags >> UNTAGGED & 1:
        yield _with(box, {Dimension.VLAN: ALL_INTERVALS[Dimension.VLAN]}, {Subset.TAG: 1 << UNTAGGED})
    if tags & every(UNTAGGED):
        yield _with(box, {}, {Subset.TAG: tags & every(UNTAGGED)})


def _by_version(box: ValueBox) -> Iterator[_Piece]:
    sides = (Dimension.SOURCE, Dimension.DESTINATION)
    parts = {
        version: [(max(box.intervals[side][0], line[0]), min(box.intervals[side][1], line[1])) for side in sides]
        for version, line in LINE.items()
    }
    found = [version for version, ends in parts.items() if all(low <= high for low, high in ends)]
    # Only TCP has flags, only ICMP has types.
    protocols = box.subsets[Subset.PROTOCOL]
    if not box.subsets[Subset.FLAGS] >> NO_HEADER & 1:
        protocols &= 1 << PROTOCOLS["tcp"]
    if box.intervals[Dimension.MESSAGE][1] < NO_MESSAGE:
        protocols &= sum(1 << number for number in ICMP_VERSIONS.values())
    if not protocols:
        return
    box = _with(box, {}, {Subset.PROTOCOL: protocols})
    if not _has_no_ip(box) and Version.NONE in found:
        found.remove(Version.NONE)
    whole = all(parts[version] == [LINE[version]] * 2 for version in found)
    if len(found) == len(Version) and whole and _asks_nothing_of_ip(box):
        yield _Piece(box, tuple(found))
        return
    groups = [[version] for version in found]
    if whole and Version.IPV4 in found and Version.IPV6 in found:
        groups = [[Version.IPV4, Version.IPV6], *([[Version.NONE]] if Version.NONE in found else [])]
    for group in groups:
        ends = [(parts[group[0]][side][0], parts[group[-1]][side][1]) for side in (0, 1)]
        yield _Piece(_with(box, dict(zip(sides, ends, strict=True)), {}), tuple(group))


def _has_no_ip(box: ValueBox) -> bool:
    """Whether frames without an IP header are in a box: what they lack reads as 0."""
    return (
        bool(box.subsets[Subset.PROTOCOL] & box.subsets[Subset.TOS] & 1)
        and box.intervals[Dimension.SOURCE_PORT][0] == box.intervals[Dimension.DESTINATION_PORT][0] == 0
        and bool(box.subsets[Subset.FLAGS] >> NO_HEADER & 1)
        and box.intervals[Dimension.MESSAGE][1] == NO_MESSAGE
    )


def _asks_nothing_of_ip(box: ValueBox) -> bool:
    return (
        box.intervals[Dimension.SOURCE_PORT] == box.intervals[Dimension.DESTINATION_PORT] == (0, 0xFFFF)
        and box.intervals[Dimension.MESSAGE] == (0, NO_MESSAGE)
        and box.subsets[Subset.PROTOCOL] == box.subsets[Subset.TOS] == every(256)
        and box.subsets[Subset.FLAGS] == every(NO_HEADER + 1)
    )


def _with(box: ValueBox, intervals: Mapping[Dimension, Interval], subsets: Mapping[Subset, int]) -> ValueBox:
    return ValueBox(
        tuple(intervals.get(Dimension(place), side) for place, side in enumerate(box.intervals)),
        tuple(subsets.get(Subset(place), side) for place, side in enumerate(box.subsets)),
    )


class _Saying:
    """Says what a piece asks for.

    Attributes:
        match, unless: In YAML's keys. A subset is said by what it lacks where that is shorter; in the text alone where
            it is an exception itself, which has no exceptions of its own. Of an exception's times it is said how they
            differ from those `among` which it is one.
    """

    def __init__(self, piece: _Piece, naming: Naming, *, among: int | None = None) -> None:
        self.match: Conditions = {}
        self.unless: list[Conditions] = []
        self._positive = among is not None
        self._naming = naming
        self._texts: dict[str, str] = {}
        self._versions = piece.versions
        box = piece.box
        if Version.NONE in piece.versions:
            self.match["frame"] = NOT_IP if len(piece.versions) == 1 else ["ip", NOT_IP]
        self._ports_of_node("ingress-port", box.subsets[Subset.INGRESS], "in")
        self._ports_of_node("egress-port", box.subsets[Subset.EGRESS], "out of")
        if piece.versions != (Version.NONE,):
            self._ip(box)
        self._tag(box)
        self._subset("qos-group", box.subsets[Subset.GROUP], LAST_QOS_GROUP + 1, "qos-group", int)
        self._when(box.subsets[Subset.EPOCH], naming.epochs.all if among is None else among)

    def _ip(self, box: ValueBox) -> None:
        self._subset("protocol", box.subsets[Subset.PROTOCOL], 256, "", write_protocol)
        self._addresses(box)
        for key, dimension in (
            ("source-ports", Dimension.SOURCE_PORT),
            ("destination-ports", Dimension.DESTINATION_PORT),
        ):
            if box.intervals[dimension] != (0, 0xFFFF):
                ports = PortRange(*box.intervals[dimension])
                self._say(key, [PortRange.write(ports)], f"{'port' if ports.first == ports.last else 'ports'} {ports}")
        self._flags(box.subsets[Subset.FLAGS])
        self._messages(box.intervals[Dimension.MESSAGE], box.subsets[Subset.PROTOCOL])
        self._tos(box.subsets[Subset.TOS])

    def text(self) -> str:
        """Give the line for people."""
        said = self._texts
        if self._versions == (Version.NONE,):
            subject = "frames that aren't IP"
        elif len(self._versions) == len(Version):
            subject = "every packet"
        else:
            subject = said.get("protocol") or ("IP" if len(self._versions) > 1 else f"IPv{_NUMBERS[self._versions[0]]}")
        if "protocol-but" in said:
            subject = f"{subject} other than {said['protocol-but']}"
        for word, side in (("from", "source"), ("to", "destination")):
            ports = said.get(f"{side}-ports")
            if side in said or ports:
                subject += " ".join(filter(None, (f" {word}", said.get(side, "any"), ports)))
        others = ("tcp-flags", "icmp-type", "tos", "pcp", "vlan", "ingress-port", "egress-port", "qos-group", "when")
        return ", ".join((subject, *(said[key] for key in others if key in said)))

    def _say(self, key: str, values: Sequence[Any], text: str, shown_as: str = "") -> None:
        self.match[key] = values[0] if len(values) == 1 else list(values)
        self._texts[shown_as or key] = text

    def _except(
        self, missing: tuple[str, Sequence[Any]], said: tuple[str, Sequence[Any]], text: str, shown_as: str
    ) -> None:
        """Say what is missing, as key and values; an exception says what is there in YAML."""
        self._texts[shown_as] = text
        if self._positive:
            self._say(*said, text, shown_as)
            return
        key, values = missing
        frame = {"frame": self.match["frame"]} if "frame" in self.match else {}
        self.unless.append({**frame, key: values[0] if len(values) == 1 else list(values)})

    def _subset(self, key: str, bits: int, count: int, word: str, value: Any) -> None:
        """Say some of `count` numbers, or those that are missing."""
        if bits == every(count):
            return
        numbers, missing = _numbers(bits), _numbers(every(count) & ~bits)
        said, unsaid = ([value(number) for number in each] for each in (numbers, missing))
        if len(missing) >= len(numbers):
            self._say(key, said, f"{word} {_some(said)}".strip())
        elif word:
            self._except((key, unsaid), (key, said), f"{word} not {_some(unsaid)}", key)
        else:
            self._except((key, unsaid), (key, said), _some(unsaid, "and"), f"{key}-but")

    def _ports_of_node(self, key: str, bits: int, word: str) -> None:
        if bits == PORTS:
            return
        numbers, missing = _numbers(bits), _numbers(PORTS & ~bits)
        shown = self._naming.shown
        said, unsaid = ([self._naming.port(number) for number in each] for each in (numbers, missing))
        if len(missing) >= len(numbers):
            self._say(key, said, f"{word} {_some([shown(number) for number in numbers])}")
        else:
            text = f"{word} any port but {_some([shown(number) for number in missing], 'and')}"
            self._except((key, unsaid), (key, said), text, key)

    def _addresses(self, box: ValueBox) -> None:
        if len(self._versions) > 1:
            return
        version = self._versions[0]
        line = LINE[version]
        kind = IPv4Address if version is Version.IPV4 else IPv6Address
        sides = {"source": box.intervals[Dimension.SOURCE], "destination": box.intervals[Dimension.DESTINATION]}
        if all(side == line for side in sides.values()):
            # The policy's words for a version are all of its addresses.
            self.match["source"] = "0.0.0.0/0" if version is Version.IPV4 else "::/0"
            if "protocol" in self._texts:
                self._texts["source"] = self.match["source"]
            return
        for key, (low, high) in sides.items():
            if (low, high) != line:
                said = str(AddressRange(kind(low - line[0]), kind(high - line[0])))
                self._say(key, [said], said)

    def _tag(self, box: ValueBox) -> None:
        tags, vlans = box.subsets[Subset.TAG], box.intervals[Dimension.VLAN]
        if vlans != ALL_INTERVALS[Dimension.VLAN]:
            said = str(PortRange(*vlans))
            self._say("vlan", [vlans[0] if vlans[0] == vlans[1] else said], f"vlan {said}")
        if tags == 1 << UNTAGGED:
            self._say("vlan", [UNTAGGED_WORD], UNTAGGED_WORD)
        elif tags == every(UNTAGGED):
            if "vlan" not in self.match:
                self._say("pcp", [{"value": 0, "mask": 0}], "tagged")
        else:
            self._subset(
                "pcp", tags, UNTAGGED + 1, "802.1p", lambda number: UNTAGGED_WORD if number == UNTAGGED else number
            )

    def _flags(self, bits: int) -> None:
        if bits == every(NO_HEADER + 1):
            return
        with_header, missing = bits & every(NO_HEADER), ~bits & every(NO_HEADER)
        if bits >> NO_HEADER:
            if not with_header:
                self._say("tcp-flags", [NONE], "without a TCP header")
                return
            asked, unsaid = ([str(TcpFlags(*cube)) for cube in _cubes(each)] for each in (with_header, missing))
            self._except(
                ("tcp-flags", unsaid), ("tcp-flags", [*asked, NONE]), f"tcp-flags not {_some(unsaid)}", "tcp-flags"
            )
            return
        asked = [str(TcpFlags(*cube)) for cube in _cubes(with_header)]
        self._say("tcp-flags", asked, "with a TCP header" if asked == ["any"] else f"tcp-flags {_some(asked)}")

    def _messages(self, asked: Interval, protocols: int) -> None:
        low, high = asked
        if asked == ALL_INTERVALS[Dimension.MESSAGE]:
            return
        if low == NO_MESSAGE:
            self._say("icmp-type", [NONE], "without an ICMP header")
            return
        types = _types(low, min(high, NO_MESSAGE - 1))
        if (low, high) == (0, NO_MESSAGE - 1):
            self._say("icmp-type", types, "with an ICMP header")
            return
        if high == NO_MESSAGE:
            types.append(NONE)
        self._say("icmp-type", types, f"icmp-type {_some(types)}")

    def _tos(self, octets: int) -> None:
        if octets == every(256):
            return
        said, missing = _marks(octets), _marks(every(256) & ~octets)
        if len(missing[1]) < len(said[1]):
            self._except(missing, said, _marked(*missing, "not "), "tos")
        else:
            self._say(said[0], said[1], _marked(*said), "tos")

    def _when(self, epochs: int, among: int) -> None:
        if among & ~epochs:
            words = list(self._naming.epochs.words(epochs & among, among))
            self._say("when", words, _some(words))


_NUMBERS = {Version.IPV4: 4, Version.IPV6: 6}


def _numbers(bits: int) -> list[int]:
    found = []
    while bits:
        found.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return found


_SHOWN = 24  # values of a list in a line of text


def _some(values: Sequence[Any], last: str = "or") -> str:
    words = [str(value) for value in _runs(values)]
    if len(words) > _SHOWN:
        words = [*words[: _SHOWN - 1], f"{len(words) - _SHOWN + 1} more"]
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _runs(values: Sequence[Any]) -> Iterator[Any]:
    """Write three and more numbers that follow each other as a range."""
    run: list[int] = []
    for value in (*values, None):
        if isinstance(value, int) and (not run or value == run[-1] + 1):
            run.append(value)
            continue
        if len(run) > 2:
            yield f"{run[0]}-{run[-1]}"
        else:
            yield from run
        run = []
        if isinstance(value, int):
            run.append(value)
        elif value is not None:
            yield value


@cache
def _cube(value: int, mask: int) -> int:
    return sum(1 << octet for octet in range(256) if octet & mask == value)


@cache
def _cubes(octets: int) -> tuple[tuple[int, int], ...]:
    """Give few patterns, value and mask, that together are a set of octets."""
    found: list[tuple[int, int]] = []
    left = octets
    while left:
        # The widest pattern around the first octet that is left: bits that may be anything, one after another.
        value, mask = (left & -left).bit_length() - 1, 0xFF
        best = (value, mask)
        for order in range(8):
            value, mask = (left & -left).bit_length() - 1, 0xFF
            for step in range(8):
                bit = 1 << (order + step) % 8
                if not _cube(value & ~bit, mask & ~bit) & ~octets:
                    value, mask = value & ~bit, mask & ~bit
            if mask.bit_count() < best[1].bit_count():
                best = (value, mask)
        found.append(best)
        left &= ~_cube(*best)
    return tuple(found)


def dscp_name(number: int) -> str:
    """Give the name of a DSCP, or its number."""
    return _DSCP_NAMES.get(number, str(number))


@cache
def _marks(octets: int) -> tuple[str, tuple[Any, ...]]:
    """Give a key of YAML and values that together are a set of ToS octets."""
    for key, width in (("precedence", 5), ("dscp", 2)):
        numbers = [number for number in range(1 << 8 - width) if octets >> (number << width) & every(1 << width)]
        if all(octets >> (number << width) & every(1 << width) == every(1 << width) for number in numbers):
            return key, tuple(_DSCP_NAMES.get(number, number) if key == "dscp" else number for number in numbers)
    return "tos", tuple(value if mask == 0xFF else {"value": value, "mask": mask} for value, mask in _cubes(octets))


def _marked(key: str, values: Sequence[Any], negation: str = "") -> str:
    if key != "tos":
        return f"{key} {negation}{_some(values)}"
    return f"tos {negation}{_some([_octets(value) for value in values])}"


def _octets(value: int | dict[str, int]) -> str:
    """Say a pattern of the ToS octet: its DSCP and ECN where it is one octet."""
    if isinstance(value, dict):
        return f"{value['value']:#04x} under {value['mask']:#04x}"
    return f"{value} ({dscp_name(value >> 2)}, {ECN[value & 3]})"


def _types(low: int, high: int) -> list[Any]:
    """Say ICMP types and codes from `low` to `high`: whole types as numbers or ranges, codes of one as ``3/0-3/5``."""
    found: list[Any] = []
    if low & 0xFF and low >> 8 != high >> 8:
        found += _codes(low, low | 0xFF)
        low = (low | 0xFF) + 1
    if high & 0xFF != 0xFF or low & 0xFF:
        first = max(low, high & ~0xFF)
        last_codes = _codes(first, high)
        high = first - 1
    else:
        last_codes = []
    if low <= high:
        first, last = low >> 8, high >> 8
        found.append(first if first == last else f"{first}-{last}")
    return found + last_codes


def _codes(low: int, high: int) -> list[str]:
    first, last = f"{low >> 8}/{low & 0xFF}", f"{high >> 8}/{high & 0xFF}"
    return [first if low == high else f"{first}-{last}"]


def _written_out(conditions: Conditions) -> list[Conditions] | None:
    """Give the same as conditions with one value for each key; None where YAML has no word."""
    if "frame" in conditions or "when" in conditions:
        return None
    choices: list[list[Conditions]] = []
    count = 1
    for key, said in conditions.items():
        values = said if isinstance(said, list) else [said]
        if key in ("tcp-flags", "icmp-type") and NONE in values:
            return None
        if key == "icmp-type":
            values = [value for each in values for value in _each_type(each)]
        elif key == "vlan":
            values = [value for each in values for value in _each_number(each)]
        count *= len(values)
        if count > _ALTERNATIVES:
            return None
        choices.append([{"vlan" if value == UNTAGGED_WORD else key: value} for value in values])
    return [{key: value for each in choice for key, value in each.items()} for choice in product(*choices)]


def _each_number(value: Any) -> list[Any]:
    if not isinstance(value, str) or "-" not in value:
        return [value]
    first, _, last = value.partition("-")
    return list(range(int(first), int(last) + 1))


def _each_type(value: Any) -> list[Any]:
    if not isinstance(value, str) or "-" not in value:
        return [value]
    first, _, last = value.partition("-")
    if "/" not in first:
        return list(range(int(first), int(last) + 1))
    kind = first.partition("/")[0]
    return [f"{kind}/{code}" for code in range(int(first.partition("/")[2]), int(last.partition("/")[2]) + 1)]
