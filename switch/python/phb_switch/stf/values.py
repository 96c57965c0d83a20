"""Numbers and keys in STF."""

import ipaddress
import re
from dataclasses import dataclass

from phb_switch._native import Match
from phb_switch.stf.statements import StatementError

_DIGIT_BITS = {"0x": 4, "0o": 3, "0b": 1}
_ADDRESS_BITS = {4: 32, 6: 128}


def number(text: str, bits: int | None = None) -> int:
    """A number: decimal, 0x, 0o, 0b; for `bits` of their width also an IPv4, IPv6 or Ethernet address."""
    value = _address(text, bits)
    if value is None:
        try:
            value = int(text) if text.isdecimal() else int(text, 0)
        except ValueError:
            raise StatementError(f"found {text!r}, expected a number") from None
    if value < 0 or (bits is not None and value >> bits):
        raise StatementError(f"found {text}, expected a number from 0 to 2^{bits} - 1")
    return value


def to_bytes(value: int) -> bytes:
    """A number for the native module."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


@dataclass(frozen=True)
class KeyMatch:
    """A condition on one key of an entry; unlike native matches it can be compared."""

    kind: str
    value: bytes
    """Also the lower end of a range."""
    second: bytes | int | None = None
    """The mask, the upper end of a range, or a prefix's length."""

    def native(self) -> Match:
        """The same for the native module."""
        match self.kind, self.second:
            case "ternary", bytes(mask):
                return Match.ternary(self.value, mask)
            case "range", bytes(high):
                return Match.range(self.value, high)
            case "lpm", int(length):
                return Match.lpm(self.value, length)
            case "optional", _:
                return Match.optional(self.value)
            case _:
                return Match.exact(self.value)


def match_key(kind: str, bits: int, text: str | None) -> KeyMatch | None:
    """Reads a condition on a key; without `text` it is zero for an exact match, otherwise None, which is anything."""
    if kind == "exact":
        return KeyMatch("exact", to_bytes(number(text or "0", bits)))
    if text is None:
        return None
    if kind == "lpm":
        return _lpm(text, bits)
    if kind == "range":
        return _range(text, bits)
    if kind == "ternary":
        return _ternary(text, bits)
    return KeyMatch("optional", to_bytes(number(text, bits)))


def _address(text: str, bits: int | None) -> int | None:
    if bits == 48 and re.fullmatch(r"[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}", text):
        return int(re.sub("[:-]", "", text), 16)
    if bits in _ADDRESS_BITS.values() and re.search(r"[.:]", text):
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return None
        return int(address) if _ADDRESS_BITS[address.version] == bits else None
    return None


def _digits(text: str) -> tuple[int, int, int]:
    """Value, mask and width of digits with `*` for any; bits before the first are any, as in p4c's runner."""
    base = text[:2].lower()
    if base not in _DIGIT_BITS or not text[2:]:
        raise StatementError(f"found {text!r}, expected 0x, 0o or 0b and digits, * for any")
    digit_bits, value, mask = _DIGIT_BITS[base], 0, 0
    for digit in text[2:]:
        value, mask = value << digit_bits, mask << digit_bits
        if digit != "*":
            value |= number(f"{base}{digit}")
            mask |= (1 << digit_bits) - 1
    return value, mask, digit_bits * len(text[2:])


def _ternary(text: str, bits: int) -> KeyMatch | None:
    full = (1 << bits) - 1
    if "&&&" in text:
        value_text, _, mask_text = text.partition("&&&")
        value, mask = number(value_text, bits), number(mask_text, bits)
    elif text[:2].lower() in _DIGIT_BITS:
        value, mask, _ = _digits(text)
        # The first digit may be wider than the key.
        if value & ~full:
            raise StatementError(f"found {text}, expected a value of {bits} bits")
        mask &= full
    else:
        value, mask = number(text, bits), full
    return KeyMatch("ternary", to_bytes(value & mask), to_bytes(mask)) if mask else None


def _lpm(text: str, bits: int) -> KeyMatch | None:
    value_text, slash, length_text = text.partition("/")
    if slash:
        value, length = number(value_text, bits), number(length_text)
        if length > bits:
            raise StatementError(f"found {text}, expected a prefix of at most {bits} bits")
    elif "*" in text:
        value, mask, width = _digits(text)
        length = mask.bit_count() - max(width - bits, 0)
        if width < bits or mask != ((1 << mask.bit_count()) - 1) << (width - mask.bit_count()) or value >> bits:
            raise StatementError(f"found {text}, expected digits for {bits} bits, then only *")
    else:
        value, length = number(text, bits), bits
    prefix = ((1 << length) - 1) << (bits - length)
    return KeyMatch("lpm", to_bytes(value & prefix), length) if length else None


def _range(text: str, bits: int) -> KeyMatch:
    low_text, arrow, high_text = text.partition("->")
    if not arrow:
        low_text, arrow, high_text = text.partition("..")
    low, high = number(low_text, bits), number(high_text if arrow else low_text, bits)
    if low > high:
        raise StatementError(f"found {text}, expected the lower end first")
    return KeyMatch("range", to_bytes(low), to_bytes(high))
