"""The file that binds client certificates to roles and devices (TOML)."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from phb_switch.authorization import Authorization, Binding
from phb_switch.command.errors import InputError

_TABLE: Final = "client"
_KEYS: Final = ("name", "roles", "devices", "read_only")
_HIGHEST_DEVICE: Final = 2**64 - 1


def read(path: Path) -> Authorization:
    """Reads bindings.

    Raises:
        InputError: the file is wrong: file, line, found, expected.

    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"--client-bindings {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"--client-bindings {path}: not TOML: it is not UTF-8") from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from None
    lines = text.splitlines()
    for key in document:
        if key != _TABLE:
            raise InputError(f"{path}:{_line_of(lines, key, 0)}: found {key!r}, expected [[{_TABLE}]]")
    clients = document.get(_TABLE, [])
    if not isinstance(clients, list) or not all(isinstance(each, dict) for each in clients):
        raise InputError(f"{path}:{_line_of(lines, _TABLE, 0)}: expected [[{_TABLE}]], in double brackets")
    if not clients:
        raise InputError(f"{path}: no [[{_TABLE}]]: no client could do anything")
    starts = [number for number, line in enumerate(lines) if re.match(rf"\s*\[\[\s*{_TABLE}\s*\]\]", line)]
    starts += [0] * (len(clients) - len(starts))  # written as client = [{...}]
    return Authorization(
        _binding(client, _Place(path, lines, start)) for client, start in zip(clients, starts, strict=False)
    )


class _Place:
    """Where a client is described, for messages."""

    def __init__(self, path: Path, lines: list[str], start: int) -> None:
        self._path, self._lines, self._start = path, lines, start

    def error(self, key: str | None, message: str) -> InputError:
        line = self._start + 1 if key is None else _line_of(self._lines, key, self._start)
        return InputError(f"{self._path}:{line}: {message}")


def _line_of(lines: list[str], key: str, start: int) -> int:
    """The line, from 1, of a key behind `start`; that of `start` itself where the key is written in another way."""
    for number in range(start, len(lines)):
        if re.match(rf"""\s*\[*\s*["']?{re.escape(key)}["']?\s*[]=.]""", lines[number]):
            return number + 1
    return start + 1


def _binding(client: Mapping[str, Any], place: _Place) -> Binding:
    for key in client:
        if key not in _KEYS:
            raise place.error(key, f"found {key!r}, expected one of {', '.join(_KEYS)}")
    name = client.get("name")
    if not isinstance(name, str) or not name:
        problem = "name is missing" if name is None else f"name: found {name!r}, expected a string"
        raise place.error(None if name is None else "name", problem)
    roles = _all_of(client, "roles", place, lambda role: isinstance(role, str), "strings")
    devices = _all_of(
        client,
        "devices",
        place,
        lambda device: isinstance(device, int) and not isinstance(device, bool) and 0 <= device <= _HIGHEST_DEVICE,
        "device ids",
    )
    read_only = client.get("read_only", False)
    if not isinstance(read_only, bool):
        raise place.error("read_only", f"read_only: found {read_only!r}, expected true or false")
    return Binding(name, roles, devices, read_only)


def _all_of(client: Mapping[str, Any], key: str, place: _Place, is_right: Any, kind: str) -> frozenset[Any] | None:
    values = client.get(key)
    if values is None:
        return None
    if not isinstance(values, list):
        raise place.error(key, f"{key}: found {values!r}, expected a list of {kind}")
    for value in values:
        if not is_right(value):
            raise place.error(key, f"{key}: found {value!r}, expected {kind}")
    return frozenset(values)
