"""A host's `ping` for tests: one echo request by the kernel's own stack; prints what comes back as a line of JSON.

python probe.py ADDRESS [--hops N] [--bytes N] [--whole] [--wait SECONDS]

The kernel judges what it receives: an answer is one whose checksums, addresses and quoted packet it believes.
"""

import argparse
import errno
import ipaddress
import json
import os
import select
import socket
import struct

IP_RECVERR, IPV6_RECVERR, IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, IPV6_DONTFRAG = 11, 25, 10, 23, 62
DO, DONT = 2, 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--hops", type=int, default=64)
    parser.add_argument("--bytes", type=int, default=56)
    parser.add_argument("--whole", action="store_true", help="never in fragments")
    parser.add_argument("--wait", type=float, default=5.0)
    asked = parser.parse_args()
    print(json.dumps(ping(asked.address, asked.hops, asked.bytes, asked.whole, asked.wait)))


def ping(address: str, hops: int, size: int, whole: bool, wait: float) -> dict[str, object]:
    version = ipaddress.ip_address(address).version
    opened = _socket(version, hops, whole)
    opened.connect((address, 0))
    kind, answer = ((8, 0), (128, 129))[version == 6]
    payload = os.urandom(size)
    message = struct.pack(">BBHHH", kind, 0, 0, os.getpid() & 0xFFFF, 1) + payload
    try:
        opened.send(message[:2] + _checksum(message).to_bytes(2, "big") + message[4:])
    except OSError as error:
        return {"refused": errno.errorcode[error.errno or 0]}
    while select.select([opened], [], [], wait)[0]:
        try:
            data, sender = opened.recvfrom(65535)
        except OSError:
            pass
        else:
            icmp = data[4 * (data[0] & 15) :] if version == 4 else data
            if icmp[0] == answer and icmp[4:] == message[4:]:
                return {"answer": sender[0], "hops": data[8] if version == 4 else None}
            continue
        if (error := _error(opened, version)) is not None:
            return error
    return {"nothing": wait}


def _socket(version: int, hops: int, whole: bool) -> socket.socket:
    discovery = DO if whole else DONT
    if version == 4:
        opened = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        opened.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
        opened.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, discovery)
        opened.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, hops)
        return opened
    opened = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    opened.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
    opened.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, discovery)
    opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, hops)
    return opened


def _error(opened: socket.socket, version: int) -> dict[str, object] | None:
    """What an ICMP error said: sock_extended_err of recverr(7), and the address of whoever sent it behind it."""
    try:
        _, ancillary, _, _ = opened.recvmsg(65535, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    for _, _, data in ancillary:
        number, origin, kind, code, _, info, _ = struct.unpack_from("=IBBBBII", data)
        if origin == 1:
            return {"local": errno.errorcode[number], "mtu": info}
        by = socket.inet_ntop(socket.AF_INET, data[20:24]) if version == 4 else None
        return {"error": [kind, code], "by": by or socket.inet_ntop(socket.AF_INET6, data[24:40]), "mtu": info}
    return None


def _checksum(data: bytes) -> int:
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


if __name__ == "__main__":
    main()
