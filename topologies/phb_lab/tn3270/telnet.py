"""Telnet as TN3270E uses it: octets in, commands and records out; the server's half of the negotiation.

RFC 854 (commands), RFC 885 (end of record), RFC 2355 (TN3270E). Numbers are those of the RFCs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

IAC, DONT, DO, WONT, WILL, SB, SE, EOR = 255, 254, 253, 252, 251, 250, 240, 239
BINARY, TERMINAL_TYPE, END_OF_RECORD, TN3270E = 0, 24, 25, 40

# RFC 2355, section 4: subnegotiation.
ASSOCIATE, CONNECT, DEVICE_TYPE, FUNCTIONS, IS, REASON, REJECT, REQUEST, SEND = range(9)
# RFC 2355, section 7.2: reason of a rejected device type.
INV_DEVICE_TYPE = 4

# RFC 2355, section 8.1.1: data type of the header.
DATA_3270 = 0

_HEADER_BYTES = 5


@dataclass(frozen=True)
class Command:
    """DO, DONT, WILL or WONT with its option."""

    verb: int
    option: int


@dataclass(frozen=True)
class Subnegotiation:
    """The octets between SB and SE."""

    option: int
    data: bytes


@dataclass(frozen=True)
class Record:
    """The octets before IAC EOR."""

    data: bytes


Event = Command | Subnegotiation | Record


class _State(Enum):
    DATA = 0
    COMMAND = 1
    OPTION = 2
    SUBNEGOTIATION = 3
    SUBNEGOTIATION_COMMAND = 4


class Decoder:
    """Takes octets as they come, and gives events when they are whole."""

    def __init__(self) -> None:
        self._state = _State.DATA
        self._verb = 0
        self._record = bytearray()
        self._inside = bytearray()

    def feed(self, data: bytes) -> Iterator[Event]:
        """Take octets."""
        for octet in data:
            event = self._take(octet)
            if event is not None:
                yield event

    def _take(self, octet: int) -> Event | None:
        if self._state is _State.DATA:
            if octet == IAC:
                self._state = _State.COMMAND
            else:
                self._record.append(octet)
        elif self._state is _State.COMMAND:
            return self._command(octet)
        elif self._state is _State.OPTION:
            self._state = _State.DATA
            return Command(self._verb, octet)
        elif self._state is _State.SUBNEGOTIATION:
            if octet == IAC:
                self._state = _State.SUBNEGOTIATION_COMMAND
            else:
                self._inside.append(octet)
        elif octet == SE:
            self._state = _State.DATA
            option, data = self._inside[:1], bytes(self._inside[1:])
            self._inside.clear()
            return Subnegotiation(option[0], data) if option else None
        else:
            self._state = _State.SUBNEGOTIATION
            self._inside.append(octet)
        return None

    def _command(self, octet: int) -> Event | None:
        self._state = _State.DATA
        if octet == IAC:
            self._record.append(IAC)
        elif octet in (DO, DONT, WILL, WONT):
            self._state, self._verb = _State.OPTION, octet
        elif octet == SB:
            self._state = _State.SUBNEGOTIATION
        elif octet == EOR:
            record = Record(bytes(self._record))
            self._record.clear()
            return record
        return None  # NOP, AYT and the like ask for nothing here


def record(data: bytes) -> bytes:
    """A record for the wire: IAC doubled, and IAC EOR."""
    return data.replace(bytes([IAC]), bytes([IAC, IAC])) + bytes([IAC, EOR])


def header(data_type: int, response_flag: int = 0, sequence: int = 0) -> bytes:
    """The five octets before each record's data (RFC 2355, section 8.1)."""
    return bytes([data_type, 0, response_flag]) + sequence.to_bytes(2, "big")


def body(received: bytes) -> tuple[int, bytes]:
    """Data type and data of a record that has a header.

    Raises:
        ValueError: it is too short to have one.
    """
    if len(received) < _HEADER_BYTES:
        raise ValueError(f"a record of {len(received)} octets, expected at least {_HEADER_BYTES}")
    return received[0], received[_HEADER_BYTES:]


@dataclass
class Negotiation:
    """The server's half of RFC 2355, sections 7.1 and 7.2; basic functions only.

    ``lu_name`` is the client's logical unit. ``ended``: the client doesn't speak TN3270E, and the server nothing else.
    """

    lu_name: bytes
    device_type: bytes = field(default=b"", init=False)
    done: bool = field(default=False, init=False)
    ended: bool = field(default=False, init=False)

    def begin(self) -> bytes:
        """Give the server's first octets."""
        return bytes([IAC, DO, TN3270E])

    def answer(self, event: Command | Subnegotiation) -> bytes:
        """Answer an event."""
        if isinstance(event, Subnegotiation):
            return self._subnegotiate(event.data) if event.option == TN3270E else b""
        if event == Command(WILL, TN3270E):
            return _subnegotiation(bytes([SEND, DEVICE_TYPE]))
        if event == Command(WONT, TN3270E):
            self.ended = True
            return b""
        # RFC 854: what isn't wanted is refused, and refusals need no answer.
        refusals = {WILL: DONT, DO: WONT}
        return bytes([IAC, refusals[event.verb], event.option]) if event.verb in refusals else b""

    def _subnegotiate(self, data: bytes) -> bytes:
        if data[:2] == bytes([DEVICE_TYPE, REQUEST]):
            asked, _, _ = data[2:].partition(bytes([CONNECT]))
            if not asked.startswith(b"IBM-327"):
                return _subnegotiation(bytes([DEVICE_TYPE, REJECT, REASON, INV_DEVICE_TYPE]))
            self.device_type = asked
            return _subnegotiation(bytes([DEVICE_TYPE, IS]) + asked + bytes([CONNECT]) + self.lu_name)
        if data[:2] == bytes([FUNCTIONS, REQUEST]):
            if len(data) == len((FUNCTIONS, REQUEST)):
                self.done = True
                return _subnegotiation(bytes([FUNCTIONS, IS]))
            return _subnegotiation(bytes([FUNCTIONS, REQUEST]))  # none of those
        if data[:2] == bytes([FUNCTIONS, IS]):
            self.done = True
        return b""


def _subnegotiation(data: bytes) -> bytes:
    return bytes([IAC, SB, TN3270E]) + data + bytes([IAC, SE])
