"""Where a database is: the path of an SQLite file, or a URL; as it is shown, without its password."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from phb.errors import InputError
from phb.origin import Origin

EXPECTED: Final = "a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE"
_POSTGRESQL: Final = ("postgresql", "postgres", "postgresql+psycopg")


@dataclass(frozen=True, slots=True)
class Place:
    """A database that may not be there yet.

    Attributes:
        path: The file of an SQLite database; None where `url` leads to PostgreSQL.
        url: As libpq reads it. It may hold a password, and is never shown.
    """

    path: Path | None = None
    url: str = ""

    def __str__(self) -> str:
        return str(self.path) if self.path is not None else _shown(self.url)

    def __repr__(self) -> str:
        return f"Place({str(self)!r})"

    def is_there(self) -> bool:
        """Whether there is something to open: a server always may have it."""
        return self.path is None or self.path.exists()


def place_of(said: Path | str | Place) -> Place:
    """Read what a user says; whatever isn't a URL is a path.

    Raises:
        InputError: It is a URL of another kind, or one that can't be read.
    """
    if isinstance(said, Place):
        return said
    if isinstance(said, Path):
        return Place(said)
    # Drivers are named as SQLAlchemy does it.
    match = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", said)
    if match is None:
        return Place(Path(said))
    scheme, rest = match[1].lower(), said[match.end() :]
    if scheme in _POSTGRESQL:
        return Place(url=f"postgresql://{rest}")
    if scheme != "sqlite":
        raise InputError(Origin(f"{match[1]}://"), "a URL of another kind", EXPECTED)
    if not rest.startswith("/") or len(rest) == 1 or "?" in rest:
        raise InputError(Origin(f"sqlite://{rest}"), "no path after three slashes, or more than a path", EXPECTED)
    return Place(Path(rest[1:]))


def parameters(place: Place) -> dict[str, str]:
    """Give what a URL of PostgreSQL says, as libpq understands it.

    Raises:
        InputError: libpq can't read it, or psycopg isn't installed.
    """
    authority, _, path = place.url.partition("://")[2].partition("?")[0].partition("/")
    if authority.count("@") > 1 or "@" in path:
        # Else a piece of a password would be taken for a host, and named in errors.
        raise InputError(Origin("postgresql://"), "an @ or / too many", "%40 and %2F in user and password")
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        found = f"no driver for PostgreSQL ({error})".replace("\n", " ")
        raise InputError(Origin("postgresql://"), found, "phb[postgresql] to be installed") from None
    try:
        said = {name: str(value) for name, value in conninfo_to_dict(place.url).items() if value is not None}
    except psycopg.ProgrammingError as error:
        # libpq quotes what it can't read, and that may be the password.
        words = re.sub(r'".*"', '"..."', str(error), flags=re.DOTALL).strip()
        raise InputError(Origin("postgresql://"), f"a URL that can't be read ({words})", EXPECTED) from None
    return said


def _shown(url: str) -> str:
    try:
        said = parameters(Place(url=url))
    except InputError:
        return "postgresql://"
    user = quote(said["user"], safe="") + "@" if "user" in said else ""
    ports = said.get("port", "").split(",")
    hosts = said.get("host", said.get("hostaddr", "")).split(",")
    ends = []
    for number, host in enumerate(hosts):
        port = ports[number] if len(ports) == len(hosts) else ports[0]
        ends.append((f"[{host}]" if ":" in host else quote(host, safe="")) + (f":{port}" if port else ""))
    name = "/" + quote(said["dbname"], safe="") if "dbname" in said else ""
    service = f"?service={quote(said['service'], safe='')}" if "service" in said else ""
    return f"postgresql://{user}{','.join(ends)}{name}{service}"


def default_path() -> Path:
    """Give where the state lies unless the user says otherwise (XDG Base Directory specification, XDG_STATE_HOME)."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "state") / "phb" / "state.sqlite"
