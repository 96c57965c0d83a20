"""Match fields of a classification table as boxes of packets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Final

from phb.intent import Entry, Exact, MatchValue, Range, Ternary
from phb.packets.boxes import Interval, ValueBox
from phb.packets.space import NO_HEADER, NO_MESSAGE, UNTAGGED, Dimension, Subset, Version, box_of, every
from phb.proving.tables.rows import TableFaultError
from phb.values import ICMP_VERSIONS, PROTOCOLS

ONE_EPOCH: Final = 1
_TCP: Final = PROTOCOLS["tcp"]
_HEADER: Final = 1 << 16
"""The bit of `flags_or_type` that says that there is a header; below are flags of TCP, or type and code of ICMP."""
_MOST_INTERVALS: Final = 1 << 12
_WHOLE: Final = {version: box_of(version, epochs=ONE_EPOCH) for version in Version}
_INTERVALS: Final = {
    "source": Dimension.SOURCE,
    "destination": Dimension.DESTINATION,
    "source_port": Dimension.SOURCE_PORT,
    "destination_port": Dimension.DESTINATION_PORT,
    "vlan": Dimension.VLAN,
}
_SUBSETS: Final = {
    "ingress_port": (Subset.INGRESS, 9),
    "egress_port": (Subset.EGRESS, 9),
    "protocol": (Subset.PROTOCOL, 8),
    "tos": (Subset.TOS, 8),
    "qos_group": (Subset.GROUP, 7),
}
_TAG_FIELDS: Final = ("tagged", "pcp")
_FLAGS_OR_TYPE: Final = "flags_or_type"


def boxes(entry: Entry, version: Version) -> Iterator[ValueBox]:
    """Give the packets of one version that an entry matches: disjoint boxes, nearly always one."""
    whole = _WHOLE[version]
    intervals, subsets = list(whole.intervals), list(whole.subsets)
    several: list[tuple[Dimension, tuple[Interval, ...]]] = []
    for name, value in entry.match.items():
        if name in _INTERVALS:
            dimension = _INTERVALS[name]
            found = _intervals_of(value, 12 if name == "vlan" else whole.intervals[dimension][1].bit_length(), entry)
            if len(found) == 1:
                intervals[dimension] = found[0]
            else:
                several.append((dimension, found))
        elif name in _SUBSETS:
            subset, bits = _SUBSETS[name]
            subsets[subset] &= _values(value, bits)
        elif name not in _TAG_FIELDS and name != _FLAGS_OR_TYPE:
            raise TableFaultError(f"field '{name}' of a classified packet is not known", entry)
    if "tagged" in entry.match or "pcp" in entry.match:
        subsets[Subset.TAG] = _tags(entry.match.get("tagged"), entry.match.get("pcp"))
    if not all(subsets):
        return
    for chosen in product(*(found for _, found in several)):
        for (dimension, _), interval in zip(several, chosen, strict=True):
            intervals[dimension] = interval
        if _FLAGS_OR_TYPE not in entry.match:
            yield ValueBox(tuple(intervals), tuple(subsets))
            continue
        yield from _with_header(entry.match[_FLAGS_OR_TYPE], version, intervals, subsets, entry)


def _with_header(
    asked: MatchValue, version: Version, intervals: list[Interval], subsets: list[int], entry: Entry
) -> Iterator[ValueBox]:
    """Divide by what the parser finds: a header of TCP, one of ICMP, or neither."""
    if not isinstance(asked, Ternary):
        raise TableFaultError(f"field '{_FLAGS_OR_TYPE}' is not ternary", entry)
    protocols = subsets[Subset.PROTOCOL]
    icmp = ICMP_VERSIONS[6 if version is Version.IPV6 else 4]
    every_flag, every_message = subsets[Subset.FLAGS], intervals[Dimension.MESSAGE]

    def part(of: int, flags: int, message: Interval) -> ValueBox:
        intervals[Dimension.MESSAGE] = message
        subsets[Subset.PROTOCOL], subsets[Subset.FLAGS] = of, flags
        return ValueBox(tuple(intervals), tuple(subsets))

    value, mask = asked.value, asked.mask
    # No packet of TCP has a message, and none of ICMP flags, so the other one is left as it is.
    flags = masked(value & 0xFF, mask & 0xFF, 8) if not (value ^ _HEADER) & mask & ~0xFF else 0
    if protocols >> _TCP & 1 and flags:
        yield part(1 << _TCP, flags, every_message)
    if protocols >> icmp & 1 and not (value ^ _HEADER) & mask & _HEADER:
        for message in _intervals_of(Ternary(value & ~_HEADER, mask & ~_HEADER), 16, entry):
            yield part(1 << icmp, every_flag, message)
    if not value & mask:
        yield part(protocols, 1 << NO_HEADER, (NO_MESSAGE, NO_MESSAGE))


def _intervals_of(value: MatchValue, bits: int, entry: Entry) -> tuple[Interval, ...]:
    if isinstance(value, Range):
        return ((value.low, value.high),) if value.low <= value.high else ()
    if isinstance(value, Exact):
        return ((value.value, value.value),)
    if not isinstance(value, Ternary):
        raise TableFaultError("a prefix in a table that has none", entry)
    found = intervals(value.value, value.mask, bits)
    if found is None:
        raise TableFaultError(f"a mask of more than {_MOST_INTERVALS} intervals", entry)
    return found


@cache
def intervals(value: int, mask: int, bits: int) -> tuple[Interval, ...] | None:
    """Give the numbers of some bits that have a value under a mask; None where these are too many intervals."""
    # Free bits at the lower end make an interval; each other free bit makes twice as many.
    free = ~mask & every(bits)
    low = (~free & -~free).bit_length() - 1 if free != every(bits) else bits
    scattered = [number for number in range(low, bits) if free >> number & 1]
    if 1 << len(scattered) > _MOST_INTERVALS:
        return None
    found = []
    for chosen in range(1 << len(scattered)):
        start = value & mask | sum(1 << number for place, number in enumerate(scattered) if chosen >> place & 1)
        found.append((start, start | every(low)))
    return tuple(found)


def _values(value: MatchValue, bits: int) -> int:
    if isinstance(value, Exact):
        return 1 << value.value
    assert isinstance(value, Ternary)
    return masked(value.value, value.mask, bits)


@cache
def masked(value: int, mask: int, bits: int) -> int:
    """Give the subset of numbers that have a value under a mask."""
    return sum(1 << each for each in range(1 << bits) if not (each ^ value) & mask)


@cache
def _tags(tagged: MatchValue | None, pcp: MatchValue | None) -> int:
    """Give the tags: the priority of a frame without one is read as 0."""
    value, mask = (pcp.value, pcp.mask) if isinstance(pcp, Ternary) else (0, 0)
    asked: Callable[[int], bool] = lambda has: not isinstance(tagged, Exact) or tagged.value == has  # noqa: E731
    with_tag = masked(value, mask, 3) if asked(1) else 0
    return with_tag | (masked(value, mask, 3) & 1 if asked(0) else 0) << UNTAGGED
