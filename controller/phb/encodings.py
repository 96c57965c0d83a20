"""Encodings of texts: UTF-8, or what editors and hosts made of it.

A byte-order mark says UTF-8 or UTF-16, as editors on Windows save them. Older router configurations have descriptions
in Windows-1252, the superset of ISO 8859-1 that terminals write. z/OS keeps text in EBCDIC (code page 1047), which a
transfer in binary leaves as it is.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final

from phb.errors import InputError
from phb.origin import Origin

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WINDOWS: Final = "cp1252"
_LOOK: Final = 4096
"""How much of a file shows what it is."""
# Letters, digits and the blank of EBCDIC; in other encodings they are accented letters and the at sign.
_EBCDIC: Final = frozenset(
    (0x40, *range(0x81, 0x8A), *range(0x91, 0x9A), *range(0xA2, 0xAA), *range(0xC1, 0xCA), *range(0xD1, 0xDA))
) | frozenset((*range(0xE2, 0xEA), *range(0xF0, 0xFA)))


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, and how it was read.

    Attributes:
        text: Without a byte-order mark; every kind of line end, of EBCDIC's too, is one line feed.
        strange_line: The first line that isn't UTF-8 and was read as Windows-1252; 0 where there is none.
        error: What to tell a user who may not write Windows-1252; None where there is nothing to tell.
    """

    text: str
    strange_line: int = 0
    error: InputError | None = None


def decode(content: bytes, name: str, error: type[InputError] = InputError) -> Decoded:
    """Decode a file's octets; errors are of the kind `error` and name the file."""
    mark, encoding = next((each for each in _MARKS if content.startswith(each[0])), (b"", "utf-8"))
    octets = content[len(mark) :]
    try:
        text = _lines(octets.decode(encoding))
    except UnicodeDecodeError as problem:
        offset = len(mark) + problem.start
    else:
        if 4 * text[:_LOOK].count("\0") > len(text[:_LOOK]):
            raise error(Origin(name), "octets of zero between the letters", "UTF-8, or UTF-16 with a byte-order mark")
        return Decoded(text)
    if encoding != "utf-8":
        raise error(Origin(name), f"octets that aren't UTF-16 at offset {offset}", "the text that its mark announces")
    if b"@" in octets and 2 * sum(octet in _EBCDIC for octet in octets[:_LOOK]) > len(octets[:_LOOK]):
        raise error(Origin(name), "text in EBCDIC", "UTF-8: transfer it as text, or iconv -f IBM-1047 -t UTF-8")
    strange_line = _lines(octets[: offset - len(mark)].decode(_WINDOWS, "replace")).count("\n") + 1
    refusal = error(Origin(name, strange_line), f"a byte that isn't UTF-8 at offset {offset}", "UTF-8 text")
    try:
        text = _lines(octets.decode(_WINDOWS))
    except UnicodeDecodeError:
        raise refusal from None
    if b"\0" in octets:
        raise refusal
    return Decoded(text, strange_line, refusal)


def _lines(text: str) -> str:
    # What iconv makes of EBCDIC ends its lines with NEL.
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x85", "\n")
