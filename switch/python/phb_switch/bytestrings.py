"""Numbers as P4Runtime writes them: big-endian, as short as possible (specification, "Bytestrings").

The general section answers a string that does not fit with OUT_OF_RANGE; the sections on match fields, action
parameters, registers and packet metadata all say INVALID_ARGUMENT. The special rule is the one followed here.
"""

from phb_switch.errors import invalid


def canonical(value: bytes) -> bytes:
    """`value` without needless leading zeros; zero is one zero byte."""
    return value.lstrip(b"\0") or b"\0"


def encode(number: int) -> bytes:
    """The canonical string of a number that is not negative."""
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def decode(value: bytes, bits: int, what: str) -> int:
    """The number in a received string, which may have leading zeros.

    Args:
        value: the string.
        bits: width of the field it is for.
        what: names the field in the error.

    Raises:
        StatusError: INVALID_ARGUMENT, if the string is empty or the number needs more than `bits` bits.

    """
    if not value:
        raise invalid(f"{what}: the value is empty")
    number = int.from_bytes(value, "big")
    if number.bit_length() > bits:
        raise invalid(f"{what}: {number:#x} does not fit into {bits} bit")
    return number
