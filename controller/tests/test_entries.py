"""Differences: applying them gives what is wanted, whatever the switch held."""

from hypothesis import given
from hypothesis import strategies as st

from phb.entries import Change, TableRow, applied, by_key, difference

rows = st.builds(
    TableRow,
    table=st.integers(1, 3),
    match=st.tuples(st.tuples(st.just(1), st.integers(0, 3), st.just(0))),
    priority=st.integers(0, 2),
    action=st.integers(1, 2),
    parameters=st.tuples(st.integers(0, 3)),
)
tables = st.lists(rows, max_size=12).map(lambda rows: list(by_key(rows).values()))


@given(tables, tables)
def test_applying_a_difference_gives_what_is_wanted(before, wanted):
    table = by_key(before)
    for update in difference(before, wanted):
        place = update.row.key
        match update.change:
            case Change.INSERT:
                assert place not in table
                table[place] = update.row
            case Change.MODIFY:
                assert table[place] == update.before != update.row
                table[place] = update.row
            case Change.DELETE:
                del table[place]
    assert table == by_key(wanted)
    assert set(applied(before, difference(before, wanted))) == set(wanted)
    assert difference(wanted, wanted) == []


@given(tables, tables)
def test_rows_are_there_before_and_gone_after_what_refers_to_them(before, wanted):
    updates = difference(before, wanted, referring=frozenset({1}))
    inserts = [update.row.table == 1 for update in updates if update.change is Change.INSERT]
    deletes = [update.row.table == 1 for update in updates if update.change is Change.DELETE]
    assert inserts == sorted(inserts)
    assert deletes == sorted(deletes, reverse=True)
