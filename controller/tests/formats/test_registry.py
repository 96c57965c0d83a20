"""Which format a file is in."""

import pytest

from phb.errors import InputError
from phb.formats import ReadOptions, read_file
from phb.model import Dialect


def test_by_ending(write_file):
    assert read_file(write_file("a.yaml", "phb: 1\nnode: n\n")).node == "n"


@pytest.mark.parametrize("name", ["pagent.conf", "no-ending"])
def test_policy_agent_by_content(write_file, name):
    assert read_file(write_file(name, "# comment\n  tcpimage TCP\n")).images[0].name == "TCP"


def test_yaml_by_content(write_file):
    assert read_file(write_file("policy.conf", "# comment\nphb: 1\nnode: n\n")).node == "n"


@pytest.mark.parametrize("name", ["dn: cn=r,o=x", "dn:cn=r,o=x", "DN:: Y249cixvPXg="])
def test_ldif_by_content(write_file, name):
    path = write_file("tree.txt", f"# as a directory prints it\n{name}\nobjectclass:pcimRuleInstance\ncn:r\n")
    assert read_file(path).rules[0].name == "r"


@pytest.mark.parametrize("first", ["interface FastEthernet 10/0", "class-map c", "ip access-list standard a"])
def test_ios_by_content(write_file, first):
    path = write_file("router.conf", f"hostname n\n! phb: dialect ios-12\n{first}\n")
    assert read_file(path).node == "n"


def test_dialect_of_files_that_say_none(write_file):
    path = write_file("router.ios", "hostname n\ninterface Serial0\n")
    with pytest.raises(InputError, match="which IOS is meant"):
        read_file(path)
    policy = read_file(path, options=ReadOptions(dialect=Dialect.IOS_12))
    assert policy.queueing[0].schedule.dialect is Dialect.IOS_12


def test_forced(write_file):
    with pytest.raises(InputError, match=r"policy\.yaml:1: found 'phb:', expected one of TcpImage"):
        read_file(write_file("policy.yaml", "phb: 1\n"), "policy-agent")


def test_unknown_format_name(write_file):
    with pytest.raises(
        InputError, match=r"^--format: found 'ldap', expected one of yaml, policy-agent, ios, openconfig, ldif, smcat$"
    ):
        read_file(write_file("policy.yaml", "phb: 1\n"), "ldap")


def test_unknown_content(write_file):
    path = write_file("x.conf", "hello\n")
    with pytest.raises(InputError) as caught:
        read_file(path)
    expected = "one of yaml, policy-agent, ios, openconfig, ldif, smcat (--format forces one)"
    assert str(caught.value) == f"{path}: found a file of unknown format, expected {expected}"


def test_no_file(tmp_path):
    path = tmp_path / "none.yaml"
    with pytest.raises(InputError) as caught:
        read_file(path)
    assert str(caught.value) == f"{path}: found no such file or directory, expected a readable policy file"


def test_folder(tmp_path):
    with pytest.raises(InputError, match="found a folder, expected a readable policy file"):
        read_file(tmp_path)


def test_not_text(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_bytes(b"phb: 1\n\xff\n")
    with pytest.raises(InputError, match="found a byte that isn't UTF-8 at offset 7, expected UTF-8 text"):
        read_file(path)
