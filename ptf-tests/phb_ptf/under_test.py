"""The switch under test as ptf has it: frames by ptf's data plane, programs by P4Runtime."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import ptf
import ptf.testutils
from ptf.base_tests import BaseTest

from phb import targets
from phb.targets import Capability
from phb_device import Control, Departure, Device, back_pressure, check_reachable, held_port
from phb_device.tracing import RemoteTraces
from phb_ptf import ports, restarts
from phb_ptf.expected import Counted
from phb_switch import Traces

_HANDED_OVER_WITHIN_S = 10.0


class UnderTest(Device):
    """The switch of ptf's ports and of the test parameters ``target`` and ``grpcaddr``.

    ptf calls the hooks of `test` for each frame.
    """

    def __init__(self, test: BaseTest) -> None:
        self._test = test
        self.target = ptf.testutils.test_param_get("target", "phb-switch")
        self.address = ptf.testutils.test_param_get("grpcaddr", "127.0.0.1:9559")
        self.title = f"{self.target} at {self.address}"
        self.virtual = ports.virtual is not None
        self.in_memory = ports.source is not None
        if not self.virtual:
            check_reachable(self.address)
        # Forget frames of an earlier case.
        test.dataplane.flush()
        self._taken = ports.source.given if ports.source is not None else 0

    def close(self) -> None:
        """Do nothing: ptf ends what it has started."""

    def reset(self) -> None:
        """Load the program anew, into a new process where the runner can start one."""
        if not restarts.can_restart():
            super().reset()
            return
        if ports.plane is not None:
            ports.plane.close()
        restarts.restart()
        super().reset()
        if ports.plane is not None:
            ports.plane.open()

    def send(self, port: int, frame: bytes) -> None:
        """Send a frame now."""
        ptf.testutils.send_packet(self._test, port, frame)

    def poll(self, timeout_s: float) -> Departure | None:
        """Return the next frame that left; in virtual time only ptf's own thread has to be waited for."""
        if ports.virtual is not None and ports.source is not None:
            if ports.source.given == self._taken and not ports.virtual.pump(timeout_s):
                return None
            timeout_s = _HANDED_OVER_WITHIN_S
        result = ptf.testutils.dp_poll(self._test, timeout=timeout_s)
        if not isinstance(result, self._test.dataplane.PollSuccess):
            return None
        self._taken += 1
        return Departure(round(result.time * 1e9), result.port, result.packet)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        if ports.virtual is not None:
            ports.virtual.device.advance(seconds)
        else:
            time.sleep(seconds)

    def traces(self) -> RemoteTraces | Traces | None:
        """Have what happens to packets from now on told, for ``with``; None of a switch that can't tell."""
        if ports.virtual is not None:
            return ports.virtual.device.switch.trace()
        return RemoteTraces(self.address) if self.target == "phb-switch" else None

    @property
    def no_queues(self) -> str:
        """Say why no queue can be made to form here; empty if one can."""
        shaping = targets.load(self.target)
        if ports.virtual is not None or ports.plane is not None or Capability.SHAPING in shaping:
            return ""
        return f"{shaping.name} has no shaping: {shaping.support[Capability.SHAPING].reason}"

    def queue_up(self, plug: bytes, frames: Sequence[bytes]) -> None:
        """Have packet-outs queue up at port 1 before the first of them leaves; the plug leaves before it."""
        if ports.virtual is not None:
            ports.virtual.queue_up([plug, *frames])
            return
        with Control(self.address) as control:
            if ports.plane is not None:
                back_pressure.queue_up(ports.plane, control, plug, frames)
            else:
                held_port.queue_up(control, plug, frames)

    def counted(self, cells: Mapping[str, Sequence[int]], *, by_hand: bool) -> Counted:
        """Read cells of counters that aren't zero, by the controller or by hand."""
        if not by_hand:
            return self.counters(cells)
        with Control(self.address) as control:
            read = {name: control.counter(name, indexes) for name, indexes in cells.items()}
        return {name: {index: value for index, value in values.items() if any(value)} for name, values in read.items()}
