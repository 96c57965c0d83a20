"""What an inventory's file says: switches, lines between them, sessions that measure, sources of more switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from phb.device.deadlines import TIMEOUT_S
from phb.errors import InputError
from phb.model import Dialect, Item, Name
from phb.model.base import Flag, unexpected
from phb.values import CodePoint, Text, Within

if TYPE_CHECKING:
    from phb.device.tls import Tls
    from phb.stamp.session import Plan


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


class End(NamedTuple):
    """A port of a switch, by their names."""

    switch: str
    port: str

    def __str__(self) -> str:
        return f"{self.switch}:{self.port}"


@dataclass(frozen=True, slots=True)
class Link:
    """A line between two ports; `line` is where the file says it, 0 where that isn't known."""

    a: End
    b: End
    line: int = field(default=0, compare=False)


def _link(value: Any) -> Link:
    if isinstance(value, Link):
        return value
    a, b = (End(*each.split(":", 1)) for each in value if isinstance(each, str) and all(each.split(":", 1)))
    return Link(a, b, getattr(value, "line", 0))


_LINK = Text(
    _link,
    "two ports, each as SWITCH:PORT, such as [edge:wan, core:p1]",
    lambda link: [str(link.a), str(link.b)],
    {
        "type": "array",
        "items": {"type": "string", "pattern": "^[^:]+:.+$"},
        "minItems": 2,
        "maxItems": 2,
    },
)


def _where(value: Any) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise TypeError
    wanted = {}
    for path, choice in value.items():
        choices = choice if isinstance(choice, list | tuple) else [choice]
        if not choices or not all(isinstance(each, str | int) for each in choices):
            raise ValueError
        wanted[path] = tuple(as_text(each) for each in choices)
    return wanted


_SCALAR: Final = {"type": ["string", "integer", "boolean"]}
_WHERE = Text(
    _where,
    "a mapping of values, or lists of values, such as {status.value: active}",
    dict,
    {
        "type": "object",
        "additionalProperties": {"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR, "minItems": 1}]},
    },
)

_Word = Annotated[str, Field(min_length=1, max_length=4096, strict=True)]


class Source(Item):
    """Where more switches come from: what a command prints, the files of a folder, or a file.

    The fields below `format` are for NetBox's devices: templates, with words of the device's JSON in braces.

    Attributes:
        command: Program and arguments, run in the inventory's folder, without a shell.
        timeout: Seconds that the command may take.
        every: Seconds between two runs of the command, while something watches.
        doubt: Seconds for which it has to stay by it when it tells less than half of the switches of before.
        format: Of what the command prints, or of the file.
        where: Which devices are meant: by each path one of these values.
    """

    command: Annotated[tuple[_Word, ...], Field(min_length=1)] | None = None
    directory: _Word | None = None
    file: _Word | None = None
    timeout: Annotated[int, Within(1, 3600)] = 30
    every: Annotated[int, Within(1, 86400)] = 60
    doubt: Annotated[int, Within(0, 30 * 86400)] = 600
    format: Literal["inventory", "netbox"] = "inventory"
    where: Annotated[Mapping[str, tuple[str, ...]], _WHERE] | None = None
    name: _Word = "{name}"
    address: _Word = "{primary_ip.address}:9559"
    policies: Annotated[tuple[_Word, ...], Field(min_length=1)] | None = None
    groups: tuple[_Word, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if sum(each is not None for each in (self.command, self.directory, self.file)) != 1:
            raise unexpected("a source", "exactly one of 'command', 'directory' and 'file' in it")
        netbox = self.format == "netbox"
        if netbox and self.directory is not None:
            raise unexpected("'netbox'", "a command or a file that gives it", "format")
        if netbox and self.policies is None:
            raise unexpected("no 'policies'", "'policies': which files each device gets")
        for name in () if netbox else ("where", "name", "address", "policies", "groups"):
            if name in self.model_fields_set:
                raise unexpected(f"'{name}'", "it only with 'format: netbox'", name)
        return self

    def __str__(self) -> str:
        return " ".join(self.command) if self.command is not None else str(self.directory or self.file)


class Fragment(Item):
    """What a file, or a source, says of a network."""

    defaults: Common = Common()
    switches: Annotated[tuple[Switch, ...], Field(min_length=1)] = ()
    links: tuple[Annotated[Link, _LINK], ...] = ()
    stamp: tuple[StampSession, ...] = ()


class Inventory(Fragment):
    """A file of switches and lines between them, and of the sessions that measure ways between places.

    As `read_whole` gives it, the switches of its sources are in it, what `defaults` says and a switch doesn't is in the
    switch, and paths are resolved.
    """

    sources: Annotated[tuple[Source, ...], Field(alias="from", min_length=1)] = ()


def as_text(value: object) -> str:
    """Give a value as it stands in YAML and JSON."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_address(text: str) -> bool:
    """Whether it is ``HOST:PORT``, or ``unix:/PATH`` of a server on the same machine."""
    if text.startswith("unix:/"):
        return True
    host, _, port = text.rpartition(":")
    return bool(host) and port.isascii() and port.isdigit() and 0 < int(port) < 65536
