"""The first version of IBM's schema: a Policy Agent's statements as entries, their attributes by the same names.

``ServicePolicyRules`` and ``ServiceCategories`` are those of OS/390 V2R7; AIX has the same object classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from phb.errors import InputError
from phb.formats import policy_agent
from phb.formats.ldap import words
from phb.formats.ldap.ldif import DirectoryEntry, Value
from phb.formats.ldap.names import Dn, parse_dn
from phb.formats.policy_agent.blocks import Block, StatementLine
from phb.formats.policy_agent.rules import FIRST_VERSION
from phb.model import PolicySet
from phb.notice import Notice

RULE = "ServicePolicyRules"
# The statement of each object class, with the attribute that names it.
_NAMED = {RULE: "PolicyName", "ServiceCategories": "ServiceName"}
CLASSES = frozenset(name.lower() for name in _NAMED)
_PRIORITY = "PolicyRulePriority"
# The host that is meant, in a directory of several.
_SELECTOR = "SelectorTag"
_OTHERS = frozenset(name.lower() for name in ("objectClass", "cn", "description", _SELECTOR, *_NAMED.values()))


def read_first(entries: Sequence[DirectoryEntry], file: str, notices: list[Notice]) -> PolicySet | None:
    """Read the policy of the entries of this version; None where there are none. Adds to `notices`."""
    mine = [entry for entry in entries if not CLASSES.isdisjoint(entry.classes)]
    if not mine:
        return None
    _one_selector(mine)
    names = {entry.dn: _name(entry) for entry in mine}
    blocks = sorted((_block(entry, names) for entry in mine), key=lambda block: block.head.words)
    loose = [block for block in blocks if block.head.keyword == RULE and not _says(block, _PRIORITY)]
    if len(loose) > 1:
        message = f"entries have no order: {len(loose)} rules without {_PRIORITY} are asked by name"
        notices.append(Notice(loose[0].head.origin, message))
    return policy_agent.build(blocks, file)


def _says(block: Block, keyword: str) -> bool:
    return any(line.keyword.lower() == keyword.lower() for line in block.attributes)


def _statement(entry: DirectoryEntry) -> str:
    return next(name for name in _NAMED if entry.has_class(name))


def _name(entry: DirectoryEntry) -> str:
    for attribute in (_NAMED[_statement(entry)], "cn"):
        value = entry.one(attribute)
        if value is not None:
            return value.text
    return entry.dn.value


def _one_selector(entries: Sequence[DirectoryEntry]) -> None:
    values = [value for entry in entries for value in entry.all(_SELECTOR)]
    other = next((value for value in values if value.text.lower() != values[0].text.lower()), None)
    if other is not None:
        other.fail(
            f"{_SELECTOR} {other.text} beside {values[0].text} ({values[0].origin})",
            f"entries of one host: a filter such as ldap://HOST/BASE??sub?({_SELECTOR}={values[0].text})",
        )


def _block(entry: DirectoryEntry, names: Mapping[Dn, str]) -> Block:
    statement = _statement(entry)
    if len([name for name in _NAMED if entry.has_class(name)]) > 1:
        raise InputError(entry.origin, " and ".join(_NAMED) + " in one entry", "one of the two")
    lines = [
        _line(value, names)
        for key in entry.values
        if key not in _OTHERS | words.BOOK_KEEPING
        for value in entry.all(key)
    ]
    return Block(StatementLine((statement, names[entry.dn]), entry.origin), lines)


def _line(value: Value, names: Mapping[Dn, str]) -> StatementLine:
    keyword = value.attribute
    if keyword.lower() == FIRST_VERSION.reference.lower():
        dn = parse_dn(value.text)
        if dn is not None:
            named = names.get(dn) or value.fail(f"'{value.text}'", "the DN of a ServiceCategories entry, or its name")
            return StatementLine((keyword, named), value.origin)
    return StatementLine((keyword, *value.text.split()), value.origin)
