"""An inventory as a whole: its own file and its sources, completed and checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from phb.errors import InputError, each_of
from phb.formats import yaml_format
from phb.inventory.items import Common, End, Inventory, StampSession, Switch, TlsFiles
from phb.inventory.parts import VERSION_KEY, Part, folder_of, read_main, read_source
from phb.origin import Origin

MOST_SESSIONS = 100
MOST_PACKETS = 1000
"""Test packets that all sessions may send each second."""

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def read_inventory(path: Path) -> tuple[Switch, ...]:
    """Read the switches of an inventory, complete as `read_whole` gives them."""
    return read_whole(path).switches


def read_whole(path: Path) -> Inventory:
    """Read an inventory and its sources, and complete its switches and sessions; a folder is one of its files."""
    main, folder = read_main(path), folder_of(path)
    asked = each_of(partial(read_source, source, folder) for source in main.sources)
    return assembled(main, folder, [Part(str(path), folder, main), *(part for parts in asked for part in parts)])


def assembled(main: Inventory, folder: Path, parts: Sequence[Part]) -> Inventory:
    """Make one inventory of what its file, the first of the parts, and its sources say, and check it as a whole.

    Raises:
        InputError: There is no switch, one is there twice, or something names a switch that isn't there.
    """
    defaults = _said(main.defaults, folder)
    switches: list[Switch] = []
    unique = _Unique()
    for part in parts:
        inner = {} if part.content is main else _said(part.content.defaults, part.folder)
        common = {**_DEFAULTS, **defaults, **inner}
        for switch in part.content.switches:
            whole = Switch.model_construct(**{**common, **_said(switch, part.folder)}).at(switch.origin())
            unique.take(switch, whole)
            switches.append(whole)
    if not switches:
        said = main.origin("sources")
        # A folder names its files in no line.
        origin = said if said.line else Origin(parts[0].name)
        raise InputError(origin, "no switch in any source", "at least one")
    unique.check_groups()
    names = {switch.name for switch in switches}
    sessions = [session for part in parts for session in part.content.stamp]
    _check_links(parts, names)
    _check_sessions(sessions, names)
    update = {
        "switches": tuple(switches),
        "links": tuple(link for part in parts for link in part.content.links),
        "stamp": tuple(_with_key(session, part.folder) for part in parts for session in part.content.stamp),
    }
    return main.model_copy(update=update)


def select(switches: Sequence[Switch], names: Sequence[str], inventory: Path) -> tuple[Switch, ...]:
    """Select switches by their names or their groups'; without names all, in the inventory's order."""
    for name in names:
        if not any(name == switch.name or name in switch.groups for switch in switches):
            known = sorted({switch.name for switch in switches}) + sorted({g for s in switches for g in s.groups})
            raise InputError(Origin("--switch"), f"'{name}'", f"a switch or group of {inventory}: {', '.join(known)}")
    return tuple(
        switch
        for switch in switches
        if not names or switch.name in names or any(group in names for group in switch.groups)
    )


def schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of an inventory."""
    result = Inventory.model_json_schema(by_alias=True)
    version = {"const": yaml_format.VERSION, "description": "Version of the format."}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **result,
        "title": "phb inventory",
        "properties": {VERSION_KEY: version, **result["properties"]},
        "required": [VERSION_KEY, *result.get("required", ())],
    }


class _Unique:
    """Checks that each name and place is there once."""

    def __init__(self) -> None:
        self._names: dict[str, Origin] = {}
        self._places: dict[tuple[str, int], Origin] = {}
        self._groups: set[str] = set()

    def take(self, switch: Switch, whole: Switch) -> None:
        """Check one; `switch` is as it was said, and knows the lines."""
        known = self._names.get(switch.name)
        if known is not None:
            found = f"switch '{switch.name}' again"
            raise InputError(switch.origin("name"), found, f"it once; it also stands at {known}")
        self._names[switch.name] = switch.origin("name")
        self._groups.update(switch.groups)
        place = whole.address, whole.device_id
        known = self._places.get(place)
        if known is not None:
            found = f"device {place[1]} at {place[0]} again"
            raise InputError(switch.origin("address"), found, f"it once; it also stands at {known}")
        self._places[place] = switch.origin("address")

    def check_groups(self) -> None:
        """Check that no switch is called as a group is; after all switches."""
        for name, origin in self._names.items():
            if name in self._groups:
                raise InputError(origin, f"switch '{name}', which is also a group", "another name")


def _check_links(parts: Sequence[Part], names: Collection[str]) -> None:
    taken: dict[End, Origin] = {}
    for part in parts:
        for link in part.content.links:
            origin = Origin(part.name, link.line, "links")
            for end in (link.a, link.b):
                if end.switch not in names:
                    raise InputError(origin, f"'{end}'", f"a port of a switch: {_some(names)}")
                if end in taken:
                    raise InputError(origin, f"'{end}' again", f"one line a port; it also stands at {taken[end]}")
                taken[end] = origin


def _some(names: Collection[str]) -> str:
    """List names, not more than a person reads."""
    shown = sorted(names)[:20]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} others" if len(names) > len(shown) else "")


def _check_sessions(sessions: Sequence[StampSession], switches: Collection[str]) -> None:
    if len(sessions) > MOST_SESSIONS:
        found, at = f"{len(sessions)} sessions", sessions[MOST_SESSIONS].origin()
        raise InputError(at, found, f"at most {MOST_SESSIONS}")
    names: dict[str, Origin] = {}
    rate = 0
    for session in sessions:
        if session.name in names:
            found = f"session '{session.name}' again"
            raise InputError(session.origin("name"), found, f"it once; it also stands at {names[session.name]}")
        names[session.name] = session.origin("name")
        if session.source is not None:
            version = ip_address(session.host).version
            if ip_address(session.source).version != version:
                found = f"'{session.source}'"
                raise InputError(session.origin("source"), found, f"an address of IPv{version}, as the reflector's")
        for name in session.path:
            if name not in switches:
                raise InputError(session.origin("path"), f"'{name}'", f"a switch: {_some(switches)}")
        rate += session.rate
        if rate > MOST_PACKETS:
            found = f"{rate} packets a second of all sessions until here"
            raise InputError(session.origin("rate"), found, f"at most {MOST_PACKETS}")


def _with_key(session: StampSession, folder: Path) -> StampSession:
    if session.key_file is None:
        return session
    resolved = session.model_copy(update={"key_file": _resolve(session.key_file, folder)})
    return resolved.at(session.origin(), session.origins())


def _said(item: Common, folder: Path) -> dict[str, Any]:
    """Give what an item says itself, with its paths resolved."""
    values = {name: getattr(item, name) for name in item.model_fields_set}
    if isinstance(item, Switch):
        values["policies"] = tuple(_resolve(policy, folder) for policy in item.policies)
    if values.get("tls") is not None:
        tls: TlsFiles = values["tls"]
        files = {name: getattr(tls, name) for name in ("ca", "certificate", "key") if getattr(tls, name) is not None}
        values["tls"] = tls.model_copy(update={name: _resolve(file, folder) for name, file in files.items()})
    return values


_DEFAULTS: dict[str, Any] = {
    name: field.get_default() for name, field in Switch.model_fields.items() if not field.is_required()
}


def _resolve(path: str, folder: Path) -> str:
    return path if _URL.match(path) else str(folder / path)
