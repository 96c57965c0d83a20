"""IPv4 options that ask a router for something: source routes and record routes (RFC 791, RFC 1812 section 5.2.4.2)."""

from __future__ import annotations

_END, _NOP, _RECORD, _LOOSE, _STRICT = 0, 1, 7, 131, 137


class BadOptionError(Exception):
    """Options that can't be; `at` is the octet of the header that is wrong."""

    def __init__(self, at: int) -> None:
        super().__init__(f"octet {at}")
        self.at = at


def found(datagram: bytes) -> dict[int, int]:
    """Find where each option begins, by its type.

    Raises:
        BadOptionError: One has no room, or a route option has a pointer that can't be.
    """
    end, at = 4 * (datagram[0] & 15), 20
    places: dict[int, int] = {}
    while at < end and datagram[at] != _END:
        if datagram[at] == _NOP:
            at += 1
            continue
        if at + 2 > end or datagram[at + 1] < 2 or at + datagram[at + 1] > end:
            raise BadOptionError(min(at + 1, end - 1))
        if datagram[at] in (_RECORD, _LOOSE, _STRICT) and (datagram[at + 1] < 3 or datagram[at + 2] < 4):
            raise BadOptionError(at + 2)
        places.setdefault(datagram[at], at)
        at += datagram[at + 1]
    return places


def next_stop(datagram: bytes) -> tuple[bytes, int, bool] | None:
    """Give the next address of a source route, where it stands, and whether it must be the next hop itself."""
    places = found(datagram)
    for kind in (_LOOSE, _STRICT):
        at = places.get(kind)
        if at is not None and datagram[at + 2] + 3 <= datagram[at + 1]:
            here = at + datagram[at + 2] - 1
            return datagram[here : here + 4], at, kind == _STRICT
    return None


def recorded(datagram: bytes, at: int, address: bytes) -> bytes:
    """Write this address at the pointer of a route option, and move the pointer behind it."""
    pointer = datagram[at + 2]
    here = at + pointer - 1
    moved = datagram[: at + 2] + bytes((pointer + 4,)) + datagram[at + 3 :]
    return moved[:here] + address + moved[here + 4 :]


def record_route(datagram: bytes, address: bytes) -> bytes:
    """Write this address into the record route, where there is one that has room."""
    at = found(datagram).get(_RECORD)
    if at is None or datagram[at + 2] + 3 > datagram[at + 1]:
        return datagram
    return recorded(datagram, at, address)


def returned(datagram: bytes, address: bytes) -> tuple[bytes, bytes]:
    """Find where an answer goes first, and its options (RFC 1812 section 4.3.3.6).

    A record route comes back with the answering address in it; a source route that was followed is gone back.
    """
    to, options = datagram[12:16], b""
    for kind, at in found(datagram).items():
        option = datagram[at : at + datagram[at + 1]]
        if kind == _RECORD:
            mine = record_route(datagram, address)
            options += mine[at : at + len(option)]
        elif kind in (_LOOSE, _STRICT):
            behind = [option[each : each + 4] for each in range(3, min(option[2] - 1, len(option) - 3), 4)]
            # The last stops may have been the answering router's own.
            while behind and behind[-1] == address:
                behind.pop()
            if behind:
                *stops, to = [datagram[12:16], *behind]
                options += bytes((kind, 3 + 4 * len(stops), 4)) + b"".join(reversed(stops))
    return to, options + bytes(-len(options) % 4)
