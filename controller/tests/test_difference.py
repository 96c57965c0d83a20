"""Differences: applying them gives what is wanted, whatever the switch held."""

from finsy.proto import p4r
from hypothesis import given
from hypothesis import strategies as st

from phb.difference import Change, by_key, canonical, difference, key


@st.composite
def entries(draw):
    entry = p4r.TableEntry(table_id=draw(st.integers(1, 3)), priority=draw(st.integers(0, 2)))
    field = entry.match.add(field_id=1)
    field.exact.value = bytes([draw(st.integers(0, 3))])
    entry.action.action.action_id = draw(st.integers(1, 2))
    entry.action.action.params.add(param_id=1, value=bytes([draw(st.integers(0, 3))]))
    return entry


tables = st.lists(entries(), max_size=12).map(by_key)


@given(tables, tables)
def test_applying_a_difference_gives_what_is_wanted(before, wanted):
    table = dict(before)
    for update in difference(before, wanted):
        place = key(update.entry)
        match update.change:
            case Change.INSERT:
                assert place not in table
                table[place] = update.entry
            case Change.MODIFY:
                assert table[place] == update.before != update.entry
                table[place] = update.entry
            case Change.DELETE:
                del table[place]
    assert table == wanted
    assert difference(wanted, wanted) == []


@given(tables, tables)
def test_entries_are_there_before_and_gone_after_what_refers_to_them(before, wanted):
    updates = difference(before, wanted, classifying=frozenset({1}))
    inserts = [update.entry.table_id == 1 for update in updates if update.change is Change.INSERT]
    deletes = [update.entry.table_id == 1 for update in updates if update.change is Change.DELETE]
    assert inserts == sorted(inserts)
    assert deletes == sorted(deletes, reverse=True)


@given(entries())
def test_what_a_server_adds_is_no_difference(entry):
    returned = p4r.TableEntry()
    returned.CopyFrom(entry)
    returned.counter_data.packet_count = 5
    returned.match[0].exact.value = b"\0\0" + returned.match[0].exact.value
    returned.action.action.params[0].value = b"\0" + returned.action.action.params[0].value
    assert canonical(returned) == canonical(entry)


def test_every_kind_of_match_is_made_canonical():
    entry = p4r.TableEntry(table_id=1)
    for number in (5, 4, 3, 2, 1):
        entry.match.add(field_id=number)
    five, four, three, two, one = entry.match
    one.exact.value = b"\0\x01"
    two.lpm.value, two.lpm.prefix_len = b"\0\x02", 7
    three.ternary.value, three.ternary.mask = b"\0\x03", b"\0\x03"
    four.range.low, four.range.high = b"\0\0", b"\0\x04"
    five.optional.value = b"\0\0\x05"
    first, second, third, fourth, fifth = canonical(entry).match
    assert first.exact.value == b"\x01"
    assert (second.lpm.value, second.lpm.prefix_len) == (b"\x02", 7)
    assert (third.ternary.value, third.ternary.mask) == (b"\x03", b"\x03")
    assert (fourth.range.low, fourth.range.high) == (b"\0", b"\x04")
    assert fifth.optional.value == b"\x05"
