"""The interface of a switch under test, for every kind of switch and of ports."""

from __future__ import annotations

import asyncio
import atexit
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar

import phb
from phb_device.control import Control, ControlError
from phb_device.entries import Entry
from phb_device.packets import Arrival, Departure, Line

NODE = """phb: 1
node: dut
ports: [{number: 1, name: line}, {number: 2, name: lan}, {number: 3, name: third}, {number: 4, name: fourth}]
"""
CONNECTED = NODE + "cross-connects: [{between: [line, lan]}, {between: [third, fourth]}]\n"
"""Beginnings of policies: the ports; the ports in two pairs, 1 with 2 and 3 with 4."""

AT = datetime(2026, 3, 2, 12, 0)
"""A Monday; when rules are judged to be valid."""

T = TypeVar("T")

_LEAVES_WITHIN_S = 5.0
_DROPPED_WITHIN_S = 0.05


_loop = asyncio.Runner()
atexit.register(_loop.close)


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in one loop for all devices: gRPC's own threads call back into the loop that they met first."""
    return _loop.run(coroutine)


@cache
def artifact() -> phb.Artifact:
    """Load the program of phb, once for all devices."""
    return phb.Artifact.load()


class Device(ABC):
    """A switch under test with four ports; use it with ``with``.

    Attributes:
        target: Name of `phb.targets` that policies are compiled for.
        title: A few words for reports.
        address: Of P4Runtime, ``host:port``.
        virtual: Whether time is an argument: then runs are exact, and repeat to the byte.
    """

    ports: tuple[int, ...] = (1, 2, 3, 4)
    virtual: bool = False
    target: str
    title: str
    address: str
    _shaped: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """End the switch, and remove what was made for it."""

    # Its program ----------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Load the program anew: no entries, counters and registers zero, ports unlimited."""
        if self._shaped:
            # A port's rate is no part of the program.
            self.push(NODE)
        with Control(self.address) as control:
            control.set_program()

    def push(
        self,
        policy: str | Sequence[Path],
        *,
        target: str | None = None,
        draw: Callable[[int], int] | None = None,
    ) -> phb.NodeIntent:
        """Compile a policy (native YAML, or files) and push it to the switch through the controller.

        Another `target` than its own shows what the switch does with a policy that its own would refuse. `draw` gives
        the switch's keys, as in `phb.push`; without keys, cases can say which conversation a flow has.

        Returns:
            The compiled node; the numbers of its policies, streams and queues are those in the switch.

        Raises:
            PhbError: The policy doesn't compile for the target, or the switch refuses.
        """
        with tempfile.TemporaryDirectory() as folder:
            if isinstance(policy, str):
                path = Path(folder) / "policy.yaml"
                path.write_text(policy)
                policy = [path]
            intent = phb.load_intent(policy, artifact(), at=AT, target=target or self.target)
        self._shaped = bool(intent.shapers)
        report = run_async(phb.push_intent(self.address, intent, artifact(), draw=draw))
        # Beside entries that are there already, the push may have given other numbers than the compiler.
        return replace(intent, policies=report.policies, streams=report.streams, queues=report.queues)

    def write(self, entries: Iterable[Entry]) -> None:
        """Insert entries by hand, without the controller."""
        with Control(self.address) as control:
            control.write(entries)

    def counters(self, cells: Mapping[str, Sequence[int]]) -> dict[str, dict[int, tuple[int, int]]]:
        """Read packets and bytes by counter and cell, those that aren't zero.

        `cells` are indexes by the counter's name as in docs/inside/pipeline.md, for example ``policy_traffic``.
        """
        read = run_async(phb.read_counters(self.address, cells, artifact=artifact()))
        return {
            name: {index: (each.packets, each.bytes) for index, each in found.items() if each.packets or each.bytes}
            for name, found in read.items()
        }

    def counter(self, name: str, cells: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Read `counters` of one counter."""
        return self.counters({name: list(cells)})[name]

    # Packets through it ----------------------------------------------------------------------------------------

    @abstractmethod
    def send(self, port: int, frame: bytes) -> None:
        """Send a frame to the switch now."""

    @abstractmethod
    def poll(self, timeout_s: float) -> Departure | None:
        """Return the next frame that left, waiting for it up to `timeout_s` where time is real."""

    @abstractmethod
    def advance(self, seconds: float) -> None:
        """Let time pass."""

    def batch(self, plug: bytes, frames: Sequence[bytes]) -> list[bytes]:
        """Have frames queue up at port 1 before the first of them leaves; return them in the order of leaving.

        The policy connects port 2 with port 1, and classifies by rules of port 1 (``egress-port: line``): some switches
        get the frames as packet-outs, which no input policy sees. The plug goes out first, alone, and keeps the port
        busy; it isn't in the result.

        Raises:
            ControlError: No queue can be made to form here.
        """
        raise ControlError(f"{self.title}: nothing holds its ports back but a shaper of the policy")

    def receive(self, expected: int) -> list[Departure]:
        """Return the frames that left: `expected` ones if they come, and those shortly after them."""
        left: list[Departure] = []
        while True:
            departure = self.poll(_LEAVES_WITHIN_S if len(left) < expected else _DROPPED_WITHIN_S)
            if departure is None:
                return left
            left.append(departure)

    def exchange(self, port: int, frame: bytes, expected: int = 1) -> list[tuple[int, bytes]]:
        """Send one frame; return (port, frame) of those that left for it, in the order of ports and bytes."""
        self.send(port, frame)
        return sorted((departure.port, departure.frame) for departure in self.receive(expected))

    def run(
        self, arrivals: Sequence[Arrival], *, lines: Mapping[int, Line] | None = None, quiet_s: float = 0.5
    ) -> list[Departure]:
        """Have frames arrive at their times, in order; return all that left, in order.

        In virtual time `lines` are behind ports; a port without one sends at once. In real time the run is over when
        nothing leaves for `quiet_s`.

        Raises:
            ValueError: Lines where time is real: there a shaper of the policy limits a port.
        """
        if lines:
            raise ValueError("a switch in real time has no lines: limit the port by a shaper in the policy")
        start = time.monotonic_ns()
        left = []
        for arrival in arrivals:
            while (wait := arrival.time_ns - (time.monotonic_ns() - start)) > 0:
                if (departure := self.poll(min(wait / 1e9, 0.001))) is not None:
                    left.append(Departure(time.monotonic_ns() - start, departure.port, departure.frame))
            self.send(arrival.port, arrival.frame)
        while (departure := self.poll(quiet_s)) is not None:
            left.append(Departure(time.monotonic_ns() - start, departure.port, departure.frame))
        return left
