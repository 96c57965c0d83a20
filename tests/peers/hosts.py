"""The hosts of a running Mininet network, and what is done on them."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until something holds, at most so long."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)


class Hosts:
    """The hosts of the running network, by name."""

    def __init__(self, network: Any) -> None:
        self.network = network
        self.begun = 0
        Path("logs").mkdir(exist_ok=True)

    def run(self, host: str, command: str) -> str:
        """Run a command on a host and give its output."""
        return str(self.network.get(host).cmd(f"{command} 2>&1"))

    def begin(self, host: str, command: str) -> Path:
        """Start a command on a host and give the file with its output."""
        self.begun += 1
        output = Path("logs") / f"{host}-{self.begun}.txt"
        output.touch()
        self.network.get(host).cmd(f"{command} > {output} 2>&1 &")
        return output

    def python(self, host: str, command: str) -> str:
        """Run a script of the exercise on a host."""
        return self.run(host, f"{sys.executable} {command}")

    def listen(self, host: str) -> Path:
        """Start the exercise's ``receive.py`` on a host; it takes a moment until it listens."""
        output = self.begin(host, f"{sys.executable} -u receive.py")
        until(lambda: "sniffing" in output.read_text())
        # It says so before it does.
        time.sleep(2)
        return output

    def lost(self) -> float:
        """The part of pings between all hosts that gets no answer, in percent."""
        return float(self.network.pingAll())

    def replies(self, host: str, address: str, count: int) -> int:
        """How many of a host's pings to an address are answered."""
        said = self.run(host, f"ping -c {count} -i 0.5 -W 2 {address}")
        return int("".join(re.findall(r"(\d+) received", said)) or 0)

    def iperf(self, client: str, server: str, address: str, seconds: int = 2) -> str:
        """What iperf's client says of its rate, as ``9.5 Mbits/sec``; nothing if it got no connection."""
        self.begin(server, "iperf -s")
        said = self.run(client, f"timeout -k 1 {seconds + 40} iperf -f m -t {seconds} -c {address}")
        return "".join(re.findall(r"[\d.]+ Mbits/sec", said)[-1:])
