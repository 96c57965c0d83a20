"""A session on a socket: its packets go out at their times, and what comes is taken with the kernel's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from phb.stamp.session import Session
from phb.stamp.sockets import Address, DatagramSocket
from phb.stamp.timestamps import kernel_clock

_ROUND: Final = 64
"""Datagrams that are read before others of the process have their turn."""


@contextmanager
def opened(session: Session, family: int, address: Address) -> Iterator[Line]:
    """Have a socket for a session, whose replies are taken as they come."""
    datagrams = DatagramSocket(family, sending_times=True)
    loop = asyncio.get_running_loop()
    try:
        datagrams.mark(session.dscp << 2)
        if session.plan.source is not None:
            datagrams.socket.bind((session.plan.source, 0))
        datagrams.socket.connect(address)
        session.clock = kernel_clock()
        line = Line(session, datagrams)
        loop.add_reader(datagrams.socket, line.come)
        yield line
    finally:
        loop.remove_reader(datagrams.socket)
        datagrams.close()


class Line:
    """A session's socket: `arrived` is set when something came."""

    def __init__(self, session: Session, datagrams: DatagramSocket) -> None:
        self.arrived = asyncio.Event()
        self.session = session
        self._datagrams = datagrams

    def come(self) -> bool:
        """Take what has come; give whether there may be more."""
        for number, left in self._datagrams.sending_times():
            self.session.left(number, left)
        for _ in range(_ROUND):
            try:
                came = self._datagrams.receive()
            except OSError as error:
                self.session.trouble = error.strerror or str(error)
                return True
            if came is None:
                self.arrived.set()
                return False
            self.session.take(came, time.time_ns())
        self.arrived.set()
        return True

    async def send_at(self, at: float) -> float:
        """Send a packet at a time of the loop's clock, and give when the next one is due: never two at once."""
        loop, session = asyncio.get_running_loop(), self.session
        await asyncio.sleep(at - loop.time())
        try:
            self._datagrams.socket.send(session.request(time.time_ns()))
            session.handed_over()
        except ConnectionRefusedError as error:
            session.trouble = error.strerror
        except BlockingIOError:
            session.trouble = "the socket's buffer is full"
        return max(at + session.plan.interval_s, loop.time())
