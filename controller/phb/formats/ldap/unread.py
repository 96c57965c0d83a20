"""Attributes and entries of a directory that no reader used: refused where they are about policies, else listed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from phb.errors import InputError
from phb.formats.ldap import first, ibm, words
from phb.formats.ldap.ldif import DirectoryEntry, Value
from phb.notice import Notice

_READ = words.CLASSES | ibm.CLASSES | first.CLASSES
_OWN = re.compile(rf"pcim|pcels|{words.PREFIX}|{ibm.PREFIX}", re.IGNORECASE)
# Words in the names of other policy schemas' object classes: IBM's for routers and intrusion detection, RFC 4104's.
_ABOUT_POLICIES = re.compile(
    r"polic|rule|action|condition|diffserv|intserv|rsvp|qos|traffic|servicecategor|subnetprio|ibm-ids|ipsec|isakmp"
    r"|pcim|pcels|profile",
    re.IGNORECASE,
)
# Passwords' and logins' policies, and a server's own configuration.
_ABOUT_OTHERS = re.compile(r"pwd|sudo|ipa|olc|ibm-slapd|krb|pkcs", re.IGNORECASE)
_OTHER_SCHEMA = "an object class of docs/policies/ldap.md, or a base or filter without that entry"
_HARMLESS = frozenset(word.lower() for word in words.HARMLESS)
_VENDOR = frozenset(name.lower() for name in words.VENDOR)


def check_words(entries: Sequence[DirectoryEntry]) -> None:
    """Refuse unknown object classes and attributes of policies."""
    for entry in entries:
        for name, value in entry.classes.items():
            if name in _VENDOR:
                raise InputError(entry.origin, f"object class {value.text}", f"{words.CONDITION} or {words.ACTION}")
            if name not in _READ and _ABOUT_POLICIES.search(name) and not _ABOUT_OTHERS.match(name):
                value.fail(f"object class {value.text} in entry {entry.dn}", _OTHER_SCHEMA)
        for key, values in entry.values.items():
            value = values[0]
            refused = _REFUSED.get(key)
            if refused is not None:
                value.fail(f"'{value.text}'", refused)
            if _OWN.match(key) and key not in _KNOWN and _is_about_policies(entry, value):
                value.fail(f"attribute {value.attribute}", "an attribute of docs/policies/ldap.md")


_REFUSED = {
    name: expected
    for word, expected in words.REFUSED.items()
    for name in (word.lower(), f"{ibm.PREFIX}policy{word.removeprefix('pcim')}".lower())
}
_KNOWN = words.KNOWN | ibm.KNOWN | words.BOOK_KEEPING


def _is_about_policies(entry: DirectoryEntry, value: Value) -> bool:
    """Whether the value is about policies: in IBM's directory any entry has attributes of the server's own."""
    return not value.attribute.lower().startswith(ibm.PREFIX) or ibm.is_ibm(entry)


def name_unread(entries: Sequence[DirectoryEntry], notices: list[Notice]) -> None:
    """Note attributes and entries that no reader used; refuse known attributes in entries of the wrong class."""
    for entry in entries:
        foreign = [value.text for name, value in entry.classes.items() if name not in _READ | words.TREES]
        if _READ.isdisjoint(entry.classes):
            if foreign:
                notices.append(Notice(entry.origin, f"entry {entry.dn} isn't read: {', '.join(foreign)}"))
                continue
        elif foreign:
            notices.append(Notice(entry.origin, f"object class {', '.join(foreign)} of entry {entry.dn} has no effect"))
        _attributes(entry, notices)


def _attributes(entry: DirectoryEntry, notices: list[Notice]) -> None:
    reusable = entry.has_class(words.CONDITION, words.PERIOD)
    idle: list[Value] = []
    for key, (value, *_) in entry.values.items():
        if key in entry.asked or key in words.BOOK_KEEPING:
            continue
        if key in _HARMLESS:
            if key == "pcimactionname" and entry.has_class(*words.RULE):
                notices.append(
                    Notice(
                        value.origin,
                        f"{value.attribute} of entry {entry.dn} has no effect: the rule has no action of its own",
                    )
                )
        elif key in _KNOWN and not reusable:
            value.fail(f"{value.attribute} in entry {entry.dn}", "it in an entry of an object class that has it")
        elif key in _KNOWN:
            idle.append(value)
        else:
            notices.append(Notice(value.origin, f"attribute {value.attribute} of entry {entry.dn} has no effect"))
    if idle:
        names = ", ".join(value.attribute for value in idle)
        notices.append(Notice(entry.origin, f"entry {entry.dn} has no effect: no rule refers to it ({names})"))
