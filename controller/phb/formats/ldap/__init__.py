"""Policies in a directory: RFC 3703's rules with conditions and actions in the words of the Policy Agent, as LDIF.

A directory itself is asked by `phb.directory`; what it gives is such LDIF too.

    names > ldif > words, periods, combining > tree > this reader
"""

from __future__ import annotations

from phb.formats.format import READING, ReadOptions
from phb.formats.ldap.ldif import read_entries, write_entries
from phb.formats.ldap.tree import read_tree
from phb.model import PolicySet

__all__ = ["read", "write_entries"]


def read(text: str, file: str, options: ReadOptions = READING) -> PolicySet:
    """Read the LDIF of a tree.

    Raises:
        InputError: With the line, or DN and attribute, of the first thing that is wrong.

    """
    return read_tree(read_entries(text, file), file)
