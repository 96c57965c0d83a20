"""Parser of STF files."""

import re
from collections.abc import Callable
from pathlib import Path

from phb_switch.stf.statements import (
    Add,
    Call,
    CheckCounter,
    Command,
    Expect,
    Key,
    NoPacket,
    Remove,
    SendPacket,
    SetDefault,
    Statement,
    StfError,
    Wait,
)

HIGHEST_PORT = 510
"""The highest number of a port; 511 means drop."""

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda count, number: count == number,
    "!=": lambda count, number: count != number,
    "<=": lambda count, number: count <= number,
    "<": lambda count, number: count < number,
    ">=": lambda count, number: count >= number,
    ">": lambda count, number: count > number,
}

# Least and most words after each command; None is no limit.
COMMANDS: dict[str, tuple[int, int | None]] = {
    "mirroring_add": (2, 2),
    "mirroring_add_mc": (2, 2),
    "mirroring_delete": (1, 1),
    "mirroring_get": (1, 1),
    "mc_mgrp_create": (1, 1),
    "mc_mgrp_destroy": (1, 1),
    "mc_node_create": (1, None),
    "mc_node_update": (1, None),
    "mc_node_destroy": (1, 1),
    "mc_node_associate": (2, 2),
    "mc_node_dissociate": (2, 2),
    "counter_read": (2, 2),
    "counter_write": (4, 4),
    "counter_reset": (1, 1),
    "register_read": (1, 2),
    "register_write": (3, 3),
    "register_reset": (1, 1),
    "meter_get_rates": (2, 2),
    "meter_set_rates": (4, 4),
    "meter_array_set_rates": (3, 3),
}

_NAME = r"[A-Za-z_$][\w$.\[\]]*"
_KEY = re.compile(rf"({_NAME}):(\S+)\s*")
_TABLE = re.compile(rf"({_NAME})\s*")
_PRIORITY = re.compile(r"(\d+)(?:\s+|$)")
_CALL = re.compile(rf"({_NAME})\s*\(([^)]*)\)\s*")
_HANDLE = re.compile(r"=\s*([A-Za-z_]\w*)\s*$")
_ARGUMENT = re.compile(rf"\s*({_NAME})\s*:\s*(\S+)\s*$")
_COUNTER = re.compile(
    rf"({_NAME})\s*\(\s*(\$?\w+)\s*\)\s*(?:(packets|bytes)\s*(==|!=|<=|<|>=|>)\s*(\w+)\s*)?$", re.IGNORECASE
)


class _Line:
    def __init__(self, path: Path, number: int, text: str) -> None:
        self.path = path
        self.number = number
        self.rest = text

    def error(self, expected: str) -> StfError:
        found = repr(self.rest) if self.rest else "the end of the line"
        return StfError(f"{self.path}:{self.number}: found {found}, expected {expected}")

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.rest)
        if match is not None:
            self.rest = self.rest[match.end() :]
        return match

    def must(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        match = self.take(pattern)
        if match is None:
            raise self.error(expected)
        return match

    def end(self, expected: str = "nothing more") -> None:
        if self.rest:
            raise self.error(expected)


def parse(path: Path) -> list[Statement]:
    """Reads a file's statements; StfError if it can't be read, or a line is not STF."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise StfError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise StfError(f"{path}: not an STF file: it is not UTF-8") from None
    statements = []
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.partition("#")[0].strip()
        if content:
            word, *rest = content.split(maxsplit=1)
            reader = _READERS.get(word.lower())
            if reader is None:
                raise StfError(f"{path}:{number}: found {word!r}, expected one of {', '.join(_READERS)}")
            statements.append(reader(_Line(path, number, "".join(rest)), word.lower()))
    return statements


def _port(line: _Line) -> int:
    port = int(line.must(_PRIORITY, "the number of a port")[1])
    if port > HIGHEST_PORT:
        raise StfError(f"{line.path}:{line.number}: found port {port}, expected 0 to {HIGHEST_PORT}")
    return port


def _packet(line: _Line, _: str) -> Statement:
    port, digits = _port(line), "".join(line.rest.split())
    if re.fullmatch(r"([0-9A-Fa-f]{2})*", digits) is None:
        raise line.error("bytes as pairs of hexadecimal digits")
    return SendPacket(line.number, port, bytes.fromhex(digits))


def _expect(line: _Line, _: str) -> Statement:
    port, digits = _port(line), "".join(line.rest.split())
    if re.fullmatch(r"[0-9A-Fa-f*]*\$?", digits) is None:
        raise line.error("hexadecimal digits, * for any digit, $ at the end of a packet")
    pattern = digits.removesuffix("$").lower()
    return Expect(line.number, port, pattern if digits else None, digits.endswith("$"))


def _no_packet(line: _Line, _: str) -> Statement:
    line.end()
    return NoPacket(line.number)


def _wait(line: _Line, _: str) -> Statement:
    # p4c's runner ignores the rest.
    return Wait(line.number)


def _call(line: _Line) -> Call:
    match = line.must(_CALL, "ACTION(NAME:VALUE, ...)")
    arguments = []
    for text in filter(None, (each.strip() for each in match[2].split(","))):
        argument = _ARGUMENT.match(text)
        if argument is None:
            raise StfError(f"{line.path}:{line.number}: found argument {text!r}, expected NAME:VALUE")
        arguments.append((argument[1], argument[2]))
    return Call(match[1], tuple(arguments))


def _table_and_keys(line: _Line) -> tuple[str, int | None, tuple[Key, ...]]:
    table = line.must(_TABLE, "the name of a table")[1]
    priority = line.take(_PRIORITY)
    keys = []
    while match := line.take(_KEY):
        keys.append(Key(match[1], match[2]))
    return table, int(priority[1]) if priority else None, tuple(keys)


def _add(line: _Line, _: str) -> Statement:
    table, priority, keys = _table_and_keys(line)
    call = _call(line)
    handle = line.take(_HANDLE)
    line.end("= NAME")
    return Add(line.number, table, priority, keys, call, handle[1] if handle else None)


def _set_default(line: _Line, _: str) -> Statement:
    table = line.must(_TABLE, "the name of a table")[1]
    call = _call(line)
    line.end()
    return SetDefault(line.number, table, call)


def _remove(line: _Line, _: str) -> Statement:
    if not line.rest or line.rest.lower() == "all":
        return Remove(line.number)
    if line.rest.startswith("$"):
        return Remove(line.number, handle=line.rest[1:])
    table, priority, keys = _table_and_keys(line)
    line.end("KEY:VALUE")
    return Remove(line.number, table=table, priority=priority, keys=keys)


def _check_counter(line: _Line, _: str) -> Statement:
    match = line.must(_COUNTER, "COUNTER(INDEX) or COUNTER($HANDLE), then packets or bytes, a comparison, a number")
    try:
        number = int(match[5] or "0", 0)
    except ValueError:
        raise StfError(f"{line.path}:{line.number}: found {match[5]!r}, expected a number") from None
    return CheckCounter(line.number, match[1], match[2], (match[3] or "packets").lower(), match[4] or ">=", number)


def _command(line: _Line, name: str) -> Statement:
    words, (least, most) = tuple(line.rest.split()), COMMANDS[name]
    if len(words) < least or (most is not None and len(words) > most):
        count = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
        raise line.error(f"{count} words after {name}")
    return Command(line.number, name, words)


_READERS: dict[str, Callable[[_Line, str], Statement]] = {
    "packet": _packet,
    "expect": _expect,
    "no_packet": _no_packet,
    "wait": _wait,
    "add": _add,
    "setdefault": _set_default,
    "remove": _remove,
    "check_counter": _check_counter,
    **dict.fromkeys(COMMANDS, _command),
}
