"""The connection with snmpd: what it asks is answered, what happens is told, and when it is gone it is waited for."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from phb.monitor.snmp.agentx import (
    HEADER_BYTES,
    Error,
    Header,
    MalformedError,
    Message,
    Oid,
    Payload,
    VarBind,
    message,
    open_payload,
    read_header,
    register_payload,
    response_payload,
    write_bindings,
)
from phb.monitor.snmp.tree import Tree

RETRY_S: Final = 1.0
"""Seconds between two attempts to reach a master."""
ANSWER_S: Final = 5
"""Seconds that we wait for a session, and snmpd for an answer of ours (`_SNMPD_WAITS_S`)."""
_SNMPD_WAITS_S: Final = 5
MOST_WAITING: Final = 256
"""Notifications kept while no master is there; the oldest go first."""
MOST_UNREAD: Final = 1 << 20
"""Bytes that snmpd may leave unread; then the session is given up."""
SHARE: Final = 0.3
"""Of the monitor's time, what answers may take when managers ask without end; then they wait."""
AT_ONCE_S: Final = 0.01
"""Seconds of answers between which nobody waits."""
MOST_PENDING: Final = 64
"""Sets between their test and their end; a master has one at a time."""
_MOST_REPETITIONS: Final = 100

Told = Callable[[str], None]


class SetError(Exception):
    """A set that can't be done: why, and the place of the binding at fault, from 0."""

    def __init__(self, error: Error, place: int) -> None:
        super().__init__(error.name)
        self.error = error
        self.place = place


class Prepared(Protocol):
    """A set that was tested and can be done."""

    def commit(self) -> None:
        """Do it."""

    def undo(self) -> None:
        """Undo what `commit` did."""


class Objects(Protocol):
    """What is asked for, by context; the empty one is the default."""

    def contexts(self) -> Iterable[str]:
        """Name the contexts that there are."""

    def subtrees(self, context: str) -> Sequence[Oid]:
        """Name what a context has objects below."""

    def tree(self, context: str) -> Tree | None:
        """Give the objects of a context."""

    def prepare(self, context: str, bindings: Sequence[VarBind]) -> Prepared:
        """Test a set.

        Raises:
            SetError: It can't be done.
        """


class Master:
    """A session with snmpd over a Unix socket, opened again and again; use `run` as a task.

    `tell` is called with a sentence when snmpd is away, is back, or refuses something.
    """

    def __init__(self, socket: Path, objects: Objects, tell: Told) -> None:
        self._socket = socket
        self._objects = objects
        self._tell = tell
        self._waiting: deque[bytes] = deque(maxlen=MOST_WAITING)
        self._left_out = 0
        self._writer: asyncio.StreamWriter | None = None
        self._session = 0
        self._packet = 0
        self._registered: set[str] = set()
        self._pending: dict[int, Prepared] = {}
        self._trouble = ""

    @property
    def connected(self) -> bool:
        """Whether snmpd has a session with us."""
        return self._writer is not None

    async def run(self) -> None:
        """Keep a session until cancelled."""
        while True:
            try:
                await self._hold()
            except (OSError, EOFError, MalformedError, TimeoutError) as error:
                self._say(f"SNMP: no session with snmpd at {self._socket}: {_words(error)}")
            finally:
                self._close()
            await asyncio.sleep(RETRY_S)

    def register(self) -> None:
        """Tell snmpd of contexts that it doesn't know yet."""
        if self._writer is None:
            return
        for context in self._objects.contexts():
            if context not in self._registered:
                self._registered.add(context)
                for subtree in self._objects.subtrees(context):
                    self._send(Message.REGISTER, register_payload(subtree), context)

    def unregister(self, context: str) -> None:
        """Tell snmpd that a context is no more."""
        if self._writer is not None and context in self._registered:
            self._registered.discard(context)
            for subtree in self._objects.subtrees(context):
                self._send(Message.UNREGISTER, register_payload(subtree), context)

    def notify(self, bindings: Sequence[VarBind]) -> None:
        """Have snmpd send a notification; it begins with snmpTrapOID.0. Without snmpd it waits, within bounds."""
        payload = write_bindings(bindings)
        if self._writer is not None:
            if self._writer.transport.get_write_buffer_size() <= MOST_UNREAD:
                self._send(Message.NOTIFY, payload)
                return
            self._writer.transport.abort()
            self._close()
        self._left_out += len(self._waiting) == MOST_WAITING
        self._waiting.append(payload)

    async def _hold(self) -> None:
        reader, writer = await asyncio.open_unix_connection(self._socket)
        try:
            writer.write(message(Message.OPEN, 0, 0, 0, open_payload(_SNMPD_WAITS_S, "phb monitor")))
            header, payload = await asyncio.wait_for(_receive(reader), ANSWER_S)
            _, error, _ = payload.numbers("I2H")
            if header.message is not Message.RESPONSE or error:
                raise MalformedError(f"it refuses a session (AgentX error {error})")
            self._session, self._writer = header.session, writer
            self._registered.clear()
            self._pending.clear()
            self.register()
            for waiting in self._waiting:
                self._send(Message.NOTIFY, waiting)
            self._waiting.clear()
            if self._trouble:
                lost = f"; {self._left_out} notifications were left out" if self._left_out else ""
                self._tell(f"SNMP: snmpd is back{lost}")
            self._trouble, self._left_out = "", 0
            clock, spent_s = asyncio.get_running_loop().time, 0.0
            while True:
                header, payload = await _receive(reader)
                began = clock()
                self._answer(header, payload)
                spent_s += clock() - began
                await writer.drain()
                if spent_s > AT_ONCE_S:
                    await asyncio.sleep(spent_s * (1 / SHARE - 1))
                    spent_s = 0.0
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _answer(self, header: Header, payload: Payload) -> None:
        kind = header.message
        if kind is Message.RESPONSE:
            _, error, _ = payload.numbers("I2H")
            if error:
                self._say(f"SNMP: snmpd refuses what was asked of it (AgentX error {error})")
            return
        if kind is Message.CLOSE:
            raise EOFError("it closed the session")
        if kind is Message.CLEANUP_SET:
            self._pending.pop(header.transaction, None)
            return
        context = payload.octets().decode("utf-8", "replace") if header.has_context else ""
        error, place, bindings = self._result(header, payload, context)
        answer = response_payload(error, place, bindings)
        assert self._writer is not None
        self._writer.write(message(Message.RESPONSE, header.session, header.transaction, header.packet, answer))

    def _result(self, header: Header, payload: Payload, context: str) -> tuple[Error, int, list[VarBind]]:
        kind = header.message
        try:
            if kind is Message.TEST_SET:
                if len(self._pending) >= MOST_PENDING:
                    return Error.RESOURCE_UNAVAILABLE, 1, []
                self._pending[header.transaction] = self._objects.prepare(context, payload.bindings())
                return Error.NONE, 0, []
            if kind is Message.COMMIT_SET:
                self._pending[header.transaction].commit()
                return Error.NONE, 0, []
            if kind is Message.UNDO_SET:
                self._pending.pop(header.transaction).undo()
                return Error.NONE, 0, []
            return Error.NONE, 0, self._found(kind, payload, context)
        except SetError as error:
            return error.error, error.place + 1, []
        except KeyError:
            return (Error.UNDO_FAILED if kind is Message.UNDO_SET else Error.COMMIT_FAILED), 1, []
        except MalformedError:
            return Error.PARSE, 0, []

    def _found(self, kind: Message, payload: Payload, context: str) -> list[VarBind]:
        tree = self._objects.tree(context) or Tree(())
        if kind is Message.GET:
            return [tree.get(wanted.start) for wanted in payload.ranges()]
        if kind is Message.GET_NEXT:
            return [tree.following(wanted) for wanted in payload.ranges()]
        if kind is not Message.GET_BULK:
            raise MalformedError(f"message {kind}")
        once, repetitions = payload.numbers("2H")
        ranges = payload.ranges()
        found = [tree.following(wanted) for wanted in ranges[:once]]
        repeated = ranges[once:]
        for _ in range(min(repetitions, _MOST_REPETITIONS) if repeated else 0):
            row = [tree.following(wanted) for wanted in repeated]
            found += row
            repeated = [
                wanted._replace(start=each.name, include=False) for wanted, each in zip(repeated, row, strict=True)
            ]
        return found

    def _send(self, kind: Message, payload: bytes, context: str = "") -> None:
        assert self._writer is not None
        self._packet = (self._packet + 1) % (1 << 32)
        self._writer.write(message(kind, self._session, 0, self._packet, payload, context.encode()))

    def _close(self) -> None:
        self._writer = None

    def _say(self, trouble: str) -> None:
        """Tell of a trouble once, however often it is met."""
        if trouble != self._trouble:
            self._trouble = trouble
            self._tell(trouble)


async def _receive(reader: asyncio.StreamReader) -> tuple[Header, Payload]:
    header = read_header(await reader.readexactly(HEADER_BYTES))
    return header, Payload(await reader.readexactly(header.length), header.order)


def _words(error: Exception) -> str:
    if isinstance(error, asyncio.IncompleteReadError):
        return "it closed the connection"
    if isinstance(error, TimeoutError):
        return f"no answer within {ANSWER_S} s"
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
