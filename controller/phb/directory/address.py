"""Where policies stand in a directory, and as whom it is asked.

The address is an LDAP URL (RFC 4516): ``ldap://HOST:PORT/BASE-DN?ATTRIBUTES?SCOPE?FILTER?EXTENSIONS``. Who asks, and
the files of TLS, are the machine's own matter and stand in its environment; a password never stands in an address.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from phb.errors import InputError
from phb.files import open_file, read_text
from phb.origin import Origin

_PORTS: Final = {"ldap": 389, "ldaps": 636}
TIMEOUT_S: Final = 10.0
INTERVAL_S: Final = 10.0
_SCOPES: Final = ("base", "one", "sub")
_EXPECTED: Final = "ldap://HOST[:PORT]/BASE-DN[??SCOPE[?FILTER]], or ldaps://"


@dataclass(frozen=True, slots=True)
class DirectoryAddress:
    """A part of a directory.

    Attributes:
        scheme: ``ldap``, or ``ldaps`` for TLS from the first octet on.
        base: DN of the tree that is searched.
        scope: ``base``, ``one`` or ``sub``, the whole tree.
        search_filter: RFC 4515's; what doesn't match it isn't seen.
        bind_dn: From the extension ``bindname``; the environment's stands in `Access`.
    """

    url: str
    scheme: str
    host: str
    port: int
    base: str
    scope: str = "sub"
    search_filter: str = "(objectClass=*)"
    bind_dn: str | None = None

    @property
    def server(self) -> str:
        """URL of the server alone."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether nothing leaves this machine."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"


def parse_url(url: str) -> DirectoryAddress:
    """Read an LDAP URL."""
    origin = Origin(url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InputError(origin, str(error), _EXPECTED) from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not parts.hostname:
        raise InputError(origin, "no address of a directory", _EXPECTED)
    if parts.username is not None:
        hidden = Origin(f"{scheme}://{parts.hostname}")
        raise InputError(hidden, "a user in the address", "who asks in PHB_LDAP_BIND_DN and PHB_LDAP_PASSWORD_FILE")
    base = unquote(parts.path.removeprefix("/"))
    if not base:
        raise InputError(origin, "no base DN", _EXPECTED)
    attributes, scope, search_filter, extensions, *more = [
        *(unquote(part) for part in parts.query.split("?")),
        *[""] * 4,
    ]
    if any(more) or attributes:
        raise InputError(origin, f"'?{parts.query}'", "no list of attributes: ??SCOPE?FILTER")
    if scope and scope.lower() not in _SCOPES:
        raise InputError(origin, f"scope '{scope}'", f"one of {', '.join(_SCOPES)}")
    return DirectoryAddress(
        url,
        scheme,
        parts.hostname,
        port or _PORTS[scheme],
        base,
        scope.lower() or "sub",
        search_filter or "(objectClass=*)",
        _bind_dn(extensions, origin),
    )


def _bind_dn(extensions: str, origin: Origin) -> str | None:
    if not extensions:
        return None
    # RFC 4516 escapes a comma inside an extension, which unquoting has undone: a name is one extension with the rest.
    match = re.fullmatch(r"!?bindname=(.+)", extensions, re.IGNORECASE)
    if match is None:
        raise InputError(origin, f"extension '{extensions}'", "bindname=DN, or none")
    return match[1]


@dataclass(frozen=True, slots=True)
class Access:
    """As whom a directory is asked, and how.

    Attributes:
        password: Never shown.
        ca_file: Certificates of the authorities that may vouch for the server; None takes the system's.
        start_tls: Switch an ``ldap://`` connection to TLS before anything is asked (RFC 4511 section 4.14).
        timeout_s: How long one answer may take.
        interval_s: How often ``phb watch`` asks.
        page_size: Entries of one answer (RFC 2696): servers limit how many they give at once.
    """

    bind_dn: str | None = None
    password: str | None = None
    ca_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    start_tls: bool = False
    timeout_s: float = TIMEOUT_S
    interval_s: float = INTERVAL_S
    page_size: int = 500

    def __repr__(self) -> str:
        return f"Access(bind_dn={self.bind_dn!r}, password={'***' if self.password else None!r})"


def read_access(environment: Mapping[str, str] = os.environ) -> Access:
    """Read the environment.

    ``PHB_LDAP_BIND_DN``, ``PHB_LDAP_PASSWORD_FILE`` or ``PHB_LDAP_PASSWORD``, ``PHB_LDAP_CA``,
    ``PHB_LDAP_CERTIFICATE``, ``PHB_LDAP_KEY``, ``PHB_LDAP_START_TLS`` (``1``), ``PHB_LDAP_TIMEOUT`` and
    ``PHB_LDAP_INTERVAL`` (seconds).
    """
    given = {name: environment.get(f"PHB_LDAP_{name}") or None for name in _NAMES}
    start_tls = given["START_TLS"]
    if start_tls not in (None, "0", "1"):
        raise InputError(Origin("PHB_LDAP_START_TLS"), f"'{start_tls}'", "1, 0 or nothing")
    if (given["CERTIFICATE"] is None) != (given["KEY"] is None):
        raise InputError(Origin("PHB_LDAP_CERTIFICATE"), "one of certificate and key", "both, or none")
    return Access(
        bind_dn=given["BIND_DN"],
        password=_password(given["PASSWORD"], given["PASSWORD_FILE"]),
        ca_file=_file("CA", given["CA"]),
        certificate=_file("CERTIFICATE", given["CERTIFICATE"]),
        key=_file("KEY", given["KEY"]),
        start_tls=start_tls == "1",
        timeout_s=_seconds("TIMEOUT", given["TIMEOUT"], TIMEOUT_S),
        interval_s=_seconds("INTERVAL", given["INTERVAL"], INTERVAL_S),
    )


_NAMES: Final = ("BIND_DN", "PASSWORD", "PASSWORD_FILE", "CA", "CERTIFICATE", "KEY", "START_TLS", "TIMEOUT", "INTERVAL")


def _password(password: str | None, file: str | None) -> str | None:
    if file is None:
        return password
    if password is not None:
        raise InputError(Origin("PHB_LDAP_PASSWORD"), "it beside PHB_LDAP_PASSWORD_FILE", "one of the two")
    return read_text(file, "the readable file of PHB_LDAP_PASSWORD_FILE").rstrip("\n")


def _file(name: str, value: str | None) -> Path | None:
    if value is None:
        return None
    open_file(value, f"the readable file of PHB_LDAP_{name}").close()
    return Path(value)


def _seconds(name: str, value: str | None, default: float) -> float:
    if value is None:
        return default
    if not re.fullmatch(r"\d{1,4}(\.\d+)?", value) or not float(value):
        raise InputError(Origin(f"PHB_LDAP_{name}"), f"'{value}'", "seconds, such as 10")
    return float(value)
