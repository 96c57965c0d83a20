"""Policies from a directory: asked by its address, kept as LDIF, read as `phb.formats.ldap` reads LDIF.

address > client > this
"""

from __future__ import annotations

from phb.directory.address import Access, DirectoryAddress, parse_url, read_access
from phb.directory.client import DirectoryError, search
from phb.formats.ldap import write_entries

__all__ = ["Access", "DirectoryAddress", "DirectoryError", "fetch", "parse_url", "read_access", "search"]


def fetch(url: str, access: Access | None = None) -> bytes:
    """Read the directory at an LDAP URL as LDIF: equal octets mean that nothing has changed.

    Without `access` the environment says as whom to ask.

    Raises:
        InputError: The address or the environment is wrong, or python-ldap is missing.
        DirectoryError: The server refused, or doesn't answer.
    """
    address = parse_url(url)
    return write_entries(search(address, access if access is not None else read_access()))
