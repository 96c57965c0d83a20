"""Switches under test in real time: processes, and switches that run already."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from phb_device import back_pressure, interfaces
from phb_device.control import Control
from phb_device.data_plane import DataPlane
from phb_device.device import Device
from phb_device.packets import Departure
from phb_device.processes import SwitchProcess, bmv2_command, phb_switch_command
from phb_switch import ExecutorName

_QUIET_S = 0.5


class _Frames(Protocol):
    def send(self, port: int, frame: bytes) -> None: ...
    def poll(self, timeout_s: float) -> tuple[int, bytes] | None: ...
    def close(self) -> None: ...


class Outside(Device):
    """A switch in real time: frames over some kind of wire, programs over gRPC."""

    def __init__(self, target: str, title: str, address: str, frames: _Frames) -> None:
        self.target, self.title, self.address = target, title, address
        self._frames = frames
        self._started_ns = time.monotonic_ns()

    def close(self) -> None:
        """Close its ports."""
        self._frames.close()

    def reset(self) -> None:
        """Load the program anew, take shapers away, and drop frames on their way."""
        self._forget()
        super().reset()
        while self._frames.poll(0.0) is not None:
            pass

    def _forget(self) -> None:
        """Prepare for another program; most switches need nothing."""

    def send(self, port: int, frame: bytes) -> None:
        """Send a frame now."""
        self._frames.send(port, frame)

    def poll(self, timeout_s: float) -> Departure | None:
        """Return the next frame that left."""
        left = self._frames.poll(timeout_s)
        return None if left is None else Departure(time.monotonic_ns() - self._started_ns, *left)

    def advance(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)


class Attached(Outside):
    """A switch that runs already, with device id 1 and CPU port 510.

    `target` is a name of `phb.targets`, `address` that of P4Runtime, ``host:port``; `wires` are the tester's interfaces
    by port number of the switch, for ports 1 to 4.

    Raises:
        ControlError: An interface can't be had.
    """

    def __init__(self, target: str, address: str, wires: Mapping[int, str]) -> None:
        super().__init__(target, f"{target} at {address}", address, interfaces.Wires(dict(wires)))


class Bmv2OverGrpc(Outside):
    """bmv2 with ports over gRPC."""

    def __init__(self, target: str = "bmv2") -> None:
        self.process = SwitchProcess(bmv2_command(), bmv2=True, data_plane=True)
        try:
            plane = DataPlane(self.process.data_address)
        except BaseException:
            self.process.stop()
            raise
        self._plane = plane
        super().__init__(target, f"{target}, in memory, real time", self.process.address, plane)

    def reset(self) -> None:
        """Load the program anew; with the first one its data plane begins."""
        super().reset()
        self._plane.open()

    def _forget(self) -> None:
        # bmv2 keeps the memory of each program that it has run, for this one some 200 MB.
        self._plane.close()
        self.process.restart()

    def batch(self, plug: bytes, frames: Sequence[bytes]) -> list[bytes]:
        """Make queues form by not reading the frames that the switch transmits (`back_pressure`)."""
        with Control(self.address) as control:
            back_pressure.queue_up(self._plane, control, plug, frames)
        left = []
        while (departure := self.poll(_QUIET_S)) is not None:
            if departure.port == 1:
                left.append(departure.frame)
        return left[1:]

    def close(self) -> None:
        """End it."""
        super().close()
        self.process.stop()


class OnInterfaces(Outside):
    """A process whose ports are virtual Ethernet pairs, made and removed with it; `tester_ends` are by port number."""

    def __init__(self, target: str, executor: ExecutorName | None = None) -> None:
        bmv2 = target.startswith("bmv2")
        command = bmv2_command() if bmv2 else phb_switch_command(executor)
        prefix = "bmv" if bmv2 else "phb"
        self._switch_ends = {port: f"{prefix}-switch{port}" for port in self.ports}
        self.tester_ends = {port: f"{prefix}-tester{port}" for port in self.ports}
        try:
            for port in self.ports:
                interfaces.make_pair(self._switch_ends[port], self.tester_ends[port])
            self.process = SwitchProcess(
                command, [f"{port}@{name}" for port, name in self._switch_ends.items()], bmv2=bmv2
            )
        except BaseException:
            self._remove()
            raise
        self._restarts = bmv2
        wires = interfaces.Wires(self.tester_ends)
        super().__init__(target, f"{target}, virtual Ethernet, real time", self.process.address, wires)

    def close(self) -> None:
        """End it, and remove its interfaces."""
        super().close()
        self.process.stop()
        self._remove()

    def _forget(self) -> None:
        # bmv2, as over gRPC.
        if self._restarts:
            self.process.restart()

    def _remove(self) -> None:
        for name in self._switch_ends.values():
            interfaces.remove_pair(name)
