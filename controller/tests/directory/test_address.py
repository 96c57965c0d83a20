"""Addresses of directories, and what the environment says about who asks."""

import pytest

from phb.directory import Access, parse_url, read_access
from phb.errors import InputError


def test_address():
    found = parse_url("ldap://Directory.example.org/ou=a%20b,o=x??one?(cn=a*)")
    assert (found.host, found.port, found.base) == ("directory.example.org", 389, "ou=a b,o=x")
    assert (found.scope, found.search_filter, found.bind_dn) == ("one", "(cn=a*)", None)
    assert found.server == "ldap://directory.example.org:389"


def test_defaults():
    found = parse_url("ldaps://[::1]/o=x")
    assert (found.port, found.scope, found.search_filter) == (636, "sub", "(objectClass=*)")
    assert found.server == "ldaps://[::1]:636"


@pytest.mark.parametrize(("host", "local"), [("localhost", True), ("127.0.0.9", True), ("[::1]", True), ("a.b", False)])
def test_what_stays_on_this_machine(host, local):
    assert parse_url(f"ldap://{host}/o=x").is_local is local


EXPECTED = "ldap://HOST[:PORT]/BASE-DN[??SCOPE[?FILTER]], or ldaps://"
ERRORS = {
    "ldap://": f"ldap://: found no address of a directory, expected {EXPECTED}",
    "ldapi:///o=x": f"ldapi:///o=x: found no address of a directory, expected {EXPECTED}",
    "ldap://h": f"ldap://h: found no base DN, expected {EXPECTED}",
    "ldap://h:port/o=x": "ldap://h:port/o=x: found Port could not be cast to integer value as 'port', expected "
    + EXPECTED,
    "ldap://me:secret@h/o=x": "ldap://h: found a user in the address, expected who asks in PHB_LDAP_BIND_DN and "
    "PHB_LDAP_PASSWORD_FILE",
    "ldap://h/o=x?cn": "ldap://h/o=x?cn: found '?cn', expected no list of attributes: ??SCOPE?FILTER",
    "ldap://h/o=x??deep": "ldap://h/o=x??deep: found scope 'deep', expected one of base, one, sub",
    "ldap://h/o=x????x-y=1": "ldap://h/o=x????x-y=1: found extension 'x-y=1', expected bindname=DN, or none",
}


@pytest.mark.parametrize("url", ERRORS)
def test_wrong_address(url):
    with pytest.raises(InputError) as caught:
        parse_url(url)
    assert str(caught.value) == ERRORS[url]


def test_access(tmp_path):
    (tmp_path / "password").write_text("a b\n")
    for name in ("ca", "certificate", "key"):
        (tmp_path / name).write_text("")
    found = read_access(
        {
            "PHB_LDAP_BIND_DN": "cn=phb",
            "PHB_LDAP_PASSWORD_FILE": str(tmp_path / "password"),
            "PHB_LDAP_CA": str(tmp_path / "ca"),
            "PHB_LDAP_CERTIFICATE": str(tmp_path / "certificate"),
            "PHB_LDAP_KEY": str(tmp_path / "key"),
            "PHB_LDAP_START_TLS": "1",
            "PHB_LDAP_TIMEOUT": "2.5",
            "PHB_LDAP_INTERVAL": "60",
        }
    )
    assert found == Access(
        "cn=phb",
        "a b",
        tmp_path / "ca",
        tmp_path / "certificate",
        tmp_path / "key",
        start_tls=True,
        timeout_s=2.5,
        interval_s=60,
    )
    assert "a b" not in repr(found)


def test_nothing_said():
    assert read_access({}) == Access()


WRONG = {
    "PHB_LDAP_START_TLS": ({"START_TLS": "yes"}, "found 'yes', expected 1, 0 or nothing"),
    "PHB_LDAP_TIMEOUT": ({"TIMEOUT": "0"}, "found '0', expected seconds, such as 10"),
    "PHB_LDAP_INTERVAL": ({"INTERVAL": "often"}, "found 'often', expected seconds, such as 10"),
    "/nowhere": (
        {"CA": "/nowhere"},
        "found no such file or directory, expected the readable file of PHB_LDAP_CA",
    ),
    "/dev/zero": (
        {"PASSWORD_FILE": "/dev/zero"},
        "found a device, expected the readable file of PHB_LDAP_PASSWORD_FILE",
    ),
    "PHB_LDAP_CERTIFICATE": ({"KEY": "k"}, "found one of certificate and key, expected both, or none"),
    "PHB_LDAP_PASSWORD": (
        {"PASSWORD": "a", "PASSWORD_FILE": "b"},
        "found it beside PHB_LDAP_PASSWORD_FILE, expected one of the two",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_environment(name):
    given, message = WRONG[name]
    with pytest.raises(InputError) as caught:
        read_access({f"PHB_LDAP_{key}": value for key, value in given.items()})
    assert str(caught.value) == f"{name}: {message}"
