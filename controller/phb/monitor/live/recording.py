"""Recordings: lines of JSON, first a hello, then all messages but ticks; packed where a name ends in .gz."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, cast

from phb.errors import InputError
from phb.monitor.live.live import line_of
from phb.monitor.live.messages import VERSION, Detail, Hello, Mark, Occurrence, Span
from phb.monitor.live.shapes import check_of
from phb.origin import Origin
from phb.visible import visible

MOST_BYTES: Final = 128 << 20
"""Bytes of a recording, unpacked, that are read: a page has all of them in its memory."""

LEVEL: Final = 6
"""Of gzip: a higher one takes longer and gains nothing that counts."""


class Recorder:
    """Writes a recording; the same messages give the same bytes.

    Raises:
        OSError: The file can't be written, with its name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._named():
            self._file: IO[bytes] = path.open("wb")
        self._packed = gzip.GzipFile("", "wb", LEVEL, self._file, mtime=0) if path.suffix == ".gz" else None

    def write(self, line: bytes) -> None:
        """Write a message, a line without its end."""
        with self._named():
            (self._packed or self._file).write(line + b"\n")

    def close(self) -> None:
        """End the file."""
        with self._named():
            if self._packed is not None:
                self._packed.close()
            self._file.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error


@dataclass(frozen=True)
class Recording:
    """A recording that was read.

    Attributes:
        hello: Its first message, with the time of all others in `recording`.
        lines: The others, each as it stands in the file, without its end.
        cut_at: Line at which it is cut off, because what wrote it was killed; 0 where it is whole.
    """

    hello: Hello
    lines: list[bytes]
    cut_at: int


def read_recording(path: Path, most_bytes: int = MOST_BYTES) -> Recording:
    """Read a recording.

    Raises:
        InputError: It can't be read, is none, of another version, or longer than `most_bytes`.
    """
    lines: list[bytes] = []
    size = 0
    first = last = 0.0
    hello: Hello | None = None
    cut_at = 0
    for number, line in _lines_of(path, most_bytes + 1):
        if not line.endswith(b"\n") and len(line) <= most_bytes:
            cut_at = number
            break
        size += len(line)
        if size > most_bytes:
            more = f"more than {most_bytes >> 20} MB of messages"
            raise InputError(Origin(str(path), number), more, "less: record fewer tests, or at longer intervals")
        line = line[:-1]
        message = _message(path, number, line)
        if message["kind"] == "hello":
            hello = message if hello is None else _followed(hello, message)
            continue
        t = message["t"]
        first, last = (min(first, t), max(last, t)) if lines else (t, t)
        lines.append(line)
    if hello is None:
        raise InputError(Origin(str(path)), "no whole line", "a recording")
    if not lines:
        first = last = hello["now"]
    span: Span = {"first": first, "last": last}
    return Recording({**hello, "recording": span}, lines, cut_at)


def again(path: Path, hello: Hello) -> Iterator[bytes]:
    """Give the lines of a recording of one's own, with their ends, behind another hello."""
    yield line_of(hello) + b"\n"
    for _, line in _lines_of(path, MOST_BYTES):
        if not line.startswith(b'{"kind":"hello"'):
            yield line


def _lines_of(path: Path, most: int) -> Iterator[tuple[int, bytes]]:
    """Give lines with their numbers; at last one without an end where the file is cut off."""
    number = 0
    try:
        with path.open("rb") as raw:
            packed = raw.peek(2)[:2] == b"\x1f\x8b"
            with gzip.GzipFile(fileobj=raw) if packed else raw as file:
                while line := file.readline(most):
                    number += 1
                    yield number, line
    except EOFError:
        yield number + 1, b""
    except OSError as error:
        raise InputError(Origin(str(path)), error.strerror or str(error), "a recording") from None
    except zlib.error:
        raise InputError(Origin(str(path), number + 1), "damaged data", "a recording that gzip packed") from None


_CHECKS: Final = {
    "hello": check_of(Hello),
    "detail": check_of(Detail),
    "event": check_of(Occurrence),
    "mark": check_of(Mark),
}


def _message(path: Path, number: int, line: bytes) -> Hello | Detail | Occurrence | Mark:
    origin = Origin(str(path), number)
    try:
        value = _value(line)
    except ValueError:
        value = None
    kind = value.get("kind") if isinstance(value, dict) else None
    if number == 1 and kind != "hello":
        raise InputError(origin, "another beginning", "a recording, of phb-lab run --record")
    if not isinstance(kind, str) or kind not in _CHECKS:
        raise InputError(origin, "something else", f"a message in JSON, whose kind is one of: {', '.join(_CHECKS)}")
    if kind == "hello" and value.get("version") != VERSION:
        raise InputError(origin, f"version {visible(str(value.get('version')))[:20]}", f"version {VERSION}")
    if (wrong := _CHECKS[kind](value)) is not None:
        where, _, expected = wrong.rpartition(": ")
        raise InputError(origin, f"something else at {visible(where[1:])[:200] or 'the line'}", expected)
    return cast("Hello | Detail | Occurrence | Mark", value)


def _followed(before: Hello, after: Hello) -> Hello:
    """Give the hello of a recording during which other switches were followed: those of all its time."""
    switches = {each["name"]: each for each in (*before["switches"], *after["switches"])}
    links = [*after["links"], *(each for each in before["links"] if each not in after["links"])]
    return {**before, "switches": list(switches.values()), "links": links}


def _value(line: bytes) -> Any:
    try:
        return json.loads(line.decode(), parse_constant=_refuse)
    except RecursionError:
        raise ValueError from None


def _refuse(word: str) -> None:
    """Refuse NaN and its like, which are no JSON."""
    raise ValueError(word)
