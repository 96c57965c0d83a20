"""StreamChannel's side of one client: what waits to be sent, and how the stream ends."""

import queue
from collections.abc import Iterator

from finsy.proto import p4r

from phb_switch.arbitration import Client
from phb_switch.authorization import Permit
from phb_switch.errors import StatusError

_WAITING = 4096
"""Packets, digests and the like that wait for a slow client. What comes on top is dropped, as the specification allows:
packets must not fill the memory."""


class Stream:
    """One StreamChannel. Any thread may send; the one that serves the call takes the messages."""

    def __init__(self, permit: Permit) -> None:
        self.permit = permit
        self.client = Client(self._put)
        self.dropped = 0
        self._queue: queue.SimpleQueue[p4r.StreamMessageResponse | bytes | StatusError | None] = queue.SimpleQueue()

    def _put(self, response: p4r.StreamMessageResponse) -> None:
        self._queue.put(response)

    def send(self, response: p4r.StreamMessageResponse | bytes) -> None:
        """Sends a message, serialized or not, unless too many wait already."""
        if self._queue.qsize() < _WAITING:
            self._queue.put(response)
        else:
            self.dropped += 1

    def end(self, error: StatusError | None = None) -> None:
        """Ends the stream, with a status other than OK if there is an `error`."""
        self._queue.put(error)

    def messages(self) -> Iterator[bytes]:
        """What is to be sent, until the end.

        Raises:
            StatusError: the stream ends with this status.

        """
        while (message := self._queue.get()) is not None:
            if isinstance(message, StatusError):
                raise message
            yield message if isinstance(message, bytes) else message.SerializeToString()
