"""Behaviours that nobody wrote, whose steps overlap often."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import strategies as st

from phb.behaviour.behaviour import NO_ROUTE, Behaviour, Meter, Route, RouteKind, Service, Step, Treatment
from phb.behaviour.marks import UNMARKED, Marks
from phb.model import MeterKind
from phb.packets.boxes import ValueBox
from phb.packets.space import UNTAGGED, Packet, Version, box_of, every

Does = TypeVar("Does")
METER = Meter(MeterKind.SINGLE_RATE, 8000, 1000, 0, 1000, False, 0, False)
ALL_MARKS = (
    UNMARKED,
    Marks(46 << 2, 0xFC),
    Marks(10 << 2, 0xFC, group=1),
    Marks(0x20, 0xE0, pcp_value=5, pcp_mask=7),
    Marks(from_pcp=0xE0),
    Marks(from_precedence=7, group=2),
)
MARKS = st.sampled_from(ALL_MARKS)
_INTERVALS = {
    "source": [(0, 3), (2, 5), (4, 4), (0, 0xFFFF_FFFF)],
    "destination": [(0, 0), (0, 9), (7, 12)],
    "source_port": [(0, 1023), (80, 80)],
    "destination_port": [(80, 80), (79, 81), (443, 9000)],
    "vlan": [(1, 4095), (0, 5)],
    "message": [(0x800, 0x8FF)],
}
_SUBSETS = {
    "ingress": [0b10, 0b110],
    "protocol": [1 << 6, 1 << 17, 1 << 6 | 1 << 17],
    "tos": [sum(1 << (46 << 2 | ecn) for ecn in range(4)), every(256) & ~1, 0x32 << 40, every(128)],
    "tag": [1 << UNTAGGED, every(UNTAGGED), 0b101],
    "flags": [sum(1 << octet for octet in range(256) if octet & 2)],
}
_AFTER = {"egress": [0b10, 0b110], "group": [0b1, 0b10, 0b110]}


def boxes(epochs: int, *, after: bool = False) -> st.SearchStrategy[ValueBox]:
    """Give boxes; `after` forwarding they ask for the egress port and the group, too."""
    asked = {**_INTERVALS, **_SUBSETS, "epoch": sorted({1, epochs}), **(_AFTER if after else {})}
    some = st.lists(st.sampled_from(sorted(asked)), max_size=3, unique=True)
    return st.builds(
        lambda version, values: box_of(version, **{"epochs": epochs, **values}),
        st.sampled_from([Version.IPV4, Version.IPV4, Version.IPV6]),
        some.flatmap(lambda names: st.fixed_dictionaries({name: st.sampled_from(asked[name]) for name in names})),
    )


def _steps(
    does: st.SearchStrategy[Does], box: st.SearchStrategy[ValueBox], most: int
) -> st.SearchStrategy[tuple[Step[Does], ...]]:
    step = st.builds(
        Step,
        st.lists(box, min_size=1, max_size=2).map(tuple),
        st.lists(box, max_size=1).map(tuple),
        does,
    )
    return st.lists(step, max_size=most).map(tuple)


def _treatments() -> st.SearchStrategy[Treatment]:
    marks = MARKS | st.none()
    return st.builds(
        Treatment,
        st.sampled_from([False, False, False, True]),
        st.sampled_from([None, "a", "b"]),
        st.none(),
        st.sampled_from([None, METER]),
        st.tuples(MARKS, marks, marks),
    )


def behaviours(epochs: int = 1) -> st.SearchStrategy[Behaviour]:
    """Give behaviours of a few steps."""
    return st.builds(
        Behaviour,
        _steps(_treatments(), boxes(epochs), 4),
        _steps(
            st.sampled_from([Route(RouteKind.WIRE, 1), Route(RouteKind.WIRE, 2), Route(RouteKind.DISCARD), NO_ROUTE]),
            st.sampled_from(
                [
                    box_of(Version.IPV4, epochs=epochs, **asked)
                    for asked in ({}, {"ingress": 0b10}, {"destination": (0, 9)})
                ]
            ),
            3,
        ),
        _steps(_treatments(), boxes(epochs, after=True), 3),
        services=st.just({1: {None: Service("rest"), "a": Service("a", (("level", 0),))}}),
    )


def packet_in(box: ValueBox, choose: st.DataObject) -> Packet:
    """Give any packet of a box, often one at its edge."""
    intervals = [choose.draw(st.sampled_from([low, high]) | st.integers(low, high)) for low, high in box.intervals]
    subsets = [
        choose.draw(st.sampled_from([value for value in range(bits.bit_length()) if bits >> value & 1]))
        for bits in box.subsets
    ]
    return Packet(tuple(intervals), tuple(subsets))
