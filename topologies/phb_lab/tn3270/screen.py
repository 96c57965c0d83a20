"""The 3270 data stream, as far as a screen with one field to fill in needs it.

IBM GA23-0059, 3270 Data Stream Programmer's Reference: commands, orders, attention identifiers, 12-bit addresses.
"""

from dataclasses import dataclass

ERASE_WRITE = 0xF5
# Write control character: reset, restore the keyboard, reset modified-data tags.
_WCC = 0xC3
START_FIELD, SET_BUFFER_ADDRESS, INSERT_CURSOR = 0x1D, 0x11, 0x13
_PROTECTED = 0x60
_UNPROTECTED = 0x40
ENTER = 0x7D

ROWS, COLUMNS = 24, 80
CODE_PAGE = "cp037"

# Six bits of an address as a character that a line can carry (GA23-0059, table of I/O codes).
_SIX_BITS = bytes.fromhex(
    "40c1c2c3c4c5c6c7c8c94a4b4c4d4e4f50d1d2d3d4d5d6d7d8d95a5b5c5d5e5f"
    "6061e2e3e4e5e6e7e8e96a6b6c6d6e6ff0f1f2f3f4f5f6f7f8f97a7b7c7d7e7f"
)

_INPUT_ROW = ROWS - 2
_INPUT_COLUMN = 10
INPUT_BYTES = COLUMNS - _INPUT_COLUMN - 1


def encode_address(address: int) -> bytes:
    """A buffer address in 12-bit coding."""
    return bytes([_SIX_BITS[address >> 6], _SIX_BITS[address & 63]])


def decode_address(coded: bytes) -> int:
    """A buffer address, in 12- or 14-bit coding."""
    high, low = coded
    if high & 0xC0 == 0:
        return (high & 63) << 8 | low
    return (high & 63) << 6 | low & 63


def write(text: str, octets: int | None = None) -> bytes:
    """A screen: text from the top, and a field to fill in near the bottom, with the cursor in it.

    Text without room is left out; the data stream is filled with dots up to ``octets``.

    Raises:
        ValueError: the field alone is longer, or the screen has no room for so much.
    """
    where = _INPUT_ROW * COLUMNS + _INPUT_COLUMN
    start = bytes([ERASE_WRITE, _WCC, SET_BUFFER_ADDRESS]) + encode_address(0) + bytes([START_FIELD, _PROTECTED])
    end = (
        bytes([SET_BUFFER_ADDRESS])
        + encode_address(where - 1)
        + bytes([START_FIELD, _UNPROTECTED, INSERT_CURSOR, SET_BUFFER_ADDRESS])
        + encode_address(where + INPUT_BYTES)
        + bytes([START_FIELD, _PROTECTED])
    )
    room = where - 2
    if octets is None:
        return start + text[:room].encode(CODE_PAGE, "replace") + end
    length = octets - len(start) - len(end)
    if not 0 <= length <= room:
        raise ValueError(f"a screen of {octets} octets: expected {len(start + end)} to {len(start + end) + room}")
    return start + text.ljust(length, ".")[:length].encode(CODE_PAGE, "replace") + end


@dataclass(frozen=True)
class Entered:
    """A terminal's input: the key, the cursor's place, and the modified fields by their addresses."""

    attention: int
    cursor: int
    fields: dict[int, str]


def read(data: bytes) -> Entered:
    """Read an inbound data stream.

    Raises:
        ValueError: it is none.
    """
    if len(data) < 3:
        if len(data) == 1:
            return Entered(data[0], 0, {})  # Clear and the PA keys send nothing else
        raise ValueError(f"an inbound data stream of {len(data)} octets, expected 1, or 3 and more")
    fields: dict[int, str] = {}
    for part in data[3:].split(bytes([SET_BUFFER_ADDRESS]))[1:]:
        if len(part) < 2:
            raise ValueError("an inbound field without an address")
        fields[decode_address(part[:2])] = part[2:].decode(CODE_PAGE)
    return Entered(data[0], decode_address(data[1:3]), fields)
