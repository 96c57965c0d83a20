"""LDIF: values with their places, and the same octets for the same entries."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb.errors import InputError
from phb.formats.ldap.ldif import read_entries, write_entries


def test_entries():
    text = "version: 1\n# a comment\n  of two lines\ndn: cn=a,o=x\ncn: a\ndescription: long\n er\n\n\n"
    text += "dn:: Y249YixvPXg=\ncn: b\n"
    one, other = read_entries(text, "f")
    assert str(one.dn) == "cn=a,o=x"
    assert one.one("CN").text == "a"
    assert (one.one("description").text, one.one("description").origin.line) == ("longer", 6)
    assert str(other.dn) == "cn=b,o=x"
    assert other.origin.line == 10


def test_a_comment_may_be_folded_and_stand_inside_an_entry():
    (entry,) = read_entries("dn: cn=a,o=x\n# folded\n  comment\ncn: a\n", "f")
    assert [value.text for value in entry.all("cn")] == ["a"]


@pytest.mark.parametrize(
    "behind", ["search: 2\nresult: 0 Success\n", "# x\n\nsearch: 2\nresult: 0 Success\ncontrol: 1 f\n"]
)
def test_what_ldapsearch_prints_behind_the_entries(behind):
    (entry,) = read_entries(f"dn: cn=a,o=x\ncn: a\n\n# search result\n{behind}\n# numResponses: 2\n", "f")
    assert str(entry.dn) == "cn=a,o=x"


def test_an_entry_that_is_added_is_an_entry():
    (entry,) = read_entries("dn: cn=a,o=x\nchangetype: add\ncn: a\n", "f")
    assert list(entry.values) == ["cn"]


def test_a_value_of_very_many_lines():
    (entry,) = read_entries("dn: o=x\ndescription: a\n" + " b\n" * 1_000_000, "f")
    assert len(entry.one("description").octets) == 1_000_001


def test_an_error_quotes_a_part_of_what_is_long():
    (entry,) = read_entries("dn: o=x\ncn: " + "a" * 1_000_000, "f")
    with pytest.raises(InputError, match=r"^f:2: found 'a{199}\.\.\., expected b$"):
        entry.one("cn").fail(f"'{entry.one('cn').text}'", "b")


def test_what_a_directory_gave_has_places_by_name():
    (entry,) = read_entries("dn: cn=a,o=x\ncn: a\n", "ldap://h:389/o=x")
    assert str(entry.origin) == "ldap://h:389/cn=a,o=x"
    assert str(entry.one("cn").origin) == "ldap://h:389/cn=a,o=x: cn"


ERRORS = {
    "version: 2\ndn: o=x\n": "f:1: found 'version: 2', expected version: 1",
    "cn: a\n": "f:1: found 'cn', expected dn: and the name of an entry",
    "dn: here\n": "f:1: found 'here', expected a distinguished name such as cn=gold,ou=policy,o=example",
    "dn: o=x\nchangetype: delete\n": "f:2: found 'changetype: delete', expected entries as they are: changes belong "
    "into the directory (ldapmodify)",
    "dn: o=x\no: x\ndn: o=y\no: y\n": "f:3: found 'dn: o=y' in entry o=x, expected an empty line before the next entry",
    "dn: o=x\no: x\n\nsearch: 2\nresult: 4 Size limit exceeded\n": "f:5: found 'result: 4 Size limit exceeded', "
    "expected result: 0 Success, of a search that gave everything",
    "dn: o=x\nwhat\n": "f:2: found 'what', expected ATTRIBUTE: VALUE",
    "dn: o=x\ncn:< file:///etc/passwd\n": "f:2: found 'file:///etc/passwd' to be read from elsewhere, expected cn: and "
    "the value itself",
    "dn: o=x\ncn:: a\n": "f:2: found 'a', expected cn:: and the value in base64",
    "dn: o=x\n\ndn: O=X\n": "f:3: found entry O=X again, expected it once; it also stands at f:1",
}


@pytest.mark.parametrize("text", ERRORS)
def test_error(text):
    with pytest.raises(InputError) as caught:
        read_entries(text, "f")
    assert str(caught.value) == ERRORS[text]


def test_a_value_that_is_no_text():
    (entry,) = read_entries(f"dn: o=x\ncn:: {base64.b64encode(bytes([0xFF, 0xFE])).decode()}\n", "f")
    with pytest.raises(InputError, match=r"^f:2: found 2 octets that aren't UTF-8, expected text$"):
        _ = entry.one("cn").text


def test_two_values_where_one_is_meant():
    (entry,) = read_entries("dn: o=x\ncn: a\ncn: b\n", "f")
    with pytest.raises(InputError, match=r"^f:3: found 2 values, expected one value of cn$"):
        entry.one("cn")


values = st.lists(st.binary(max_size=20), min_size=1, max_size=3)
directories = st.dictionaries(
    st.text("abc", min_size=1, max_size=5).map(lambda name: f"cn={name},o=x"),
    st.dictionaries(st.sampled_from(["cn", "description", "pcimKeywords"]), values),
)


@given(directories)
def test_entries_to_ldif_to_entries(entries):
    again = read_entries(write_entries(entries).decode(), "f")
    found = {
        str(entry.dn): {each[0].attribute: sorted(value.octets for value in each) for each in entry.values.values()}
        for entry in again
    }
    assert found == {dn: {name: sorted(each) for name, each in values.items()} for dn, values in entries.items()}


@given(directories)
def test_order_does_not_matter(entries):
    reversed_entries = {
        dn: {name: values[::-1] for name, values in reversed(attributes.items())}
        for dn, attributes in reversed(entries.items())
    }
    assert write_entries(entries) == write_entries(reversed_entries)
