"""A switch, `phb push` and `phb router` as processes of their own, to be killed and started anew."""

import json
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from .hosts import PROCESS_ENVIRONMENT

PHB = [sys.executable, "-m", "phb"]
WITHIN_S = 30


class Process:
    """One that says what happens in lines of JSON."""

    def __init__(self, stack: ExitStack, *command: str) -> None:
        self.process = subprocess.Popen(command, env=PROCESS_ENVIRONMENT, stdout=subprocess.PIPE, bufsize=0)
        stack.callback(self.stop)

    def line(self) -> dict[str, str]:
        assert select.select([self.process.stdout], [], [], WITHIN_S)[0], "says nothing"
        return json.loads(self.process.stdout.readline())

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if not self.process.stdout.closed:
            self.process.send_signal(how)
            self.process.communicate(timeout=WITHIN_S)


class Switch(Process):
    """`phb-switch` with its ports on interfaces."""

    def __init__(
        self, stack: ExitStack, *interfaces: str, address: str = "127.0.0.1:0", options: Sequence[str] = ()
    ) -> None:
        ports = [part for interface in interfaces for part in ("-i", interface)]
        command = [sys.executable, "-m", "phb_switch", "--no-p4", "--json", "--device-id", "1", *ports]
        super().__init__(stack, *command, "--cpu-port", "510", "--grpc-server-addr", address, *options)
        self.address = self.line()["grpc_server_addr"]


class Router(Process):
    """`phb router` beside a switch."""

    def __init__(self, stack: ExitStack, address: str, *options: str) -> None:
        super().__init__(stack, *PHB, "router", "--json", "--address", address, *options)

    def until(self, event: str) -> None:
        """Wait for an event."""
        while self.line()["event"] != event:
            pass

    def resident_bytes(self) -> int:
        """Memory."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def push(address: str, policy: Path, *options: str) -> None:
    subprocess.run([*PHB, "push", "--address", address, *options, policy], env=PROCESS_ENVIRONMENT, check=True)
