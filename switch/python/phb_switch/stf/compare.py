"""Comparison of sent and expected packets."""

from collections.abc import Sequence
from dataclasses import dataclass

from phb_switch.stf.statements import Expect

_ROW_DIGITS = 32


@dataclass(frozen=True)
class Sent:
    """A sent packet, and the line of its cause."""

    line: int
    frame: bytes


@dataclass(frozen=True)
class Difference:
    """A difference from a line of the file."""

    line: int
    message: str
    expected: str | None = None
    """Pattern of the packet, in hexadecimal digits."""
    got: bytes | None = None
    byte: int | None = None
    """The first byte that differs."""
    whole: bool = True
    """Whether the expected packet has an end."""


def first_difference(expect: Expect, frame: bytes) -> int | None:
    """First byte that differs, the length of a packet that is too short, or None if it fits."""
    pattern, digits = expect.pattern or "", frame.hex()
    for place, (wanted, found) in enumerate(zip(pattern, digits, strict=False)):
        if wanted not in ("*", found):
            return place // 2
    if len(digits) < len(pattern):
        return len(frame)
    if expect.whole and len(digits) > len(pattern):
        return len(pattern) // 2
    return None


def compare(port: int, expected: Sequence[Expect], sent: Sequence[Sent]) -> list[Difference]:
    """Compares one port's packets in the file's order; one is lost or additional if the next two fit then."""
    if any(expect.pattern is None for expect in expected):
        return []
    failures = []
    at, place = 0, 0
    while at < len(expected) or place < len(sent):
        wanted = expected[at] if at < len(expected) else None
        found = sent[place] if place < len(sent) else None
        if wanted is not None and found is not None:
            byte = first_difference(wanted, found.frame)
            if byte is None:
                at, place = at + 1, place + 1
                continue
            if _fits(expected, at + 1, sent, place) and len(expected) - at > len(sent) - place:
                found = None
            elif _fits(expected, at, sent, place + 1) and len(expected) - at < len(sent) - place:
                wanted = None
        if wanted is not None and found is not None:
            failures.append(_differs(port, wanted, found, byte))
        elif wanted is not None:
            message = f"port {port}: the packet didn't come"
            failures.append(Difference(wanted.line, message, expected=wanted.pattern))
        elif found is not None:
            message = f"port {port}: the packet of this line made another leave, which no line expects"
            failures.append(Difference(found.line, message, got=found.frame))
        at, place = at + (wanted is not None), place + (found is not None)
    return failures


def _fits(expected: Sequence[Expect], at: int, sent: Sequence[Sent], place: int) -> bool:
    in_both = at < len(expected) and place < len(sent)
    return in_both and first_difference(expected[at], sent[place].frame) is None


def _differs(port: int, wanted: Expect, found: Sent, byte: int | None) -> Difference:
    pattern, digits = wanted.pattern or "", found.frame.hex()
    place = (byte or 0) * 2
    if place >= len(digits):
        wrong = f"it ends after {len(found.frame)} bytes, expected {len(pattern) / 2:g}"
    elif place >= len(pattern):
        wrong = f"it has {len(found.frame)} bytes, expected {len(pattern) / 2:g}"
    else:
        wrong = f"byte {byte} is {digits[place : place + 2]}, expected {pattern[place : place + 2]}"
    message = f"port {port}: {wrong} (sent because of line {found.line})"
    return Difference(wanted.line, message, wanted.pattern, found.frame, byte, wanted.whole)


def rows(difference: Difference) -> list[str]:
    """Both packets in rows of sixteen bytes with offsets, `^` below differences; equal rows only once."""
    expected, got = difference.expected, None if difference.got is None else difference.got.hex()
    if expected is None or got is None:
        label = "got" if expected is None else "expected"
        return [f"{label:>8} {_row(start, got or expected or '')}" for start in _starts(got or expected or "")]
    lines = []
    for start in _starts(max(expected, got, key=len)):
        marks = _marks(expected[start : start + _ROW_DIGITS], got[start : start + _ROW_DIGITS], difference.whole)
        if marks.strip():
            lines += [f"expected {_row(start, expected)}", f"     got {_row(start, got)}", f"{'':>15}{marks}"]
        else:
            lines.append(f"    both {_row(start, got)}")
    return lines


def _starts(digits: str) -> range:
    return range(0, len(digits), _ROW_DIGITS)


def _row(start: int, digits: str) -> str:
    return f"{start // 2:04x}  {_spaced(digits[start : start + _ROW_DIGITS])}"


def _marks(wanted: str, found: str, whole: bool) -> str:
    length = max(len(wanted), len(found)) if whole else len(wanted)
    pairs = zip(wanted.ljust(length), found.ljust(length), strict=False)
    return _spaced("".join(" " if a in ("*", b) else "^" for a, b in pairs)).rstrip()


def _spaced(digits: str) -> str:
    return " ".join(digits[place : place + 2] for place in range(0, len(digits), 2))
