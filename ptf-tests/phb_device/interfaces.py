"""Virtual Ethernet pairs for a switch's ports, and the tester's sockets.

They are made in a network namespace of this process's own (`own_namespace`), and go with it: nothing can stay behind.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import socket
import subprocess
import time
from pathlib import Path

from phb_device.control import ControlError

_CLONE_NEWNET = 0x40000000  # linux/sched.h
_ETH_P_ALL = 3  # linux/if_ether.h
_LARGEST_FRAME = 1 << 16
_MTU = 9500
"""Of the pairs: jumbo frames pass."""
_OUTGOING = 4  # PACKET_OUTGOING of linux/if_packet.h
_SETTLES_WITHIN_S = 5.0


def missing() -> str:
    """Say why there can't be interfaces here; empty if there can."""
    if os.geteuid() != 0:
        return "interfaces need root"
    try:
        subprocess.run(["ip", "-V"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "interfaces need the command ip (Debian: iproute2)"
    return ""


def own_namespace() -> None:
    """Move this process, with all threads that start later, into a network namespace of its own.

    Call it first: threads that gRPC has started already would stay outside, and find no switch.

    Raises:
        ControlError: It may not.
    """
    reason = missing()
    if reason:
        raise ControlError(reason)
    # os.unshare is there from Python 3.12 on.
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_CLONE_NEWNET) != 0:
        raise ControlError(f"no network namespace: {os.strerror(ctypes.get_errno())}")
    _ip("link", "set", "lo", "up")


def make_pair(switch_end: str, tester_end: str) -> None:
    """Make a pair of interfaces that send no frames of their own."""
    _ip("link", "add", switch_end, "type", "veth", "peer", "name", tester_end)
    for name in (switch_end, tester_end):
        # Without IPv6, or the kernel sends router solicitations and reports of multicast groups.
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
        _ip("link", "set", name, "mtu", str(_MTU), "up")
    # Not read from /sys, which shows the namespace that it was mounted in.
    deadline = time.monotonic() + _SETTLES_WITHIN_S
    for name in (switch_end, tester_end):
        while (state := json.loads(_ip("-json", "link", "show", name))[0]["operstate"]) != "UP":
            if time.monotonic() > deadline:
                raise ControlError(f"{name} is {state}")
            time.sleep(0.01)


def remove_pair(switch_end: str) -> None:
    """Remove both ends."""
    subprocess.run(["ip", "link", "delete", switch_end], capture_output=True, check=False)


def _ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ControlError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


class Wires:
    """The tester's ends of a switch's ports; `interfaces` are names by port number."""

    def __init__(self, interfaces: dict[int, str]) -> None:
        self._poll = select.poll()
        self._sockets: dict[int, socket.socket] = {}
        self._ports: dict[int, int] = {}
        for port, name in interfaces.items():
            try:
                wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
                wire.bind((name, _ETH_P_ALL))
            except OSError as error:
                raise ControlError(f"interface {name}: {error.strerror}") from None
            wire.setblocking(False)
            self._sockets[port] = wire
            self._ports[wire.fileno()] = port
            self._poll.register(wire, select.POLLIN)

    def close(self) -> None:
        """Close the sockets; the interfaces stay."""
        for wire in self._sockets.values():
            wire.close()

    def send(self, port: int, frame: bytes) -> None:
        """Send a frame to the switch."""
        self._sockets[port].send(frame)

    def poll(self, timeout_s: float) -> tuple[int, bytes] | None:
        """Return port and frame that left next, or None."""
        deadline = time.monotonic() + timeout_s
        while True:
            ready = self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
            for descriptor, _ in ready:
                port = self._ports[descriptor]
                frame, address = self._sockets[port].recvfrom(_LARGEST_FRAME)
                # A socket also sees the frames that it sends.
                if address[2] != _OUTGOING:
                    return port, frame
            if not ready and time.monotonic() >= deadline:
                return None
