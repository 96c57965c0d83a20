"""Capture files: pcap and pcapng, also compressed with gzip, read by scapy packet by packet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phb.errors import InputError
from phb.explain.arrival import Arrival
from phb.explain.headers import IPV4, IPV6
from phb.files import open_file
from phb.origin import Origin

_ETHERNET = 1
_RAW_IP = {12, 14, 101, 228, 229}  # https://www.tcpdump.org/linktypes.html; 12 and 14 are what BSDs call 101
_NO_MACS = bytes(12)
_SECOND = 1_000_000_000
_LONGEST = 1 << 18  # bytes of a packet; tcpdump's own limit


def read_capture(path: str | Path) -> Iterator[Arrival]:
    """Read the packets of a capture, with their times and, in pcapng, the names of their interfaces as ports.

    Raises:
        InputError: The file can't be read, is no capture, or one of links that aren't Ethernet or raw IP.
    """
    from scapy.error import Scapy_Exception
    from scapy.utils import RawPcapNgReader, RawPcapReader

    whole = Origin(str(path))
    with open_file(path, "a readable capture file") as file:
        try:
            reader: Any = RawPcapReader(file)  # type: ignore[arg-type]
        except Scapy_Exception:
            raise InputError(whole, "a file that is no capture", "pcap or pcapng") from None
        is_new = isinstance(reader, RawPcapNgReader)
        number = 0
        while True:
            try:
                data, about = reader._read_packet(size=_LONGEST)
            except EOFError:
                return
            number += 1
            if is_new:
                link, port = about.linktype, _text(about.ifname)
                time_ns = (about.tshigh << 32 | about.tslow) * _SECOND // about.tsresol
            else:
                link, port = reader.linktype, None
                time_ns = about.sec * _SECOND + about.usec * (1 if reader.nano else 1000)
            yield _arrival(link, time_ns, port, data, wire_bytes=about.wirelen, origin=Origin(str(path), number))


def _arrival(link: int, time_ns: int, port: str | None, data: bytes, *, wire_bytes: int, origin: Origin) -> Arrival:
    if link == _ETHERNET:
        return Arrival(time_ns, port, data, max(wire_bytes, len(data)), origin)
    if link not in _RAW_IP:
        raise InputError(origin, f"a packet of link type {link}", "Ethernet (1) or raw IP (101)")
    # The scheduler counts Ethernet frames, so raw IP gets the header that it had, or would have had.
    kind = IPV6 if data[:1] and data[0] >> 4 == 6 else IPV4
    header = _NO_MACS + kind.to_bytes(2, "big")
    return Arrival(time_ns, port, header + data, len(header) + max(wire_bytes, len(data)), origin)


def _text(name: Any) -> str | None:
    return name.decode(errors="replace").rstrip("\0") if isinstance(name, bytes) else name
