"""Where policies come from: files, and directories and switches that are asked again and again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from phb.errors import InputError, each_of
from phb.files import as_text, read_bytes
from phb.formats import POLICY_FILE, read_content
from phb.formats.format import READING, ReadOptions
from phb.merge import merge
from phb.model import PolicySet
from phb.origin import Origin

if TYPE_CHECKING:
    from phb.openconfig.source import SwitchSource

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a source at one moment: enough to read it again when the source is gone.

    Errors name its path or address; its format may depend on that, unless the source knows the format.
    """

    name: str
    content: bytes
    format_name: str | None = None


class Source(Protocol):
    """Something that holds a policy and may change."""

    @property
    def name(self) -> str:
        """As the user wrote it."""

    @property
    def interval_s(self) -> float:
        """How often it makes sense to ask, in seconds."""

    def poll(self) -> Document:
        """Read it; may block.

        Raises:
            PhbError: It can't be read, or doesn't answer.
        """


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file. Asked by content, so that a touched file hasn't changed and a renamed-over one has."""

    name: str
    interval_s: float = 0.25

    def poll(self) -> Document:
        """Read the file."""
        content = read_bytes(self.name, POLICY_FILE)
        return Document(as_text(self.name), content)


@dataclass(frozen=True, slots=True)
class DirectorySource:
    """A part of a directory. Asked by content, so that neither clocks nor replicas of servers matter."""

    name: str
    interval_s: float

    def poll(self) -> Document:
        """Read the directory, as LDIF."""
        from phb.directory import fetch

        return Document(self.name, fetch(self.name), "ldif")


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """The OpenConfig settings of a switch. Asked by content, so that a switch that was started anew is noticed."""

    switch: SwitchSource

    @property
    def name(self) -> str:
        """The address."""
        return self.switch.name

    @property
    def interval_s(self) -> float:
        """How often it makes sense to ask, in seconds."""
        return self.switch.interval_s

    def poll(self) -> Document:
        """Read the settings, as JSON."""
        return Document(self.name, self.switch.fetch(), "openconfig")


def _settings(name: str) -> SettingsSource:
    from phb.openconfig.source import SwitchSource, address_of, read_tls

    address_of(name)
    return SettingsSource(SwitchSource(name, read_tls()))


def _directory(name: str) -> DirectorySource:
    from phb.directory import read_access

    return DirectorySource(name, read_access().interval_s)


SCHEMES: dict[str, Callable[[str], Source]] = {"ldap": _directory, "ldaps": _directory, "gnmi": _settings}
"""Makers of sources other than files, by the scheme of their address in lower case, such as ``ldap``."""


def open_source(name: str) -> Source:
    """Open the source of that name; an InputError where an address is of no known kind."""
    scheme = _SCHEME.match(name)
    if scheme is None:
        return FileSource(name)
    make = SCHEMES.get(scheme[1].lower())
    if make is None:
        known = ", ".join(f"{each}://" for each in sorted(SCHEMES)) or "none yet"
        raise InputError(Origin(name), f"an address of kind '{scheme[1]}'", f"a file, or one of: {known}")
    return make(name)


def read_documents(
    documents: Sequence[Document], format_name: str | None = None, options: ReadOptions = READING
) -> PolicySet:
    """Give the policy set of one node; as `phb.formats.read_files`.

    Raises:
        InputError: A document is wrong, or two of them say different things about the same item.
    """
    return merge(each_of(partial(_read, document, format_name, options) for document in documents))


def _read(document: Document, format_name: str | None, options: ReadOptions) -> PolicySet:
    return read_content(document.content, document.name, format_name or document.format_name, options)


def read_sources(names: Sequence[str], format_name: str | None = None, options: ReadOptions = READING) -> PolicySet:
    """Give the policy set of one node, from files and other sources."""
    return read_documents(poll_all(names), format_name, options)


def poll_all(names: Sequence[str]) -> list[Document]:
    """Read all of these sources."""
    return each_of(partial(_poll, name) for name in names)


def _poll(name: str) -> Document:
    return open_source(name).poll()
