"""Two marks, one after the other, are what `after` says they are."""

from hypothesis import example, given
from hypothesis import strategies as st

from phb.behaviour.marks import Marks
from phb.proving.tables.marking import after

octets, priorities = st.integers(0, 255), st.integers(0, 7)
marks = st.builds(Marks, octets, octets, octets, priorities, priorities, priorities, st.none() | st.integers(0, 127))


def made(flow, given):
    """`write_marks` of p4src/mark.p4."""
    tos, pcp, group = flow
    precedence = tos >> 5
    tos = tos & ~given.from_pcp | pcp << 5 & given.from_pcp
    tos = tos & ~given.mask | given.value & given.mask
    pcp = pcp & ~given.from_precedence | precedence & given.from_precedence
    pcp = pcp & ~given.pcp_mask | given.pcp_value & given.pcp_mask
    return tos, pcp, group if given.group is None else given.group


@given(marks, marks, octets, priorities)
@example(Marks(pcp_value=5, pcp_mask=7), Marks(from_pcp=0xFC), 0x28, 0)
@example(Marks(from_pcp=0xFC), Marks(from_precedence=7), 0x28, 3)
@example(Marks(from_precedence=7), Marks(from_pcp=0xE0), 0xFF, 0)
def test_after(first, second, tos, pcp):
    flow = (tos, pcp, 0)
    assert made(flow, after(first, second)) == made(made(flow, first), second)
