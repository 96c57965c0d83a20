"""The inventory: which switches there are, how they are reached, and which policy files each gets.

A YAML file with the policy files' quality of errors. Paths in it are relative to its own folder, so that it means the
same from wherever it is used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, field_validator

from phb.device.deadlines import TIMEOUT_S
from phb.errors import InputError
from phb.files import read_text
from phb.formats import yaml_format
from phb.model import Dialect, Item, Name
from phb.model.base import unexpected
from phb.origin import Origin
from phb.values import Within

if TYPE_CHECKING:
    from phb.device.tls import Tls

VERSION_KEY = "phb-inventory"

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


class TargetKind(StrEnum):
    """Kind of switch: decides what a policy may ask for, and how it is written."""

    PHB_SWITCH = "phb-switch"
    BMV2 = "bmv2"
    BMV2_SP_PIFO = "bmv2-sp-pifo"


class TlsFiles(Item):
    """Files in PEM. With `certificate` and `key` the switch learns who we are (mutual TLS)."""

    ca: Name | None = None
    certificate: Name | None = None
    key: Name | None = None
    server_name: Name | None = None


class Common(Item):
    """Settings of every switch, and defaults for those that don't have their own."""

    device_id: Annotated[int, Within(0, 2**64 - 1)] = 1
    target: TargetKind = TargetKind.PHB_SWITCH
    role: Annotated[str, Field(max_length=64, strict=True)] = ""
    timeout: Annotated[float, Within(1, 3600)] = TIMEOUT_S
    election_id: Annotated[int, Within(1, 2**128 - 1)] = 1
    tls: TlsFiles | None = None
    format: Name | None = None
    dialect: Dialect | None = None


class Switch(Common):
    """One switch.

    Attributes:
        name: How commands and messages call it.
        address: ``HOST:PORT`` of its P4Runtime server, or ``unix:/PATH``.
        policies: Policy files or the addresses of directories; rules of earlier ones are asked first.
        groups: Names that select several switches at once.
        timeout: Seconds that one answer may take.
    """

    name: Name
    address: Name
    policies: Annotated[tuple[Annotated[str, Field(min_length=1, strict=True)], ...], Field(min_length=1)]
    groups: tuple[Name, ...] = ()

    @field_validator("address")
    @classmethod
    def _host_and_port(cls, address: str) -> str:
        if not is_address(address):
            raise unexpected(f"'{address}'", "HOST:PORT, such as 192.0.2.1:9559")
        return address

    @property
    def certificates(self) -> Tls | None:
        """How sessions are encrypted; None is plain text."""
        if self.tls is None:
            return None
        # Here because it brings gRPC, which commands that talk to no switch can do without.
        from phb.device.tls import Tls

        def path(name: str | None) -> Path | None:
            return None if name is None else Path(name)

        return Tls(path(self.tls.ca), path(self.tls.certificate), path(self.tls.key), self.tls.server_name)


class Inventory(Item):
    """A file of switches."""

    defaults: Common = Common()
    switches: Annotated[tuple[Switch, ...], Field(min_length=1)]


def is_address(text: str) -> bool:
    """Whether it is ``HOST:PORT``, or ``unix:/PATH`` of a server on the same machine."""
    if text.startswith("unix:/"):
        return True
    host, _, port = text.rpartition(":")
    return bool(host) and port.isascii() and port.isdigit() and 0 < int(port) < 65536


def read_inventory(path: Path) -> tuple[Switch, ...]:
    """Read an inventory; what `defaults` says and a switch doesn't is in the switch, and paths are resolved."""
    text = read_text(path, "a readable inventory")
    inventory = yaml_format.read_as(text, str(path), Inventory, VERSION_KEY)
    _check_unique(inventory)
    return tuple(_complete(switch, inventory.defaults, path.parent) for switch in inventory.switches)


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


def _check_unique(inventory: Inventory) -> None:
    names: dict[str, Origin] = {}
    places: dict[tuple[str, int], Origin] = {}
    groups = {group for switch in inventory.switches for group in switch.groups}
    for switch in inventory.switches:
        if switch.name in names:
            raise InputError(
                switch.origin("name"),
                f"switch '{switch.name}' again",
                f"it once; it also stands at {names[switch.name]}",
            )
        if switch.name in groups:
            raise InputError(switch.origin("name"), f"switch '{switch.name}', which is also a group", "another name")
        names[switch.name] = switch.origin("name")
        said = switch if "device_id" in switch.model_fields_set else inventory.defaults
        place = (switch.address, said.device_id)
        if place in places:
            found = f"device {place[1]} at {switch.address} again"
            raise InputError(switch.origin("address"), found, f"it once; it also stands at {places[place]}")
        places[place] = switch.origin("address")


def _complete(switch: Switch, defaults: Common, folder: Path) -> Switch:
    said = {name: getattr(switch, name) for name in switch.model_fields_set}
    inherited = {name: getattr(defaults, name) for name in defaults.model_fields_set if name not in said}
    values = {**inherited, **said}
    values["policies"] = tuple(_resolve(policy, folder) for policy in switch.policies)
    if values.get("tls") is not None:
        tls: TlsFiles = values["tls"]
        files = {name: getattr(tls, name) for name in ("ca", "certificate", "key") if getattr(tls, name) is not None}
        values["tls"] = tls.model_copy(update={name: _resolve(file, folder) for name, file in files.items()})
    return Switch.model_construct(**{**_DEFAULTS, **values}).at(switch.origin())


_DEFAULTS: dict[str, Any] = {
    name: field.get_default() for name, field in Switch.model_fields.items() if not field.is_required()
}


def _resolve(path: str, folder: Path) -> str:
    return path if _URL.match(path) else str(folder / path)
