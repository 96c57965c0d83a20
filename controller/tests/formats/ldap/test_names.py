"""Two spellings of one distinguished name are one name."""

import pytest

from phb.formats.ldap.names import parse_dn

SAME = [
    ("cn=Gold,o=Example", "CN = gold , O=example"),
    ("cn=a  b,o=x", "cn=A B,o=x"),
    (r"cn=a\2cb,o=x", r"cn=a\,b,o=x"),
    ("cn=a+ou=b,o=x", "ou=b + cn=a,o=x"),
    (r"cn=caf\c3\a9,o=x", "cn=café,o=x"),
    ("2.5.4.3=a,o=x", "2.5.4.3=A,o=x"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same(one, other):
    assert parse_dn(one) == parse_dn(other)
    assert hash(parse_dn(one)) == hash(parse_dn(other))


@pytest.mark.parametrize(("one", "other"), [("cn=a,o=x", "cn=b,o=x"), ("cn=a,o=x", "ou=a,o=x"), ("cn=a,o=x", "cn=a")])
def test_not_same(one, other):
    assert parse_dn(one) != parse_dn(other)


@pytest.mark.parametrize("text", ["", "gold", "cn=a,,o=x", "=a", "cn=a+,o=x"])
def test_no_name(text):
    assert parse_dn(text) is None


def test_what_people_call_it():
    assert parse_dn(r"cn=Gold\, really,o=x").value == "Gold, really"
