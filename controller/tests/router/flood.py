"""Many packets at once, from inside a host: python flood.py hops|echo|scan COUNT."""

import json
import os
import select
import socket
import struct
import sys
import time

IP_TTL = 2
QUIET_S = 4.0
"""More than what a next hop is asked for, so that the error about it still counts."""


def checksum(data: bytes) -> int:
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def main() -> None:
    what, count = sys.argv[1], int(sys.argv[2])
    opened = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    opened.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
    if what == "hops":
        opened.setsockopt(socket.IPPROTO_IP, IP_TTL, 1)
    number, wanted = os.getpid() & 0xFFFF, {"hops": 11, "scan": 3}.get(what, 0)
    answers, began, last = 0, time.monotonic(), 0.0

    def receive(wait: float) -> bool:
        nonlocal answers, last
        if not select.select([opened], [], [], wait)[0]:
            return False
        data = opened.recv(65535)
        if data[20] == wanted:
            answers, last = answers + 1, time.monotonic()
        return True

    for sequence in range(count):
        message = struct.pack(">BBHHH", 8, 0, 0, number, sequence & 0xFFFF) + bytes(48)
        message = message[:2] + checksum(message).to_bytes(2, "big") + message[4:]
        address = {"hops": "10.77.0.1", "scan": f"10.3.{1 + sequence // 250 % 250}.{sequence % 250}"}.get(
            what, "10.0.1.254"
        )
        opened.sendto(message, (address, 0))
        while receive(0):
            pass
    while receive(QUIET_S):
        pass
    print(json.dumps({"answers": answers, "seconds": last - began}))


main()
