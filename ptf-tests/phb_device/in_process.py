"""The embedded switch in this process: no interfaces, and time that a test moves."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence

from phb_device.control import CPU_PORT, DEVICE_ID, Control, ControlError
from phb_device.device import Device
from phb_device.packets import Arrival, Departure, Line
from phb_switch import ExecutorName, Network, P4RuntimeServer, PortConfig, Shaper, Switch

_BETWEEN_FRAMES_NS = 1_000
_SECOND_NS = 1_000_000_000
_END_NS = 1 << 62
_NOWHERE = 511
"""A port that the switch doesn't have."""
SLOW_BPS = 1_000
"""Rate of port 1 while frames queue up there: a byte takes 8 ms."""
# How long a poll lasts that waits for something, and how often it looks meanwhile.
_CONTROLLER_WITHIN_S = 1.0
_ANSWERS_WITHIN_S = 10.0
_LOOKS_EVERY_S = 0.005


class InProcess(Device):
    """phb-switch behind a real gRPC server, with frames that are handed over in memory."""

    target = "phb-switch"
    title = "phb-switch, in memory, virtual time"
    virtual = True

    def __init__(self, *, strict_priority: bool = False, executor: ExecutorName | None = None) -> None:
        """With `strict_priority`, ports queue by priority instead of rank, as bmv2 does."""
        self._strict_priority = strict_priority
        ports = {port: self._port() for port in self.ports}
        self.switch = Switch("dut", ports, cpu_port=CPU_PORT, executor=executor)
        self._server = P4RuntimeServer(self.switch, device_id=DEVICE_ID)
        self.address = f"127.0.0.1:{self._server.start()}"
        self._now = 0
        self._left: deque[Departure] = deque()

    def _port(self, line: Line | None = None, shaper: Shaper | None = None) -> PortConfig:
        rate, overhead, ring = (line.rate_bps, line.overhead_bytes, line.transmit_ring) if line else (None, 0, 0)
        queues = 8 if self._strict_priority else 1
        return PortConfig(rate, overhead, ring, shaper=shaper, queues=queues, strict_priority=self._strict_priority)

    @property
    def now(self) -> int:
        """Its time, in nanoseconds."""
        return self._now

    def close(self) -> None:
        """End the server."""
        self._server.stop()

    def reset(self) -> None:
        """Load the program anew. Time goes on to a whole second: a run counts from its own beginning."""
        super().reset()
        # The program's whole microseconds must not depend on earlier runs.
        self._now += -self._now % _SECOND_NS
        for port in self.ports:
            self.switch.set_port(port, self._port())
        self._left.clear()

    def send(self, port: int, frame: bytes) -> None:
        """Send a frame, a microsecond after the one before; queued frames leave before the next one comes."""
        self._now += _BETWEEN_FRAMES_NS
        for time_ns, out, data in self.switch.process(port, frame, self._now):
            self._now = max(self._now, time_ns)
            self._left.append(Departure(time_ns, out, data))

    def poll(self, timeout_s: float) -> Departure | None:
        """Return the next frame that left. A sent frame takes effect at once, a controller's message doesn't."""
        deadline = time.monotonic() + timeout_s
        while not self._left:
            self._left += self.run(())
            if self._left or time.monotonic() >= deadline or timeout_s < _CONTROLLER_WITHIN_S:
                break
            time.sleep(_LOOKS_EVERY_S)
        return self._left.popleft() if self._left else None

    def batch(self, plug: bytes, frames: Sequence[bytes]) -> list[bytes]:
        """Have all arrive before the plug's last bit is sent: the line is slow enough."""
        arrivals = [Arrival(number, 2, frame) for number, frame in enumerate([plug, *frames])]
        left = self.run(arrivals, lines={1: Line(SLOW_BPS)})
        self.switch.set_port(1, self._port())
        return [departure.frame for departure in left[1:]]

    def queue_up(self, frames: Sequence[bytes]) -> list[Departure]:
        """Have packet-outs queue up at port 1 behind the first of them, all at one time; return those that left.

        Raises:
            ControlError: They don't come.
        """
        wanted = self.switch.statistics()["injected"] + len(frames)
        deadline = time.monotonic() + _ANSWERS_WITHIN_S
        with Control(self.address) as control:
            for frame in frames:
                control.packet_out(frame, 1)
            while self.switch.statistics()["injected"] < wanted:
                if time.monotonic() > deadline:
                    raise ControlError("packet-outs don't come", self.address)
                time.sleep(_LOOKS_EVERY_S)
        left = self.run((), lines={1: Line(SLOW_BPS)})
        self.switch.set_port(1, self._port())
        return left

    def advance(self, seconds: float) -> None:
        """Let virtual time pass."""
        self._now += round(seconds * 1e9)

    def run(
        self, arrivals: Sequence[Arrival], *, lines: Mapping[int, Line] | None = None, quiet_s: float = 0.5
    ) -> list[Departure]:
        """Run in a virtual network, at exact times, until nothing is left to do."""
        for port, line in (lines or {}).items():
            self.switch.set_port(port, self._port(line, self.switch.ports()[port].shaper))
        # The switch's clock doesn't go back; the network's begins at 0.
        start = self._now + _BETWEEN_FRAMES_NS
        # A controller's packets enter with the switch's next event: here one that has no effect, since for a network
        # the next event would be at 0.
        early = self.switch.process(_NOWHERE, b"", start)
        network = Network(1)
        network.add_switch(self.switch)
        for port in self.ports:
            frames = [(start + arrival.time_ns, arrival.frame) for arrival in arrivals if arrival.port == port]
            network.add_replay(f"port{port}", frames)
            network.connect(f"port{port}", 0, "dut", port)
        network.run(_END_NS)
        late = [(time_ns, port, frame) for port in self.ports for time_ns, frame in network.received(f"port{port}")]
        left = sorted(
            (Departure(time_ns - start, port, frame) for time_ns, port, frame in (*early, *late)),
            key=lambda departure: departure.time_ns,
        )
        ends = [*(arrival.time_ns for arrival in arrivals[-1:]), *(departure.time_ns for departure in left[-1:])]
        self._now = start + max(ends, default=0)
        return left
