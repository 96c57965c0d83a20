"""Entries are found by value: the same ones as by asking one after another."""

from hypothesis import given, settings
from hypothesis import strategies as st

from phb.explain.tables import Tables, matches
from phb.intent import Entry, Exact, Prefix, Range, Ternary
from phb.origin import UNKNOWN
from tests.examples import share

BITS = 4
numbers = st.integers(0, (1 << BITS) - 1)
values = st.one_of(
    numbers.map(Exact),
    st.tuples(numbers, st.sampled_from([0, 1, 8, 12, 15])).map(lambda pair: Ternary(pair[0], pair[1])),
    st.tuples(numbers, numbers).map(lambda pair: Range(*pair)),
    st.tuples(numbers, st.integers(0, BITS)).map(lambda pair: Prefix(*pair)),
)
matching = st.dictionaries(st.sampled_from("abc"), values)
entries = st.lists(st.tuples(st.integers(0, 3), matching), max_size=12)


@settings(max_examples=share(100))
@given(entries, st.lists(st.fixed_dictionaries(dict.fromkeys("abc", numbers)), min_size=1, max_size=8))
def test_the_first_that_takes_a_packet(asked, packets):
    made = [
        Entry(table="t", match=match, action=str(number), parameters={}, priority=priority, origin=UNKNOWN)
        for number, (priority, match) in enumerate(asked)
    ]
    tables = Tables(made)
    for packet in packets:
        found = tables.lookup("t", packet, BITS)
        taking = (
            each
            for each in tables.entries("t")
            if all(matches(value, packet[name], BITS) for name, value in each.match.items())
        )
        assert found is next(taking, None)
    assert tables.lookup("other", packets[0]) is None
