"""Kernel sockets as a described host has them: every option is set per socket, none is the machine's default."""

import fcntl
import socket
import struct
import sys
import termios

from phb_lab.description import Host

# Linux (net/sock.h) doubles SO_RCVBUF and SO_SNDBUF for its own book-keeping; short segments need more than that. So
# the buffer is four times the window, and the window itself is clamped.
_BUFFER_FACTOR = 4

# asm-generic/socket.h; Python has no name for it.
_SO_TIMESTAMPNS = 35


class Options:
    """Sets a host's options on its sockets."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def tcp(self, tos: int) -> socket.socket:
        """A TCP socket, not bound yet. Connections inherit the options of a listening one."""
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        host = self._host
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, host.congestion_control.encode())
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, host.window_bytes)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_FACTOR * host.window_bytes)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_FACTOR * host.window_bytes)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(not host.nagle))
        made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return made

    def after_read(self, connection: socket.socket) -> None:
        """Set the options that the kernel forgets.

        Once segments come, tcp_measure_rcv_mss() of Linux 6.6 and later (net/ipv4/tcp_input.c) finds out what share of
        their memory is payload, and sets the clamp to what the whole buffer would hold: a window of 17,520 bytes became
        65,535. Until the first read there may be a segment or two more than described.
        """
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, self._host.window_bytes)
        if self._host.delayed_ack_ns is None:
            # At once, always: tcp(7).
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def held_back(self, connection: socket.socket, octets: int) -> int:
        """Octets at the end of a write that have to wait until everything before them is acknowledged.

        Nagle's algorithm (RFC 896) holds back a last short segment while anything is on its way. Linux holds it back
        only while another short one is (Minshall's variant, net/ipv4/tcp_output.c), so we do the rest.
        """
        if not self._host.nagle:
            return 0
        segment = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        return octets % segment if octets > segment else 0

    def udp(self, tos: int) -> socket.socket:
        """A UDP socket, not bound yet, whose datagrams carry the kernel's time of arrival."""
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
        stamp_arrivals(made)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        return made


def congestion_control(connection: socket.socket) -> str:
    """Name the congestion control of a connection."""
    name = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return name.partition(b"\0")[0].decode()


def unacknowledged(connection: socket.socket) -> int:
    """Octets that the other end hasn't acknowledged yet (SIOCOUTQ, tcp(7))."""
    return int.from_bytes(fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)), sys.byteorder)


def stamp_arrivals(opened: socket.socket) -> None:
    """Have the kernel say when each packet came; :func:`arrival_ns` reads it."""
    opened.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)


def arrival_ns(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    """CLOCK_REALTIME at which the kernel got a datagram."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS):
            seconds, nanoseconds = struct.unpack("qq", data[:16])
            return int(seconds) * 1_000_000_000 + int(nanoseconds)
    return None
