"""A directory as a source of policies, asked again and again."""

from __future__ import annotations

from dataclasses import dataclass

from phb.directory import fetch, read_access
from phb.sources import Document


@dataclass(frozen=True, slots=True)
class DirectorySource:
    """A part of a directory. Asked by content, so that neither clocks nor replicas of servers matter."""

    name: str
    interval_s: float

    def poll(self) -> Document:
        """What the directory holds, as LDIF.

        Raises:
            InputError: The address or the environment is wrong, or python-ldap is missing.
            DirectoryError: The server refused, or doesn't answer.

        """
        return Document(self.name, fetch(self.name), "ldif")


def open_directory(name: str) -> DirectorySource:
    """The source at an address.

    Raises:
        InputError: The environment is wrong.

    """
    return DirectorySource(name, read_access().interval_s)
