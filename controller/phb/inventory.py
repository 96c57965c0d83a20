"""The inventory: which switches there are, how they are reached, which policy files each gets; ways to measure.

A YAML file with the policy files' quality of errors. Paths in it are relative to its own folder, so that it means the
same from wherever it is used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, field_validator

from phb.device.deadlines import TIMEOUT_S
from phb.errors import InputError
from phb.files import read_text
from phb.formats import yaml_format
from phb.model import Dialect, Item, Name
from phb.model.base import Flag, unexpected
from phb.origin import Origin
from phb.values import CodePoint, Within

if TYPE_CHECKING:
    from phb.device.tls import Tls
    from phb.stamp.session import Plan

VERSION_KEY = "phb-inventory"

MOST_SESSIONS = 100
MOST_PACKETS = 1000
"""Test packets that all sessions may send each second."""

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


class StampSession(Item):
    """A session of test packets that a monitor sends to a reflector of STAMP (RFC 8762).

    Attributes:
        name: How it is called where its figures are shown.
        reflector: Its IP address, and its port unless that is 862.
        traffic_class: The class that it measures, as policies call it.
        dscp: What its packets carry, so that they are of the class.
        path: Switches on the way, whose own delay of the class stands beside.
        rate: Packets each second.
        size: Octets of a packet; None is the least.
        wait: Seconds that a reply may take.
        key_file: Whose first line is the key of HMAC-SHA-256.
        source: Address to send from.
        stateful: Whether the reflector numbers packets itself; None: only if its numbers show it.
        common_clock: Whether sender and reflector have the same time, so that delays of one direction mean something.
    """

    name: Name
    reflector: Name
    traffic_class: Annotated[Name, Field(alias="class")]
    dscp: CodePoint
    path: tuple[Name, ...] = ()
    rate: Annotated[int, Within(1, 100)] = 10
    size: Annotated[int, Within(44, 9000)] | None = None
    wait: Annotated[int, Within(1, 10)] = 2
    key_file: Annotated[str, Field(min_length=1, max_length=4096, strict=True)] | None = None
    source: Name | None = None
    stateful: Flag | None = None
    common_clock: Flag = False

    @field_validator("reflector")
    @classmethod
    def _place(cls, reflector: str) -> str:
        # Here because few commands have sessions.
        from phb.stamp.places import parse_place

        try:
            ip_address(parse_place(reflector)[0])
        except ValueError:
            raise unexpected(f"'{reflector}'", "an IP address and a port, such as 192.0.2.1:862") from None
        return reflector

    @field_validator("source")
    @classmethod
    def _address(cls, source: str | None) -> str | None:
        try:
            return None if source is None else str(ip_address(source))
        except ValueError:
            raise unexpected(f"'{source}'", "an IP address of this machine") from None

    @property
    def host(self) -> str:
        """The reflector's address, without its port."""
        from phb.stamp.places import parse_place

        return parse_place(self.reflector)[0]

    @property
    def plan(self) -> Plan:
        """What is sent. Its `count` is 1: who measures says of how many packets a period is.

        Raises:
            InputError: The key's file isn't right, or a packet can't have that size.
        """
        from phb.stamp.packets import length
        from phb.stamp.places import parse_place, read_key
        from phb.stamp.session import Plan
        from phb.stamp.tlvs import HEAD

        key = None if self.key_file is None else read_key(Path(self.key_file))
        least = length(key)
        size = least if self.size is None else self.size
        if size != least and size < least + HEAD:
            raise InputError(self.origin("size"), f"{size}", f"{least}, or at least {least + HEAD}")
        host, port = parse_place(self.reflector)
        return Plan(
            *(host, port, (self.dscp,), 1, 1 / self.rate, self.wait, size),
            key=key,
            stateful=self.stateful,
            source=self.source,
        )


class Inventory(Item):
    """A file of switches, and of the sessions that measure ways between places.

    As `read_whole` gives it, what `defaults` says and a switch doesn't is in the switch, and paths are resolved.
    """

    defaults: Common = Common()
    switches: Annotated[tuple[Switch, ...], Field(min_length=1)]
    stamp: tuple[StampSession, ...] = ()


def is_address(text: str) -> bool:
    """Whether it is ``HOST:PORT``, or ``unix:/PATH`` of a server on the same machine."""
    if text.startswith("unix:/"):
        return True
    host, _, port = text.rpartition(":")
    return bool(host) and port.isascii() and port.isdigit() and 0 < int(port) < 65536


def read_inventory(path: Path) -> tuple[Switch, ...]:
    """Read the switches of an inventory, complete as `read_whole` gives them."""
    return read_whole(path).switches


def read_whole(path: Path) -> Inventory:
    """Read an inventory, and complete its switches and sessions."""
    text = read_text(path, "a readable inventory")
    inventory = yaml_format.read_as(text, str(path), Inventory, VERSION_KEY)
    _check_unique(inventory)
    _check_sessions(inventory)
    switches = tuple(_complete(switch, inventory.defaults, path.parent) for switch in inventory.switches)
    sessions = tuple(_with_key(session, path.parent) for session in inventory.stamp)
    return inventory.model_copy(update={"switches": switches, "stamp": sessions})


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


def _check_sessions(inventory: Inventory) -> None:
    if len(inventory.stamp) > MOST_SESSIONS:
        found, at = f"{len(inventory.stamp)} sessions", inventory.stamp[MOST_SESSIONS].origin()
        raise InputError(at, found, f"at most {MOST_SESSIONS}")
    names: dict[str, Origin] = {}
    switches = {switch.name for switch in inventory.switches}
    rate = 0
    for session in inventory.stamp:
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
                raise InputError(session.origin("path"), f"'{name}'", f"a switch: {', '.join(sorted(switches))}")
        rate += session.rate
        if rate > MOST_PACKETS:
            found = f"{rate} packets a second of all sessions until here"
            raise InputError(session.origin("rate"), found, f"at most {MOST_PACKETS}")


def _with_key(session: StampSession, folder: Path) -> StampSession:
    if session.key_file is None:
        return session
    resolved = session.model_copy(update={"key_file": _resolve(session.key_file, folder)})
    return resolved.at(session.origin(), session.origins())


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
