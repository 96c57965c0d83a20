"""A client of Thrift's binary protocol by hand: calls of bmv2's runtime services, by method and field numbers.

Values are Python's: an `int` is an i32 and :class:`Long` an i64, text and bytes are strings, a `dict` is a struct by
field number, a `list` a list of whatever its first element is.
"""

import socket
import struct
from typing import Any

BOOL, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, LIST = 2, 4, 6, 8, 10, 11, 12, 13, 15
CALL, REPLY, EXCEPTION = 1, 2, 3


class Long(int):
    """A number of 64 bits."""


class RefusedError(Exception):
    """The exception that a method declares, with its code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class NotCarriedOutError(Exception):
    """What a server says of a method for which none is declared."""


def _kind(value: Any) -> int:
    kinds = {bool: BOOL, float: DOUBLE, int: I32, Long: I64, str: STRING, bytes: STRING, dict: STRUCT, list: LIST}
    return kinds[type(value)]


def encoded(value: Any) -> bytes:
    """Return a value in Thrift's bytes."""
    match value:
        case bool():
            return bytes([value])
        case float():
            return struct.pack(">d", value)
        case Long():
            return struct.pack(">q", value)
        case int():
            return struct.pack(">i", value)
        case str():
            return encoded(value.encode())
        case bytes():
            return struct.pack(">i", len(value)) + value
        case list():
            kind = _kind(value[0]) if value else STRUCT
            return struct.pack(">bi", kind, len(value)) + b"".join(map(encoded, value))
        case dict():
            fields = [struct.pack(">bh", _kind(each), number) + encoded(each) for number, each in value.items()]
            return b"".join(fields) + b"\0"
    raise TypeError(value)


def message(name: str, arguments: dict[int, Any]) -> bytes:
    """Return a call in Thrift's bytes."""
    return struct.pack(">I", 0x80010000 | CALL) + encoded(name) + encoded(7) + encoded(arguments)


class ThriftClient:
    """A connection to the runtime services of a switch."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)

    def close(self) -> None:
        """End the connection."""
        self.socket.close()

    def call(self, method: str, *arguments: Any, service: str = "standard") -> Any:
        """Call a method with its arguments from field 1 on.

        Raises:
            Refused: with the code of the exception that the method declares
            NotCarriedOut: with the server's words
        """
        name = f"{service}:{method}"
        self.socket.sendall(message(name, dict(enumerate(arguments, start=1))))
        (header,) = self._unpack(">I")
        kind, answered = header & 0xFF, self._string()
        assert (answered.decode(), self._unpack(">i")) == (method, (7,))
        body = self._value(STRUCT)
        if kind == EXCEPTION:
            raise NotCarriedOutError(body[1].decode())
        if 1 in body:
            raise RefusedError(body[1][1])
        return body.get(0)

    def table(self, method: str, *arguments: Any) -> Any:
        """Call a method whose first argument is a context, of which there is one."""
        return self.call(method, 0, *arguments)

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def _unpack(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self._exactly(struct.calcsize(form)))

    def _string(self) -> bytes:
        return self._exactly(self._unpack(">i")[0])

    def _value(self, kind: int) -> Any:
        forms = {BOOL: ">?", DOUBLE: ">d", I16: ">h", I32: ">i", I64: ">q"}
        if kind in forms:
            return self._unpack(forms[kind])[0]
        if kind == STRING:
            return self._string()
        if kind == LIST:
            element, count = self._unpack(">bi")
            return [self._value(element) for _ in range(count)]
        if kind == MAP:
            key, value, count = self._unpack(">bbi")
            return {self._value(key): self._value(value) for _ in range(count)}
        fields = {}
        while field := self._unpack(">b")[0]:
            number = self._unpack(">h")[0]
            fields[number] = self._value(field)
        return fields


def exact(key: bytes) -> dict[int, Any]:
    """Return a match of a whole value."""
    return {1: 0, 2: {1: key}}


def lpm(key: bytes, length: int) -> dict[int, Any]:
    """Return a match of a prefix."""
    return {1: 1, 3: {1: key, 2: length}}


def ternary(key: bytes, mask: bytes) -> dict[int, Any]:
    """Return a match of a value under a mask."""
    return {1: 2, 4: {1: key, 2: mask}}
