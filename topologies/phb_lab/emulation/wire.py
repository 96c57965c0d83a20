"""A wire with a delay or losses, between `eth0` and `eth1`: `python -m phb_lab.emulation.wire DELAY_NS PPM SEED`.

The kernel's `netem` would do this for what the kernel sends; frames of switches and adapters bypass its queues. So the
wire is a node of its own: each frame leaves by the other end a delay after the kernel's time of its arrival, unless it
is drawn to be lost. It says at its end how many frames it has passed and lost.
"""

import heapq
import json
import select
import socket
import sys
import time
from contextlib import suppress
from random import Random

from phb_lab.emulation.sockets import arrival_ns, stamp_arrivals

READY = "ready"

_ETH_P_ALL = 0x0003
_PACKET_OUTGOING = 4
_SO_RCVBUFFORCE = 33
_RECEIVE_BUFFER = 32 << 20
_MILLION = 1_000_000
_SECOND = 1_000_000_000


class Wire:
    """Frames on their way, by the time at which they leave.

    Args:
        delay_ns: of both directions.
        loss_per_million: frames of a million that are lost, in each direction by itself.
        seed: of the losses.

    """

    def __init__(self, delay_ns: int, loss_per_million: int, seed: int) -> None:
        self._delay_ns = delay_ns
        self._loss = loss_per_million
        self._random = (Random(f"{seed}/0"), Random(f"{seed}/1"))
        self._waiting: list[tuple[int, int, int, bytes]] = []
        self._sequence = 0
        self.passed = 0
        self.lost = 0

    def take(self, at_ns: int, end: int, frame: bytes) -> None:
        """A frame arrived at an end."""
        if self._random[end].randrange(_MILLION) < self._loss:
            self.lost += 1
            return
        self._sequence += 1
        heapq.heappush(self._waiting, (at_ns + self._delay_ns, self._sequence, 1 - end, frame))

    def due_ns(self) -> int | None:
        """When the next frame leaves."""
        return self._waiting[0][0] if self._waiting else None

    def give(self, now_ns: int) -> tuple[int, bytes] | None:
        """A frame that leaves by now, and by which end."""
        if not self._waiting or self._waiting[0][0] > now_ns:
            return None
        _, _, end, frame = heapq.heappop(self._waiting)
        self.passed += 1
        return end, frame


def _open(interface: str) -> socket.socket:
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.htons(_ETH_P_ALL))
    opened.bind((interface, 0))
    stamp_arrivals(opened)
    opened.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RECEIVE_BUFFER)
    # Frames for any address: what arrives here is for somebody behind the other end.
    membership = (
        socket.if_nametoindex(interface).to_bytes(4, sys.byteorder) + (1).to_bytes(2, sys.byteorder) + bytes(10)
    )
    opened.setsockopt(263, 1, membership)  # SOL_PACKET, PACKET_ADD_MEMBERSHIP: PACKET_MR_PROMISC
    return opened


def main() -> None:
    """Pass frames until standard input ends."""
    delay_ns, loss_per_million, seed = (int(argument) for argument in sys.argv[1:])
    wire = Wire(delay_ns, loss_per_million, seed)
    ends = [_open("eth0"), _open("eth1")]
    print(READY, flush=True)
    ended = False
    while not ended:
        due = wire.due_ns()
        timeout = None if due is None else max(due - time.time_ns(), 0) / _SECOND
        readable, _, _ = select.select([*ends, sys.stdin], [], [], timeout)
        for number, end in enumerate(ends):
            if end in readable:
                with suppress(BlockingIOError):
                    while True:
                        frame, ancillary, _, source = end.recvmsg(65_535, 256)
                        if source[2] != _PACKET_OUTGOING:
                            wire.take(arrival_ns(ancillary) or time.time_ns(), number, frame)
        while (leaving := wire.give(time.time_ns())) is not None:
            number, frame = leaving
            with suppress(BlockingIOError):
                ends[number].send(frame)
        ended = sys.stdin in readable
    print(json.dumps({"passed": wire.passed, "lost": wire.lost}))


if __name__ == "__main__":
    main()
