"""A process of switches that stand for many: their counters move, and each can be watched at several addresses.

`python -m benchmarks.monitor.standing POLICY` prints the port of each switch, which listens at all addresses of
loopback: 127.0.0.1 to 127.0.0.16 are sixteen names of it, as many as one client may watch. So 200 need the memory of
thirteen. Traffic of a second of virtual time comes each second.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import phb_p4
from benchmarks.monitor.policy import CLASSES, frame, push
from phb_switch import LIMITS, Network, P4RuntimeServer, PortConfig, Switch

DEVICE = 1
SECOND_NS = 1_000_000_000
BURSTS, FRAMES_OF_A_BURST = 10, 100
# A burst is sent within its tenth of a second, so that its delays are up to 50 ms.
RATE_BPS = 2_000_000


def stand(count: int, path: Path) -> None:
    """Stand for so many, until killed."""
    artifact = phb_p4.artifact_path().read_text()
    switches = [
        Switch(f"standing{number}", {1: PortConfig(), 2: PortConfig(rate_bps=RATE_BPS)}, executor="interpreter")
        for number in range(-(-count // LIMITS["telemetries_of_one"]))
    ]
    ports = []
    servers = []
    for switch in switches:
        switch.load(artifact)
        server = P4RuntimeServer(switch, device_id=DEVICE, address="0.0.0.0:0")
        ports.append(server.start())
        servers.append(server)
        push(f"127.0.0.1:{ports[-1]}", DEVICE, path)
    print(json.dumps(ports), flush=True)
    began, second = time.monotonic(), 0
    while True:
        for number, switch in enumerate(switches):
            _traffic(switch, number, second)
        second += 1
        time.sleep(max(0.0, began + second - time.monotonic()))


def _traffic(switch: Switch, number: int, second: int) -> None:
    """Let a second of bursts pass, a bit more of one class than of another, so that delays differ."""
    network = Network(1)
    network.add_switch(switch)
    frames = []
    for burst in range(BURSTS):
        at = second * SECOND_NS + burst * SECOND_NS // BURSTS
        frames += [(at, frame((each * (1 + number % 3) + burst) % CLASSES)) for each in range(FRAMES_OF_A_BURST)]
    network.add_replay("source", frames)
    network.connect("source", 0, switch.name, 1)
    network.run((second + 1) * SECOND_NS)


@contextmanager
def standing(count: int, path: Path) -> Iterator[Sequence[str]]:
    """Give the addresses of so many switches that have a policy."""
    command = [sys.executable, "-m", "benchmarks.monitor.standing", str(count), str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the switches ended with {process.wait()}")
        ports = json.loads(line)
        yield [f"127.0.0.{1 + number // len(ports)}:{ports[number % len(ports)]}" for number in range(count)]
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    stand(int(sys.argv[1]), Path(sys.argv[2]))
