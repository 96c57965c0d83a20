"""Opens network interfaces as packet sockets, the way the real-time runner wants them (see packet(7))."""

import socket
import struct

# From linux/if_packet.h and linux/if_ether.h; Python's socket module has none of them.
_SOL_PACKET = 263
_PACKET_ADD_MEMBERSHIP = 1
_PACKET_STATISTICS = 6
_PACKET_AUXDATA = 8
_PACKET_VNET_HDR = 15
_PACKET_IGNORE_OUTGOING = 23
_PACKET_MR_PROMISC = 1
_ETH_P_ALL = 0x0003
_SO_RCVBUFFORCE = 33

_RECEIVE_BUFFER_BYTES = 8 << 20
"""Room for what arrives while the switch is busy: some thousand frames, where the kernel's default holds about 90."""


class InterfaceError(Exception):
    """An interface that can't be opened; `str()` is one line that says why."""


def open_interface(name: str) -> socket.socket:
    """Opens an interface for sending and receiving whole frames, in promiscuous mode.

    Args:
        name: for example `veth0`.

    Returns:
        A non-blocking packet socket: each frame has a virtio header in front and its VLAN tag beside it.

    Raises:
        InterfaceError: no such interface, no permission, or a kernel without what is needed.

    """
    try:
        index = socket.if_nametoindex(name)
    except OSError:
        raise InterfaceError(f"there is no interface {name}") from None
    try:
        # Protocol 0 receives nothing before bind() says which interface: no stray frames from others.
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
    except PermissionError:
        raise InterfaceError(f"opening interface {name} needs root or the capability CAP_NET_RAW") from None
    try:
        for option in (_PACKET_IGNORE_OUTGOING, _PACKET_AUXDATA, _PACKET_VNET_HDR):
            opened.setsockopt(_SOL_PACKET, option, 1)
        membership = struct.pack("iHH8s", index, _PACKET_MR_PROMISC, 0, b"")
        opened.setsockopt(_SOL_PACKET, _PACKET_ADD_MEMBERSHIP, membership)
        _enlarge_receive_buffer(opened)
        opened.bind((name, _ETH_P_ALL))
    except OSError as error:
        opened.close()
        raise InterfaceError(f"interface {name} can't be opened: {error.strerror}") from None
    return opened


def _enlarge_receive_buffer(opened: socket.socket) -> None:
    try:
        opened.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RECEIVE_BUFFER_BYTES)
    except PermissionError:  # without CAP_NET_ADMIN the system's limit holds
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)


def kernel_drops(opened: socket.socket) -> int:
    """Frames that arrived since the last call and found no room in the socket's buffer; the switch never saw them."""
    _, drops = struct.unpack("II", opened.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
    return int(drops)
