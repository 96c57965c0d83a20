"""Numbered probes: one after the other through an idle line, and steadily while a fault lasts."""

from __future__ import annotations

import ctypes
import select
import socket
import struct
import threading
import time
from types import TracebackType
from typing import Self

from soak.frames import PROBE_PORT, Flow, probe_number, probed_flows
from soak.policies import PORTS
from soak.target import tester_end

STEADY_PER_SECOND = 200
_ETH_P_ALL = 3  # linux/if_ether.h
_OUTGOING = 4  # PACKET_OUTGOING of linux/if_packet.h
_SO_ATTACH_FILTER = 26  # asm-generic/socket.h
_LARGEST_FRAME = 1 << 16
_ANSWERS_WITHIN_S = 0.5
_LOOKS_EVERY_S = 1 / STEADY_PER_SECOND

# Classic BPF: UDP over IPv4 without options, to the probes' port. Without it a flood would keep Python busy.
_FILTER = (
    (0x28, 0, 0, 12),  # ldh [12]: EtherType
    (0x15, 0, 5, 0x0800),  # jeq IPv4, else refuse
    (0x30, 0, 0, 23),  # ldb [23]: protocol
    (0x15, 0, 3, 17),  # jeq UDP, else refuse
    (0x28, 0, 0, 36),  # ldh [36]: destination port
    (0x15, 0, 1, PROBE_PORT),
    (0x06, 0, 0, _LARGEST_FRAME),  # take
    (0x06, 0, 0, 0),  # refuse
)


def _open(port: int) -> socket.socket:
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    code = b"".join(struct.pack("HBBI", *step) for step in _FILTER)
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HL", len(_FILTER), ctypes.addressof(buffer))
    wire.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
    wire.bind((tester_end(port), _ETH_P_ALL))
    wire.setblocking(False)
    return wire


class Probes:
    """The tester's ends of all ports, for probes only and one thread; `sent` counts probes that an interface took."""

    def __init__(self) -> None:
        self.flows = probed_flows()
        self._sockets: dict[int, socket.socket] = {}
        self.sent = 0
        self._waiting: dict[int, Flow] = {}
        self.reopen()

    def close(self) -> None:
        """Close the sockets."""
        for wire in self._sockets.values():
            wire.close()

    @property
    def lost(self) -> int:
        """Probes that have not come back so far."""
        return len(self._waiting)

    def reopen(self) -> None:
        """Bind to the interfaces anew: a socket stays with a deleted interface."""
        opened = {port: _open(port) for port in PORTS}
        self.close()
        self._sockets = opened

    def send(self, flow: Flow) -> bool:
        """Send the next probe of a flow; False where the interface doesn't take it."""
        try:
            self._sockets[flow.ingress].send(flow.frame(self.sent))
        except OSError:
            return False
        self._waiting[self.sent] = flow
        self.sent += 1
        return True

    def receive(self, timeout_s: float) -> None:
        """Take the probes that have come back, waiting for the first."""
        ready, _, _ = select.select(list(self._sockets.values()), [], [], timeout_s)
        for port, wire in self._sockets.items():
            if wire not in ready:
                continue
            while True:
                try:
                    frame, address = wire.recvfrom(_LARGEST_FRAME)
                except OSError:  # nothing more, or the interface is down
                    break
                number = probe_number(frame)
                if address[2] == _OUTGOING or number is None:
                    continue
                flow = self._waiting.get(number)
                if flow is not None and flow.egress == port:
                    del self._waiting[number]

    def forget(self) -> int:
        """Start to count anew; return how many were lost."""
        lost = self.lost
        self._waiting.clear()
        return lost

    def round(self, stop_after: int | None = None) -> list[Flow]:
        """Probe every flow, one probe at a port at a time; return those that don't pass. End after `stop_after`."""
        missing: list[Flow] = []
        for at in range(0, len(self.flows), len(PORTS)):
            self.forget()
            together = self.flows[at : at + len(PORTS)]
            missing += [flow for flow in together if not self.send(flow)]
            deadline = time.monotonic() + _ANSWERS_WITHIN_S
            while self._waiting and (left := deadline - time.monotonic()) > 0:
                self.receive(left)
            missing += self._waiting.values()
            if stop_after is not None and len(missing) >= stop_after:
                break
        self.forget()
        return missing


class Steady:
    """Probes at a steady rate, in a thread, while a fault lasts; use it with ``with``.

    `sent` probes were taken by an interface, `lost` of them had not come back when it ended.
    """

    def __init__(self, probes: Probes) -> None:
        self._probes = probes
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.sent = self.lost = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        probes, began, at = self._probes, self._probes.sent, 0
        probes.forget()
        while not self._ended.is_set():
            if not probes.send(probes.flows[at % len(probes.flows)]) and at % STEADY_PER_SECOND == 0:
                # The interface may be another one by now.
                self._reopen()
            at += 1
            due = time.monotonic() + _LOOKS_EVERY_S
            while (left := due - time.monotonic()) > 0:
                probes.receive(left)
        # Probes queued behind a flood may still come.
        deadline = time.monotonic() + _ANSWERS_WITHIN_S
        while (left := deadline - time.monotonic()) > 0:
            probes.receive(left)
        self.sent, self.lost = probes.sent - began, probes.forget()

    def _reopen(self) -> None:
        try:
            self._probes.reopen()
        except OSError:
            time.sleep(_LOOKS_EVERY_S)
