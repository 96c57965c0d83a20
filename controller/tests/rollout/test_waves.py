"""Which switches come in which wave."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb.errors import InputError
from phb.inventory import Switch
from phb.rollout.waves import waves_of

GROUPS = ["berlin", "berlin", "berlin", "bern", "bern", None, "cork", "berlin", "bern", "cork"]


def switches(groups=GROUPS):
    return [
        Switch.model_validate(
            {"name": f"s{number}", "address": f"h:{number + 1}", "policies": ["p"], "groups": [group] if group else []}
        )
        for number, group in enumerate(groups)
    ]


def names(waves):
    return [" ".join(switch.name for switch in wave) for wave in waves]


@pytest.mark.parametrize(
    ("canary", "sizes", "expected"),
    [
        (None, ["4"], ["s0 s1 s2 s3", "s4 s5 s6 s7", "s8 s9"]),
        (None, ["10%", "3"], ["s0", "s1 s2 s3", "s4 s5 s6", "s7 s8 s9"]),
        (None, ["15%"], ["s0 s1", "s2 s3", "s4 s5", "s6 s7", "s8 s9"]),
        ("1", [], ["s0", "s1 s2 s3 s4 s5 s6 s7 s8 s9"]),
        # One of each group, in the inventory's order, before the second of any.
        ("6", [], ["s0 s3 s5 s6 s1 s4", "s2 s7 s8 s9"]),
        ("20%", ["50%"], ["s0 s3", "s1 s2 s4 s5 s6", "s7 s8 s9"]),
        ("s7, s2", ["100%"], ["s2 s7", "s0 s1 s3 s4 s5 s6 s8 s9"]),
        ("cork,s0", [], ["s0 s6 s9", "s1 s2 s3 s4 s5 s7 s8"]),
        ("100%", ["1"], ["s0 s3 s5 s6 s1 s4 s9 s2 s8 s7"]),
        ("40", ["1"], ["s0 s3 s5 s6 s1 s4 s9 s2 s8 s7"]),
    ],
)
def test_waves(canary, sizes, expected):
    assert names(waves_of(switches(), canary, sizes)) == expected


@pytest.mark.parametrize(
    ("canary", "sizes", "message"),
    [
        ("0", [], "--canary: found '0', expected a number of switches such as 20, or 1% to 100%"),
        ("101%", [], "--canary: found '101%', expected a number of switches"),
        ("edge", [], "--canary: found 'edge', expected a number such as 3 or 1%, or names"),
        ("s1,,s2", [], "--canary: found ''"),
        ("-1", [], "--canary: found '-1'"),
        (None, ["0"], "--wave: found '0', expected"),
        (None, ["5", "0%"], "--wave: found '0%', expected"),
        (None, ["x"], "--wave: found 'x', expected"),
        (None, ["1.5"], "--wave: found '1.5', expected"),
    ],
)
def test_what_is_no_wave_is_named(canary, sizes, message):
    with pytest.raises(InputError, match=re.escape(message)):
        waves_of(switches(), canary, sizes)


@given(
    st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=30),
    st.one_of(st.none(), st.integers(1, 40).map(str), st.integers(1, 100).map("{}%".format)),
    st.lists(st.one_of(st.integers(1, 40).map(str), st.integers(1, 100).map("{}%".format)), max_size=3),
)
def test_each_switch_is_in_one_wave(groups, canary, sizes):
    all_of_them = switches(groups)
    waves = waves_of(all_of_them, canary, sizes)
    assert sorted(switch.name for wave in waves for switch in wave) == sorted(switch.name for switch in all_of_them)
    assert all(waves)
    assert waves == waves_of(all_of_them, canary, sizes)
