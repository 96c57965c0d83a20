"""Shortened names of tables, actions and keys."""

import pytest

from phb_switch.stf.names import find, find_key
from phb_switch.stf.statements import StatementError

TABLES = ["In.t", "In.first", "In.deep.t2", "Out.t2", "t3"]


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("In.t", "In.t"),
        ("t", "In.t"),
        ("first", "In.first"),
        ("deep.t2", "In.deep.t2"),
        ("rst", "In.first"),
        ("t3", "t3"),
    ],
)
def test_a_name_is_found(short, full):
    assert find("table", short, TABLES, str) == full


@pytest.mark.parametrize(
    ("short", "message"),
    [
        ("t2", "table t2 is short for In.deep.t2, Out.t2"),
        ("x", "found table x, expected one of: In.t, In.first, In.deep.t2, Out.t2, t3"),
    ],
)
def test_a_name_that_is_none_or_several_is_refused(short, message):
    with pytest.raises(StatementError) as error:
        find("table", short, TABLES, str)
    assert str(error.value) == message


KEYS = [(name, "exact", 8) for name in ("hdr.a.f", "hdr.stack[1].f", "hdr.v.$valid$", "meta.g", "e", "h.b.valid$")]


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("hdr.a.f", "hdr.a.f"),
        ("a.f", "hdr.a.f"),
        ("stack$1.f", "hdr.stack[1].f"),
        ("stack[1].f", "hdr.stack[1].f"),
        ("g", "meta.g"),
        ("e", "e"),
        ("v", "hdr.v.$valid$"),
        ("v.valid", "hdr.v.$valid$"),
        ("v.$valid", "hdr.v.$valid$"),
        ("hdr.v.$valid$", "hdr.v.$valid$"),
        ("b.valid", "h.b.valid$"),
    ],
)
def test_a_key_is_found(short, full):
    assert find_key("t", short, KEYS)[0] == full


@pytest.mark.parametrize(
    ("short", "message"), [("f", "key f of t is short for hdr.a.f, hdr.stack"), ("x", "found key x of t")]
)
def test_a_key_that_is_none_or_several_is_refused(short, message):
    with pytest.raises(StatementError, match=message):
        find_key("t", short, KEYS)
