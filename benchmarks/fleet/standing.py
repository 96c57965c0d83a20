"""A process of as many phb-switches as a fleet has, each with a server and a port of its own.

`python -m benchmarks.fleet.standing COUNT FOLDER` writes the program into the folder, loads it into each switch, and
prints their ports as JSON. On standard input it takes lines: `traffic NUMBER` lets frames pass through a switch from
then on, `stop NUMBER` ends a switch's server. A switch takes 5 MB, a thread and 4 file descriptors.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc
from finsy.proto import p4r, p4r_grpc

from benchmarks.fleet import program
from benchmarks.monitor.policy import CLASSES, frame
from phb.device.artifact import Artifact
from phb_switch import Network, P4RuntimeServer, PortConfig, Switch

DEVICE: Final = 1
RATE_BPS: Final = 2_000_000
SECOND_NS: Final = 1_000_000_000
FRAMES: Final = 1_000
"""Frames of a second of traffic: 1 Mbit/s, half of what port 2 passes."""


class Fleet:
    """Switches that run the program, without entries; use it with ``with``."""

    def __init__(self, count: int, artifact: Artifact) -> None:
        self._artifact = artifact
        self.switches = [
            Switch(f"s{number}", {1: PortConfig(), 2: PortConfig(rate_bps=RATE_BPS)}, executor="interpreter")
            for number in range(count)
        ]
        self._servers = [P4RuntimeServer(switch, device_id=DEVICE) for switch in self.switches]
        self._second = [0] * count
        self._passing: set[int] = set()
        self._ended = threading.Event()

    def __enter__(self) -> Fleet:
        # Loading is done without the interpreter's lock.
        with ThreadPoolExecutor(2) as pool:
            self.ports = list(pool.map(self._start, self._servers))
        self._thread = threading.Thread(target=self._pass, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        for server in self._servers:
            server.stop()

    def traffic(self, number: int) -> None:
        """Let frames of all classes of `benchmarks.monitor.policy` pass through a switch, until the end."""
        self._passing.add(number)

    def stop(self, number: int) -> None:
        """End the server of a switch."""
        self._servers[number].stop()

    def _start(self, server: P4RuntimeServer) -> int:
        port = server.start()
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            request = p4r.SetForwardingPipelineConfigRequest(
                device_id=DEVICE, action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
            )
            request.election_id.low = 1
            config = request.config
            config.p4info.CopyFrom(self._artifact.p4info)
            config.p4_device_config = self._artifact.device_config
            config.cookie.cookie = self._artifact.cookie
            arbitration = p4r.StreamMessageRequest()
            arbitration.arbitration.device_id = DEVICE
            arbitration.arbitration.election_id.low = 1
            stub = p4r_grpc.P4RuntimeStub(channel)
            said = threading.Event()

            def requests() -> Iterator[p4r.StreamMessageRequest]:
                yield arbitration
                said.wait()

            stream = stub.StreamChannel(requests())
            next(stream)
            stub.SetForwardingPipelineConfig(request)
            said.set()
            stream.cancel()
        return port

    def _pass(self) -> None:
        began, second = time.monotonic(), 0
        while not self._ended.is_set():
            for number in list(self._passing):
                self._pass_through(number)
            second += 1
            self._ended.wait(max(0.0, began + second - time.monotonic()))

    def _pass_through(self, number: int) -> None:
        network = Network(1)
        network.add_switch(self.switches[number])
        start = self._second[number] * SECOND_NS
        frames = [(start + each * SECOND_NS // FRAMES, frame(each % CLASSES)) for each in range(FRAMES)]
        network.add_replay("source", frames)
        network.connect("source", 0, self.switches[number].name, 1)
        self._second[number] += 1
        network.run(self._second[number] * SECOND_NS)


@dataclass
class Standing:
    """The process of a fleet: addresses of its switches, and the program that they run."""

    process: subprocess.Popen[str]
    addresses: Sequence[str]
    artifact: Path
    p4info: Path

    @property
    def program(self) -> list[str]:
        """Options of a command that name the program."""
        return ["--artifact", str(self.artifact), "--p4info", str(self.p4info)]

    def say(self, line: str) -> None:
        """Send it a line, such as ``traffic 3``."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def inventory(self, folder: Path, policies: Sequence[Path], groups: int = 10) -> Path:
        """Write an inventory in which switches take the policies in turn, and stand in so many groups."""
        lines = ["phb-inventory: 1", "switches:"]
        for number, address in enumerate(self.addresses):
            policy = policies[number % len(policies)]
            lines += [
                f"  - {{name: s{number}, address: '{address}', policies: ['{policy}'], groups: [g{number % groups}]}}"
            ]
        path = folder / "inventory.yaml"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path


@contextmanager
def standing(count: int, folder: Path) -> Iterator[Standing]:
    """Give a process of so many switches; the program's files are in the folder."""
    command = [sys.executable, "-m", "benchmarks.fleet.standing", str(count), str(folder)]
    # Without it, each thread that loads a program keeps memory of its own.
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"the switches ended with {process.wait()}")
            addresses = [f"127.0.0.1:{port}" for port in json.loads(line)]
            yield Standing(process, addresses, folder / "fleet.json", folder / "fleet.p4info.txtpb")
        finally:
            process.kill()


def stand(count: int, folder: Path) -> None:
    """Stand for so many switches until standard input ends."""
    artifact = Artifact.load(*program.write(folder))
    with Fleet(count, artifact) as fleet:
        print(json.dumps(fleet.ports), flush=True)
        for line in sys.stdin:
            what, number = line.split()
            {"traffic": fleet.traffic, "stop": fleet.stop}[what](int(number))


if __name__ == "__main__":
    stand(int(sys.argv[1]), Path(sys.argv[2]))
