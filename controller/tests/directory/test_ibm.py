"""Trees in IBM's schema in a real directory: what a server gives back reads as the file it was loaded from."""

import pytest
from directory.slapd import EXAMPLES, PASSWORD, READER

from phb import cli
from phb.formats import read_file
from phb.formats.ldap import first, ibm
from phb.formats.policy_agent import actions, rules
from phb.sources import open_source, read_documents

# OpenLDAP brings none of IBM's schemas along; every attribute is text here, which is what phb reads.
TEXT = "EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15"


def schema():
    names = sorted(ibm.KNOWN)
    names += sorted({word.lower() for word in (*rules.FIRST_VERSION.allowed, *actions.CATEGORY)})
    names += ["policyname", "servicename", "selectortag"]
    lines = ["dn: cn=ibm,cn=schema,cn=config", "objectClass: olcSchemaConfig", "cn: ibm"]
    for place, name in enumerate(names, start=1):
        lines.append(f"olcAttributeTypes: ( 1.1.1.{place} NAME '{name}' {TEXT} )")
    may = " $ ".join(["cn", *names])
    for place, name in enumerate(sorted(ibm.CLASSES | first.CLASSES), start=1):
        kind = "AUXILIARY" if name.endswith("auxclass") else "STRUCTURAL"
        lines.append(f"olcObjectClasses: ( 1.1.2.{place} NAME '{name}' SUP top {kind} MAY ( {may} ) )")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_read_from_a_directory(make_slapd, tmp_path, monkeypatch, examples, version):
    monkeypatch.setenv("PHB_LDAP_BIND_DN", READER)
    monkeypatch.setenv("PHB_LDAP_PASSWORD", PASSWORD)
    (tmp_path / "ibm.ldif").write_text(schema())
    file = EXAMPLES / f"ibm-{version}.ldif"
    server = make_slapd(file.read_text(), schemas=(tmp_path / "ibm.ldif",))
    # The whole suffix: beside the policy there is the reader's own entry.
    (document,) = [open_source(server.url("o=example")).poll()]
    assert read_documents([document]).rules == read_file(file).rules
    ours = [str(examples / "mvs074.yaml"), str(examples / "mvs074-osa2.yaml")]
    assert cli.run(["check", *ours, server.url("o=example")]) == 0
