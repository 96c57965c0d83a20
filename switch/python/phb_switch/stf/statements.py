"""The statements of an STF file."""

from dataclasses import dataclass


class StfError(Exception):
    """An STF file that can't be read; `str()` is one line: file, line, what was found and expected."""


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
    """A frame that arrives."""

    line: int
    port: int
    data: bytes


@dataclass(frozen=True)
class Expect:
    """A frame that has to leave.

    `pattern` is hexadecimal digits, `*` for any, and None for whatever leaves, nothing included. A longer frame matches
    too, unless `whole`.
    """

    line: int
    port: int
    pattern: str | None
    whole: bool


@dataclass(frozen=True)
class NoPacket:
    """The packet before must not make any leave."""

    line: int


@dataclass(frozen=True)
class Wait:
    """Time passes."""

    line: int


@dataclass(frozen=True)
class Add:
    """An entry is added; `handle` is a name for it."""

    line: int
    table: str
    priority: int | None
    keys: tuple[Key, ...]
    call: Call
    handle: str | None


@dataclass(frozen=True)
class SetDefault:
    """A table gets a default action."""

    line: int
    table: str
    call: Call


@dataclass(frozen=True)
class Remove:
    """An entry is removed: the one of `handle`, or of `table` with these keys; every entry if neither is given."""

    line: int
    handle: str | None = None
    table: str | None = None
    priority: int | None = None
    keys: tuple[Key, ...] = ()


@dataclass(frozen=True)
class CheckCounter:
    """A cell of a counter, or an entry's (`index` is `$` and its handle), is compared with a number."""

    line: int
    counter: str
    index: str
    unit: str
    comparison: str
    number: int


@dataclass(frozen=True)
class Command:
    """One of the commands that p4c's runner hands to simple_switch_CLI."""

    line: int
    name: str
    words: tuple[str, ...]


Statement = SendPacket | Expect | NoPacket | Wait | Add | SetDefault | Remove | CheckCounter | Command
