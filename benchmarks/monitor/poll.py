"""`monitor.poll.*`: what a reader costs the switch that it reads.

`monitor.poll.share`: percent of its packets per second that a switch loses to a reader of 20 classes with 256 cells
each and 1,000 policies, once a second. Frames come from a replay in a virtual network, so that no kernel and no
interface counts; the reader is a process of its own. A poll a second is too little to be seen: it reads a hundred times
as often, in turns with nobody, and the loss is divided by a hundred. The median of the rounds counts.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import grpc

import phb_p4
from benchmarks.figures import Figure
from benchmarks.monitor.policy import CLASSES, policy, push, written
from benchmarks.veth import RULES, udp_frames
from phb import Artifact
from phb.monitor.reading.client import watch
from phb.pipeline_names import BUCKETS_PER_CLASS, COLOURS_PER_POLICY, REASONS_PER_POLICY
from phb_switch import Network, P4RuntimeServer, PortConfig, Switch

DEVICE = 1
TIMES = 100
PACKETS, ROUNDS = 200_000, 11
# Between frames: the line is idle when the next one comes.
GAP_NS = 10_000


@contextmanager
def served() -> Iterator[tuple[Switch, str]]:
    """Give a switch with the policy, and the address of its server."""
    switch = Switch("watched", {port: PortConfig() for port in (1, 2)}, executor="native")
    switch.load(phb_p4.artifact_path().read_text())
    server = P4RuntimeServer(switch, device_id=DEVICE)
    address = f"127.0.0.1:{server.start()}"
    try:
        with written(policy(RULES)) as path:
            push(address, DEVICE, path)
        yield switch, address
    finally:
        server.stop()


class _Load:
    """Frames that a switch gets from replays, each in a network of its own: what is done takes no memory."""

    def __init__(self, switch: Switch, frames: Sequence[bytes]) -> None:
        self._switch, self._frames = switch, frames
        self._start = 0

    def run(self, packets: int) -> float:
        """Let so many packets pass; return how many a second."""
        network = Network(1)
        network.add_switch(self._switch)
        frames = self._frames
        timed = [(self._start + number * GAP_NS, frames[number % len(frames)]) for number in range(packets)]
        network.add_replay("source", timed)
        network.connect("source", 0, self._switch.name, 1)
        self._start += packets * GAP_NS
        start = time.perf_counter()
        network.run(self._start)
        return packets / (time.perf_counter() - start)


async def read(address: str, interval_ns: int) -> None:
    """Read without end; print a line when the first sample has come."""
    artifact = Artifact.load()
    ranges = [
        (artifact.counter("class_delay").number, 0, CLASSES * BUCKETS_PER_CLASS),
        (artifact.counter("policy_traffic").number, 0, RULES * COLOURS_PER_POLICY),
        (artifact.counter("policy_drops").number, 0, RULES * REASONS_PER_POLICY),
    ]
    async with grpc.aio.insecure_channel(address) as channel:
        samples = 0
        async for _ in watch(channel, DEVICE, ranges, interval_ns):
            if not samples:
                print("reads", flush=True)
            samples += 1


@contextmanager
def _reader(address: str) -> Iterator[None]:
    command = [sys.executable, "-m", "benchmarks.monitor.poll", address]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise RuntimeError(f"the reader ended with {process.wait()}")
        yield
    finally:
        process.kill()
        process.communicate()


def measure() -> list[Figure]:
    """Measure what a poll costs the switch."""
    with served() as (switch, address):
        load = _Load(switch, udp_frames())
        load.run(PACKETS)
        alone, losses = [], []
        for round_ in range(ROUNDS):
            found: dict[bool, float] = {}
            # Whoever comes first may find another machine than whoever comes second.
            for watched in (False, True) if round_ % 2 else (True, False):
                if watched:
                    with _reader(address):
                        found[watched] = load.run(PACKETS)
                else:
                    found[watched] = load.run(PACKETS)
            alone.append(found[False])
            losses.append(1 - found[True] / found[False])
        if not switch.statistics()["transmitted"]:
            raise RuntimeError("no packet left the switch")
    return [
        Figure("monitor.poll.pps", statistics.median(alone), "packets/s"),
        Figure("monitor.poll.share", statistics.median(losses) / TIMES * 100, "% of packets/s"),
    ]


if __name__ == "__main__":
    asyncio.run(read(sys.argv[1], 1_000_000_000 // TIMES))
