"""LDIF (RFC 2849): entries of a directory as text, each value with its place.

A directory's answers are kept as LDIF, too; their places are DN and attribute instead of lines.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NoReturn

from phb.errors import InputError
from phb.formats.ldap.names import Dn, parse_dn
from phb.formats.policy_agent.blocks import shortened
from phb.origin import Origin


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an attribute, under the attribute's name as it was written."""

    attribute: str
    octets: bytes
    origin: Origin

    @property
    def text(self) -> str:
        """The value as text; octets that aren't UTF-8 are refused."""
        try:
            return self.octets.decode()
        except UnicodeDecodeError:
            self.fail(f"{len(self.octets)} octets that aren't UTF-8", "text")

    def fail(self, found: str, expected: str) -> NoReturn:
        """Refuse this value."""
        raise InputError(self.origin, shortened(found), expected)


@dataclass
class DirectoryEntry:
    """One entry: its values by attribute in lower case, and the attributes that were read."""

    dn: Dn
    origin: Origin
    values: dict[str, list[Value]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def all(self, attribute: str) -> Sequence[Value]:
        """Give every value of an attribute."""
        self.asked.add(attribute.lower())
        return self.values.get(attribute.lower(), ())

    def one(self, attribute: str) -> Value | None:
        """Give the value of an attribute; refuse more than one."""
        values = self.all(attribute)
        if len(values) > 1:
            values[1].fail(f"{len(values)} values", f"one value of {attribute}")
        return values[0] if values else None

    @cached_property
    def classes(self) -> dict[str, Value]:
        """Its object classes, in lower case, each with its value."""
        return {value.octets.decode(errors="replace").lower(): value for value in self.all("objectClass")}

    def has_class(self, *names: str) -> bool:
        """Whether it is of one of these object classes."""
        return any(name.lower() in self.classes for name in names)


def read_entries(text: str, file: str) -> list[DirectoryEntry]:
    """Read the entries of an LDIF file, or of a directory's answer: `file` is then an address, and places are DNs.

    Raises:
        InputError: It isn't LDIF, or it changes a directory instead of describing one.
    """
    server = re.match(r"ldaps?://[^/]*", file, re.IGNORECASE)
    entries: list[DirectoryEntry] = []
    seen: dict[Dn, DirectoryEntry] = {}
    for record in _records(text):
        if _is_result(record, file):
            continue
        entry = _entry(record, file, server[0] if server else None)
        if entry is None:
            continue
        if entry.dn in seen:
            raise InputError(
                entry.origin, f"entry {entry.dn} again", f"it once; it also stands at {seen[entry.dn].origin}"
            )
        seen[entry.dn] = entry
        entries.append(entry)
    return entries


def _records(text: str) -> Iterator[list[tuple[int, str]]]:
    """Split into groups of logical lines at blank lines, each with the number of its first line."""
    # Parts are joined once: a picture in base64 may have a hundred thousand.
    record: list[tuple[int, list[str]]] = []
    comment = False
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith(" ") and (record or comment):
            if not comment:
                record[-1][1].append(line[1:])
            continue
        comment = line.startswith("#")
        if comment:
            continue
        if line.strip():
            record.append((number, [line]))
        elif record:
            yield [(first, "".join(parts)) for first, parts in record]
            record = []
    if record:
        yield [(first, "".join(parts)) for first, parts in record]


def _is_result(record: Sequence[tuple[int, str]], file: str) -> bool:
    """Whether these lines are ldapsearch's result behind the entries; refuse one that says that entries are missing."""
    if not re.match(r"(search|result): *\d", record[0][1]):
        return False
    for number, line in record:
        said = re.match(r"result: *(\d+)", line)
        if said is not None and int(said[1]):
            raise InputError(
                Origin(file, number, line), f"'{line}'", "result: 0 Success, of a search that gave everything"
            )
    return True


def _entry(record: Sequence[tuple[int, str]], file: str, server: str | None) -> DirectoryEntry | None:
    lines = list(record)
    if lines[0][1].lower().startswith("version:"):
        number, line = lines.pop(0)
        if line.partition(":")[2].strip() != "1":
            raise InputError(Origin(file, number, line), f"'{line}'", "version: 1")
        if not lines:
            return None
    number, line = lines[0]
    name, octets = _split(line, Origin(file, number, line))
    if name.lower() != "dn":
        raise InputError(Origin(file, number, line), f"'{name}'", "dn: and the name of an entry")
    written = octets.decode(errors="replace")
    place = Origin(file, number, line) if server is None else Origin(f"{server}/{written}")
    dn = parse_dn(written)
    if dn is None:
        raise InputError(place, f"'{written}'", "a distinguished name such as cn=gold,ou=policy,o=example")
    entry = DirectoryEntry(dn, place)
    for number, line in lines[1:]:
        name, octets = _split(line, Origin(file, number, line))
        origin = Origin(file, number, line) if server is None else Origin(f"{server}/{written}: {name}", 0, line)
        if name.lower() == "dn" and server is None:
            raise InputError(origin, f"'{line[:60]}' in entry {dn}", "an empty line before the next entry")
        if name.lower() == "changetype":
            if octets == b"add":
                # RFC 2849: the same as the entry itself.
                continue
            raise InputError(origin, f"'{line}'", "entries as they are: changes belong into the directory (ldapmodify)")
        entry.values.setdefault(name.lower(), []).append(Value(name, octets, origin))
    return entry


_ATTRIBUTE = re.compile(r"([A-Za-z0-9.-]+(?:;[A-Za-z0-9-]+)*):(:|<)?[ ]*(.*)", re.DOTALL)


def _split(line: str, origin: Origin) -> tuple[str, bytes]:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise InputError(origin, f"'{line[:60]}'", "ATTRIBUTE: VALUE")
    name, kind, value = match.groups()
    if kind == "<":
        raise InputError(origin, f"'{value}' to be read from elsewhere", f"{name}: and the value itself")
    if kind is None:
        return name, value.rstrip().encode()
    try:
        return name, base64.b64decode(value, validate=True)
    except binascii.Error:
        raise InputError(origin, f"'{value[:60]}'", f"{name}:: and the value in base64") from None


def write_entries(entries: Mapping[str, Mapping[str, Sequence[bytes]]]) -> bytes:
    """Write LDIF of entries by DN; the same entries give the same octets, in any order of a server."""
    lines = ["version: 1"]
    for dn in sorted(entries, key=lambda dn: (dn.count(","), dn)):
        lines += ["", _line("dn", dn.encode())]
        for attribute in sorted(entries[dn], key=str.lower):
            lines += [_line(attribute, value) for value in sorted(entries[dn][attribute])]
    # slapadd takes a version only right before the first entry.
    return ("\n".join([lines[0], *lines[2:]]) + "\n").encode()


# RFC 2849's SAFE-STRING; control characters besides those it forbids are better seen in base64, too.
_SAFE = re.compile(rb"(?![ :<])[\x20-\x7e]*(?<! )")


def _line(attribute: str, value: bytes) -> str:
    if _SAFE.fullmatch(value):
        return f"{attribute}: {value.decode()}"
    return f"{attribute}:: {base64.b64encode(value).decode()}"
