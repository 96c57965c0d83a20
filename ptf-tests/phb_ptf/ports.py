"""Ports in memory for ptf's data plane: no interfaces, and no rights.

The platform module that ptf loads calls `connect`. ptf selects on file descriptors, so frames that leave wake it by an
event counter.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import ptf.testutils
from ptf.dataplane import DataPlanePacketSourceIface, DataPlanePortIface

from phb_device.data_plane import DataPlane
from phb_device.in_process import InProcess

DEVICE = 0
"""ptf's number of the switch under test."""
PORTS = (1, 2, 3, 4)


class Frames(DataPlanePacketSourceIface):  # type: ignore[misc]
    """Frames that left the switch and that ptf hasn't taken yet; the source of all ports."""

    def __init__(self) -> None:
        self._event = os.eventfd(0, os.EFD_SEMAPHORE)
        self._waiting: deque[tuple[int, bytes]] = deque()
        self.given = 0

    def fileno(self) -> int:
        """Return the descriptor for select(2)."""
        return self._event

    def put(self, port: int, frame: bytes) -> None:
        """Take a frame that left."""
        self._waiting.append((port, frame))
        self.given += 1
        os.eventfd_write(self._event, 1)

    def recv(self) -> tuple[int, int, bytes, float]:
        """Return the next one, as ptf takes it."""
        os.eventfd_read(self._event)
        return DEVICE, *self._waiting.popleft(), time.time()


class InMemory:
    """A switch in ptf's own process: its output for a frame is there when `send` returns."""

    def __init__(self, device: InProcess, frames: Frames) -> None:
        self.device = device
        self._frames = frames

    def send(self, port: int, frame: bytes) -> None:
        """Send a frame to the switch."""
        self.device.send(port, frame)
        self.pump(0.0)

    def queue_up(self, frames: Sequence[bytes]) -> None:
        """Have packet-outs queue up behind the first of them, and leave."""
        for departure in self.device.queue_up(frames):
            self._frames.put(departure.port, departure.frame)

    def pump(self, timeout_s: float) -> bool:
        """Hand the frames that left to ptf, waiting for one; return whether there were any."""
        pumped = False
        while (departure := self.device.poll(0.0 if pumped else timeout_s)) is not None:
            self._frames.put(departure.port, departure.frame)
            pumped = True
        return pumped


class _OverGrpc:
    """bmv2's ports over gRPC."""

    def __init__(self, address: str, frames: Frames) -> None:
        self.plane = DataPlane(address)
        self.plane.open()
        self._frames = frames
        threading.Thread(target=self._pump, daemon=True).start()

    def send(self, port: int, frame: bytes) -> None:
        self.plane.send(port, frame)

    def _pump(self) -> None:
        while True:
            # Frames that hold the switch back leave by other ports.
            if (left := self.plane.poll(60)) is not None and left[0] in PORTS:
                self._frames.put(*left)


class _Port(DataPlanePortIface):  # type: ignore[misc]
    switch: InMemory | _OverGrpc
    frames: Frames

    def __init__(self, interface_name: str, device_number: int, port_number: int, config: Any = None) -> None:
        self._number = port_number

    def get_packet_source(self) -> Frames:
        return self.frames

    def send(self, packet: bytes) -> int:
        self.switch.send(self._number, packet)
        return len(packet)


virtual: InMemory | None = None
"""The switch of this process, if `connect` made one."""
plane: DataPlane | None = None
"""The stream to bmv2, if `connect` opened one."""
source: Frames | None = None


def connect(config: dict[str, Any]) -> None:
    """Give ptf ports in memory.

    The platform arguments in `config` are the address of bmv2's data plane over gRPC, or empty: then phb-switch is
    started in this process, with the test parameter ``executor``, and ``grpcaddr`` becomes its address.
    """
    global virtual, plane, source
    source = Frames()
    if config["platform_args"]:
        over_grpc = _OverGrpc(config["platform_args"], source)
        switch: InMemory | _OverGrpc = over_grpc
        plane = over_grpc.plane
    else:
        parameters = ptf.testutils.TEST_PARAMS or {}
        switch = virtual = InMemory(InProcess(executor=parameters.get("executor")), source)
        ptf.testutils.TEST_PARAMS = parameters | {"grpcaddr": virtual.device.address}
    _Port.switch, _Port.frames = switch, source
    config["dataplane"] = {"portclass": _Port}
    config["port_map"] = {(DEVICE, port): f"memory{port}" for port in PORTS}
