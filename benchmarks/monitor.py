"""`monitor.*`: what watching costs the switch that is watched, and the monitor itself.

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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import grpc
import typer

import phb_p4
from benchmarks.figures import Figure, write
from benchmarks.veth import RULES, udp_frames
from phb import Artifact
from phb.monitor.reading.client import watch
from phb_switch import Network, P4RuntimeServer, PortConfig, Switch

DEVICE = 1
CLASSES, CELLS_OF_A_CLASS = 20, 256
COLOURS, REASONS = 4, 32
TIMES = 100
PACKETS, ROUNDS = 200_000, 11
# Between frames: the line is idle when the next one comes.
GAP_NS = 10_000


def policy() -> str:
    """Return a node with two ports, 20 classes, and a thousand rules that lead into them."""
    lines = ["phb: 1", "node: bench", "ports:"]
    lines += [f"  - {{number: {number}, name: port{number}, address: 10.{number}.0.254}}" for number in (1, 2)]
    lines += [
        "routes:",
        "  - {destination: 10.2.0.0/16, port: port2, "
        "source-mac: 02:00:00:00:00:02, destination-mac: 02:00:00:00:01:02}",
        "classes:",
        *(f"  - {{name: class{number}}}" for number in range(CLASSES)),
        "actions:",
        *(f"  - {{name: action{number}, class: class{number}}}" for number in range(CLASSES)),
        "rules:",
    ]
    for number in range(RULES):
        ports = 1000 + number * 8
        lines += [
            f"  - {{name: rule{number}, match: {{protocol: udp, source: 10.1.{number % 250}.0-10.1.{number % 250}.99, "
            f"destination: 10.2.0.0/16, source-ports: {ports}-{ports + 7}}}, actions: [action{number % CLASSES}]}}"
        ]
    return "\n".join(lines) + "\n"


@contextmanager
def served() -> Iterator[tuple[Switch, str]]:
    """Give a switch with the policy, and the address of its server."""
    switch = Switch("watched", {port: PortConfig() for port in (1, 2)}, executor="native")
    switch.load(phb_p4.artifact_path().read_text())
    server = P4RuntimeServer(switch, device_id=DEVICE)
    address = f"127.0.0.1:{server.start()}"
    try:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "policy.yaml"
            path.write_text(policy(), encoding="utf-8")
            command = [sys.executable, "-m", "phb", "push", "--address", address, "--device-id", str(DEVICE), str(path)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
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
        (artifact.counter("class_delay").number, 0, CLASSES * CELLS_OF_A_CLASS),
        (artifact.counter("policy_traffic").number, 0, RULES * COLOURS),
        (artifact.counter("policy_drops").number, 0, RULES * REASONS),
    ]
    async with grpc.aio.insecure_channel(address) as channel:
        samples = 0
        async for _ in watch(channel, DEVICE, ranges, interval_ns):
            if not samples:
                print("reads", flush=True)
            samples += 1


@contextmanager
def _reader(address: str) -> Iterator[None]:
    command = [sys.executable, "-m", "benchmarks.monitor", "--read", address]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise RuntimeError(f"the reader ended with {process.wait()}")
        yield
    finally:
        process.kill()
        process.communicate()


def poll() -> list[Figure]:
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


def measure() -> list[Figure]:
    """Measure all of them."""
    return poll()


def main(
    json: Annotated[Path | None, typer.Option(help="Write the figures to this file.")] = None,
    read_from: Annotated[str | None, typer.Option("--read", help="Read from this address without end.")] = None,
) -> None:
    """Measure and print."""
    if read_from is not None:
        asyncio.run(read(read_from, 1_000_000_000 // TIMES))
        return
    figures = measure()
    for figure in figures:
        print(f"{figure.name}: {figure.value:,.6g} {figure.unit}")
    if json:
        write(json, figures)


if __name__ == "__main__":
    typer.run(main)
