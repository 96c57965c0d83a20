"""Policies in a directory: RFC 3703's rules or IBM's, with conditions and actions in the words of the Policy Agent.

`phb.directory` asks a directory itself; its answer is LDIF too.

    names > ldif > words, periods, combining > ibm > tree, first > unread > this reader
"""

from __future__ import annotations

from phb.errors import InputError
from phb.formats.format import READING, ReadOptions
from phb.formats.ldap import first, words
from phb.formats.ldap.first import read_first
from phb.formats.ldap.ibm import translated
from phb.formats.ldap.ldif import read_entries, write_entries
from phb.formats.ldap.tree import read_tree
from phb.formats.ldap.unread import check_words, name_unread
from phb.model import PolicySet
from phb.notice import Notice
from phb.origin import Origin

__all__ = ["read", "write_entries"]


def read(text: str, file: str, options: ReadOptions = READING) -> PolicySet:
    """Read the LDIF of a tree; refuse one without rules."""
    entries = read_entries(text, file)
    check_words(entries)
    entries = translated(entries)
    notices: list[Notice] = []
    policy = read_tree(entries, file, notices)
    earlier = read_first(entries, file, notices)
    name_unread(entries, notices)
    if not any(entry.has_class(*words.RULE, first.RULE) for entry in entries):
        found = f"no rule in {len(entries)} entries" if entries else "no entry"
        raise InputError(Origin(file), found, f"object class {', '.join(_RULES)} (docs/policies/ldap.md)")
    if earlier is None:
        return policy.noting(notices)
    for entry in entries:
        if entry.has_class(*words.RULE, words.ACTION):
            raise InputError(entry.origin, f"entry {entry.dn} beside {first.RULE}", "rules and actions of one schema")
    return earlier.noting([*earlier.notices, *notices])


_RULES = ("pcimRuleInstance", "pcimRuleAuxClass", "ibm-policyRule", first.RULE)
