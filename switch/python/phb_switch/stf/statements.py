"""The statements of an STF file."""

from dataclasses import dataclass


class StfError(Exception):
    """An error in an STF file; `str()` is one line: file, line, what was found and expected."""


class StatementError(Exception):
    """A statement that can't be carried out on this program; `str()` says what was found and expected."""


@dataclass(frozen=True)
class Key:
    """A condition on one key of a table; `name` may be shortened."""

    name: str
    value: str


@dataclass(frozen=True)
class Call:
    """An action with its arguments; names may be shortened."""

    action: str
    arguments: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SendPacket:
    """A received frame."""

    line: int
    port: int
    data: bytes


@dataclass(frozen=True)
class Expect:
    """An expected frame: hexadecimal digits, `*` for any, None for any or no frames; longer ones fit unless `whole`."""

    line: int
    port: int
    pattern: str | None
    whole: bool


@dataclass(frozen=True)
class NoPacket:
    """The last packet must not cause any."""

    line: int


@dataclass(frozen=True)
class Wait:
    """Time passes."""

    line: int


@dataclass(frozen=True)
class Add:
    """Adds an entry; `handle` is a name for it."""

    line: int
    table: str
    priority: int | None
    keys: tuple[Key, ...]
    call: Call
    handle: str | None


@dataclass(frozen=True)
class SetDefault:
    """Sets a default action."""

    line: int
    table: str
    call: Call


@dataclass(frozen=True)
class Remove:
    """Removes an entry, by `handle` or by `table` and keys; without these, every entry."""

    line: int
    handle: str | None = None
    table: str | None = None
    priority: int | None = None
    keys: tuple[Key, ...] = ()


@dataclass(frozen=True)
class CheckCounter:
    """Compares a cell of a counter, or an entry's counter (`index` is `$` and its handle), with a number."""

    line: int
    counter: str
    index: str
    unit: str
    comparison: str
    number: int


@dataclass(frozen=True)
class Command:
    """A command that p4c's runner gives to simple_switch_CLI."""

    line: int
    name: str
    words: tuple[str, ...]


Statement = SendPacket | Expect | NoPacket | Wait | Add | SetDefault | Remove | CheckCounter | Command
