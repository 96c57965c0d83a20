"""Digests: messages of the program, bundled into lists, sent once, and not again until acknowledged.

Specification, "DigestEntry". Nobody is told about a message that clients have not enabled, or while nobody is primary.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from finsy.proto import p4r

from phb_switch._native import Configuration
from phb_switch.errors import invalid

_LIST = 4096
"""Messages of a list where the client sets no limit."""
_UNACKNOWLEDGED = 1 << 16
"""Messages that are remembered until they are acknowledged; beyond these the oldest are forgotten."""

Message = tuple[str, list[bytes]]
"""The name of the digest, and the values of its fields."""


@dataclass(slots=True)
class _Kind:
    """One digest of the p4info: what waits to be sent, and what has been sent but not acknowledged."""

    waiting: dict[bytes, None] = field(default_factory=dict)
    due_ns: int = 0
    sent: dict[bytes, int] = field(default_factory=dict)
    """Message to the list that it was sent in."""
    lists: deque[tuple[int, int, list[bytes]]] = field(default_factory=deque)
    """Time until which it counts as sent, id, and messages of each list, oldest first."""

    def forget(self, messages: Iterable[bytes], list_id: int) -> None:
        for message in messages:
            if self.sent.get(message) == list_id:
                del self.sent[message]

    def expire(self, now_ns: int) -> None:
        while self.lists and (self.lists[0][0] <= now_ns or len(self.sent) > _UNACKNOWLEDGED):
            _, list_id, messages = self.lists.popleft()
            self.forget(messages, list_id)


class Digests:
    """The digests of one configuration. Not thread-safe."""

    def __init__(self, configuration: Configuration, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self.configuration = configuration
        self._clock = clock
        self._kinds: dict[str, _Kind] = {}
        self._last_list = 0

    def add(self, messages: Iterable[Message]) -> list[p4r.DigestList]:
        """Takes messages of the program; gives the lists that are to be sent now."""
        lists: list[p4r.DigestList] = []
        now_ns = self._clock()
        for name, values in messages:
            config = self.configuration.digest(name)
            if config is None:
                continue
            _, max_timeout_ns, max_list_size, _ = config
            data = self.configuration.digest_data(name, values)
            kind = self._kinds.setdefault(name, _Kind())
            kind.expire(now_ns)
            if data is None or data in kind.sent or data in kind.waiting:
                continue
            if not kind.waiting:
                kind.due_ns = now_ns + max_timeout_ns
            kind.waiting[data] = None
            if len(kind.waiting) >= (max_list_size or _LIST) or not max_timeout_ns:
                lists.append(self._list(kind, config, now_ns))
        return lists

    def due(self) -> list[p4r.DigestList]:
        """The lists that have waited long enough."""
        now_ns = self._clock()
        lists: list[p4r.DigestList] = []
        for name, kind in self._kinds.items():
            if kind.waiting and kind.due_ns <= now_ns:
                config = self.configuration.digest(name)
                if config is None:
                    kind.waiting.clear()  # disabled meanwhile
                else:
                    lists.append(self._list(kind, config, now_ns))
        return lists

    def wait_ns(self, most_ns: int) -> int:
        """How long nothing is due, but at most `most_ns`."""
        now_ns = self._clock()
        return min([most_ns, *(max(0, kind.due_ns - now_ns) for kind in self._kinds.values() if kind.waiting)])

    def acknowledge(self, message: p4r.DigestListAck) -> None:
        """Forgets a list that a client has received.

        Raises:
            StatusError: INVALID_ARGUMENT, if the p4info has no such digest.

        """
        if not self.configuration.has_digest(message.digest_id):
            raise invalid(f"the p4info has no digest with id {message.digest_id}")
        for name, kind in self._kinds.items():
            config = self.configuration.digest(name)
            if config is not None and config[0] == message.digest_id:
                for each in kind.lists:
                    if each[1] == message.list_id:
                        kind.forget(each[2], message.list_id)
                        kind.lists.remove(each)
                        break

    def _list(self, kind: _Kind, config: tuple[int, int, int, int], now_ns: int) -> p4r.DigestList:
        digest_id, _, _, ack_timeout_ns = config
        self._last_list += 1
        message = p4r.DigestList(digest_id=digest_id, list_id=self._last_list, timestamp=time.time_ns())
        waiting = list(kind.waiting)
        kind.waiting.clear()
        for data in waiting:
            message.data.add().ParseFromString(data)
        if ack_timeout_ns:
            kind.sent.update(dict.fromkeys(waiting, self._last_list))
            kind.lists.append((now_ns + ack_timeout_ns, self._last_list, waiting))
            kind.expire(now_ns)
        return message
