"""A real slapd is asked: by name and password, over TLS, in pages; and everything it can refuse is one line."""

import re
import socket
import sys
from dataclasses import replace

import pytest
from directory.slapd import PASSWORD, READER

from phb.directory import Access, DirectoryError, fetch
from phb.errors import InputError
from phb.formats import read_file
from phb.formats.ldap import read

BASE = "ou=mvs074,ou=policy,o=example"
RULE = f"cn=rule2,ou=rules,{BASE}"
READ = Access(bind_dn=READER, password=PASSWORD)


def policy(url, access=READ):
    return read(fetch(url, access).decode(), url)


def test_the_directory_says_what_the_policy_agent_file_says(slapd, examples):
    found = policy(slapd.url(BASE))
    file = read_file(examples / "policy-agent-precedence-osa2.conf")
    assert found.rules == file.rules
    assert found.actions == file.actions


def test_nothing_changed_is_the_same_octets_and_a_change_is_not(slapd):
    url = slapd.url(BASE)
    before = fetch(url, READ)
    assert fetch(url, READ) == before
    slapd.modify(RULE, "phbSourcePortRange", "600-620")
    after = fetch(url, READ)
    assert after != before
    assert str(read(after.decode(), url).rules[1].match[0].source_ports) == "600-620"


def test_a_wrong_value_is_found_by_dn_and_attribute(slapd):
    slapd.modify(RULE, "phbSourcePortRange", "600 7/19")
    with pytest.raises(InputError) as caught:
        policy(slapd.url(BASE))
    server = f"ldap://127.0.0.1:{slapd.port}"
    assert str(caught.value) == (
        f"{server}/{RULE}: phbSourcePortRange: found '600 7/19', expected one port number or two, first and last"
    )


def test_scope_and_filter(slapd):
    one = policy(slapd.url(f"{BASE}??sub?(|(cn=rule1)(cn:dn:=rule1)(phbOutgoingTOS=11000000)(cn=daily))"))
    assert [action.name for action in one.actions] == ["inter1"]
    with pytest.raises(InputError, match="found no rule in 1 entries"):
        policy(slapd.url(f"{BASE}??base"))


def test_a_server_that_was_away_answers_again(slapd):
    url = slapd.url(BASE)
    before = fetch(url, READ)
    slapd.stop()
    with pytest.raises(DirectoryError, match=rf"^{re.escape(url)}: can't contact LDAP server"):
        fetch(url, READ)
    slapd.start()
    assert fetch(url, READ) == before


# ---------------------------------------------------------------------------
# TLS and who asks
# ---------------------------------------------------------------------------


@pytest.fixture
def trusted(slapd):
    return replace(READ, ca_file=slapd.folder / "ca.pem")


def test_ldaps(slapd, trusted):
    assert len(policy(slapd.url(BASE, tls=True), trusted).rules) == 3


def test_start_tls(slapd, trusted):
    assert len(policy(slapd.url(BASE), replace(trusted, start_tls=True)).rules) == 3


@pytest.mark.parametrize("tls", [True, False], ids=["ldaps", "StartTLS"])
def test_an_authority_that_is_not_ours(slapd, tls, tmp_path):
    import trustme

    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    with pytest.raises(DirectoryError, match=r"certificate|connect"):
        fetch(slapd.url(BASE, tls=tls), replace(READ, ca_file=other, start_tls=not tls))


def test_a_certificate_shows_who_asks(slapd, authority, tmp_path):
    mine = authority.issue_cert("controller@example.org", common_name="controller")
    mine.private_key_pem.write_to_path(str(tmp_path / "key"))
    mine.cert_chain_pems[0].write_to_path(str(tmp_path / "certificate"))
    access = Access(
        ca_file=slapd.folder / "ca.pem", certificate=tmp_path / "certificate", key=tmp_path / "key", start_tls=True
    )
    assert len(policy(slapd.url(BASE), access).rules) == 3


def test_a_name_may_stand_in_the_address(slapd):
    url = slapd.url(f"{BASE}????bindname=cn=phb%2co=example")
    assert len(policy(url, Access(password=PASSWORD)).rules) == 3


def test_a_wrong_password(slapd):
    with pytest.raises(DirectoryError, match=r"invalid credentials: name or password is wrong$"):
        fetch(slapd.url(BASE), replace(READ, password="guess"))


def test_who_may_not_read_finds_nothing(slapd):
    with pytest.raises(DirectoryError, match="no such object"):
        fetch(slapd.url(BASE), Access())


def test_no_such_base(slapd):
    with pytest.raises(DirectoryError, match=r"no such object: there is no entry ou=elsewhere,o=example$"):
        fetch(slapd.url("ou=elsewhere,o=example"), READ)


def test_a_wrong_filter(slapd):
    with pytest.raises(DirectoryError, match="bad search filter"):
        fetch(slapd.url(f"{BASE}??sub?(cn=a"), READ)


# ---------------------------------------------------------------------------
# Refused before anything is sent
# ---------------------------------------------------------------------------

REFUSED = {
    "clear password": (
        "ldap://directory.example.org/o=x",
        READ,
        "found a password to be sent in clear, expected ldaps://, or PHB_LDAP_START_TLS=1 for ldap://",
    ),
    "no password": (
        "ldap://directory.example.org/o=x",
        Access(bind_dn="cn=phb"),
        "found no password for cn=phb, expected PHB_LDAP_PASSWORD_FILE",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    url, access, message = REFUSED[case]
    pytest.importorskip("ldap", reason="python-ldap isn't installed (pip install 'phb[ldap]')")
    with pytest.raises(InputError) as caught:
        fetch(url, access)
    assert str(caught.value) == f"{url}: {message}"


def test_two_ways_to_tls():
    pytest.importorskip("ldap", reason="python-ldap isn't installed (pip install 'phb[ldap]')")
    with pytest.raises(InputError, match=r"^PHB_LDAP_START_TLS: found 1 for an ldaps:// address"):
        fetch("ldaps://localhost/o=x", Access(start_tls=True))


def test_without_the_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ldap", None)
    with pytest.raises(
        InputError, match=r"^ldap://h/o=x: found a directory, but no library .*pip install 'phb\[ldap\]'"
    ):
        fetch("ldap://h/o=x", Access())


# ---------------------------------------------------------------------------
# Sizes and silence
# ---------------------------------------------------------------------------

HEAD = "dn: o=example\nobjectClass: organization\no: example\n\n"


def many(number):
    return HEAD + "\n".join(
        f"dn: cn=rule{each},o=example\nobjectClass: pcimRuleInstance\nobjectClass: phbConditionAuxClass\n"
        f"objectClass: phbActionAuxClass\ncn: rule{each}\npcimRulePriority: {each}\nphbProtocolNumberRange: 6\n"
        f"phbSourceAddressRange: 10.{each // 65536}.{each // 256 % 256}.{each % 256}\nphbOutgoingTOS: 10100000\n"
        for each in range(number)
    )


def test_ten_thousand_rules_come_in_pages(make_slapd):
    found = policy(make_slapd(many(10_000)).url("o=example"))
    assert len(found.rules) == 10_000
    assert [rule.name for rule in found.rules[:2]] == ["rule9999", "rule9998"]


def test_a_server_that_gives_only_a_part(make_slapd):
    server = make_slapd(many(20), size_limit="size.soft=5 size.hard=5 size.prtotal=10")
    with pytest.raises(DirectoryError, match="size limit exceeded: the server gives fewer entries than the policy has"):
        fetch(server.url("o=example"), replace(READ, page_size=5))


def test_a_referral_is_not_followed(make_slapd):
    tree = HEAD + (
        "dn: ou=there,o=example\nobjectClass: referral\nobjectClass: extensibleObject\nou: there\n"
        "ref: ldap://directory.example.org/ou=there\n"
    )
    with pytest.raises(DirectoryError, match=r"refers to ldap://directory.example.org/.*: name that directory"):
        fetch(make_slapd(tree).url("o=example"), READ)


def test_a_server_that_never_answers():
    pytest.importorskip("ldap", reason="python-ldap isn't installed (pip install 'phb[ldap]')")
    # The kernel takes the connection; nobody reads from it.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"ldap://127.0.0.1:{silent.getsockname()[1]}/o=x"
        with pytest.raises(DirectoryError, match=r"no answer within 0.2 s"):
            fetch(url, Access(timeout_s=0.2))
