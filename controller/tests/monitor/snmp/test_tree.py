"""Objects as data: a walk meets each object once and in order, wherever it begins."""

from hypothesis import given
from hypothesis import strategies as st

from phb.monitor.snmp.agentx import Range, Syntax, VarBind
from phb.monitor.snmp.tree import SCALAR, Column, Table, Tree

HEIGHTS = {(1,): 10, (2, 7): None, (2, 9): 2**64 + 5}
COLUMNS = (
    Column(4, "wide", Syntax.COUNTER64, lambda height: height),
    Column(2, "narrow", Syntax.COUNTER32, lambda height: height),
    Column(9, "gauge", Syntax.GAUGE32, lambda height: height),
)
TREE = Tree(
    [
        Table((1, 5), COLUMNS, lambda: HEIGHTS),
        Table((1, 2), (Column(1, "scalar", Syntax.OCTETS, lambda row: row),), lambda: {SCALAR: b"x"}),
        Table((1, 4), COLUMNS, dict),
    ]
)
ALL = [
    VarBind((1, 2, 1, 0), Syntax.OCTETS, b"x"),
    VarBind((1, 5, 2, 1), Syntax.COUNTER32, 10),
    VarBind((1, 5, 2, 2, 9), Syntax.COUNTER32, 5),
    VarBind((1, 5, 4, 1), Syntax.COUNTER64, 10),
    VarBind((1, 5, 4, 2, 9), Syntax.COUNTER64, 5),
    VarBind((1, 5, 9, 1), Syntax.GAUGE32, 10),
    VarBind((1, 5, 9, 2, 9), Syntax.GAUGE32, 2**32 - 1),
]
PLACES = st.lists(st.integers(0, 10), max_size=6).map(tuple)


@given(PLACES, st.booleans(), st.one_of(st.just(()), PLACES))
def test_following(start, include, end):
    found = TREE.following(Range(start, include, end))
    after = [each for each in ALL if each.name > start or (include and each.name == start)]
    if after and (not end or after[0].name < end):
        assert found == after[0]
    else:
        assert found == VarBind(start, Syntax.END_OF_VIEW)


@given(PLACES)
def test_get(name):
    found = TREE.get(name)
    wanted = next((each for each in ALL if each.name == name), None)
    if wanted:
        assert found == wanted
    else:
        column = name[:2] == (1, 2) and name[2:3] == (1,)
        column |= name[:2] in ((1, 4), (1, 5)) and name[2:3] in ((2,), (4,), (9,))
        assert found == VarBind(name, Syntax.NO_SUCH_INSTANCE if column else Syntax.NO_SUCH_OBJECT)


def test_rows_are_made_again_with_a_version():
    rows, version = {(1,): 1}, 0
    table = Table((3,), (Column(1, "", Syntax.INTEGER, lambda row: row),), lambda: dict(rows), lambda: version)
    assert table.following((3,), False).value == 1
    rows[1,], rows[0,] = 2, 5
    assert table.following((3,), False).value == 1
    version = 1
    assert table.following((3,), False).value == 5
