"""Captures what arrives at an interface: `python -m phb_lab.emulation.capture INTERFACE FILE`, and merges captures.

Frames that a port of the lab sends pass no tap of its own interface (the switch and the adapters bypass it), so they
are captured where they arrive, at the other end of the veth pair.
"""

import select
import socket
import struct
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from phb_lab.emulation.sockets import arrival_ns, stamp_arrivals

READY = "ready"

_SECOND = 1_000_000_000
# pcap with nanoseconds, little-endian, whole frames, Ethernet.
_HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 1)
_RECORD = struct.Struct("<IIII")
_ETH_P_ALL = 0x0003
_PACKET_OUTGOING = 4
_SO_RCVBUFFORCE = 33
_RECEIVE_BUFFER = 32 << 20


def merge(captures: Iterable[Path], into: Path, zero_realtime_ns: int) -> None:
    """Merge captures by time, counted from the start of the run; frames before it are left out."""
    records = sorted(record for capture in captures for record in _records(capture))
    with into.open("wb") as file:
        file.write(_HEADER)
        for at, frame in records:
            if at >= zero_realtime_ns:
                _write(file, at - zero_realtime_ns, frame)


def _records(capture: Path) -> Iterator[tuple[int, bytes]]:
    data = capture.read_bytes()
    place = len(_HEADER)
    while place + _RECORD.size <= len(data):
        seconds, nanoseconds, kept, _ = _RECORD.unpack_from(data, place)
        place += _RECORD.size
        yield seconds * _SECOND + nanoseconds, data[place : place + kept]
        place += kept


def _write(file: BinaryIO, at_ns: int, frame: bytes) -> None:
    file.write(_RECORD.pack(at_ns // _SECOND, at_ns % _SECOND, len(frame), len(frame)) + frame)


def _take(opened: socket.socket, file: BinaryIO) -> None:
    with suppress(BlockingIOError):
        while True:
            frame, ancillary, _, source = opened.recvmsg(65_535, 256)
            at_ns = arrival_ns(ancillary)
            if source[2] != _PACKET_OUTGOING and at_ns is not None:
                _write(file, at_ns, frame)


def main() -> None:
    """Capture until standard input ends."""
    interface, path = sys.argv[1:]
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.htons(_ETH_P_ALL))
    opened.bind((interface, 0))
    stamp_arrivals(opened)
    opened.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RECEIVE_BUFFER)
    with Path(path).open("wb", buffering=1 << 16) as file:
        file.write(_HEADER)
        print(READY, flush=True)
        ended = False
        while not ended:
            readable, _, _ = select.select([opened, sys.stdin], [], [])
            _take(opened, file)
            ended = sys.stdin in readable


if __name__ == "__main__":
    main()
