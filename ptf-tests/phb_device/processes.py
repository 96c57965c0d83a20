"""Switches under test that are processes: started with one command line, waited for, and ended."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from phb_device.control import CPU_PORT, DEVICE_ID, ControlError
from phb_switch import ExecutorName

STARTS_WITHIN_S = 20.0
_ENDS_WITHIN_S = 10.0


def phb_switch_command(executor: ExecutorName | None = None) -> list[str]:
    """Return the command of the embedded switch, of this Python environment."""
    command = [sys.executable, "-m", "phb_switch"]
    return command if executor is None else [*command, "--executor", executor]


def bmv2_command() -> list[str]:
    """Return the command of bmv2's switch.

    Raises:
        ControlError: It isn't installed, or doesn't start.
    """
    reason = bmv2_missing()
    if reason:
        raise ControlError(reason)
    return ["simple_switch_grpc"]


def bmv2_missing() -> str:
    """Say why there is no bmv2 here; empty if there is."""
    if shutil.which("simple_switch_grpc") is None:
        return "simple_switch_grpc is not on the PATH"
    if subprocess.run(["simple_switch_grpc", "--version"], capture_output=True, check=False).returncode != 0:
        return "simple_switch_grpc does not start"
    return ""


def free_port() -> int:
    """Return a free TCP port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def dies_with_us(command: Sequence[str]) -> list[str]:
    """Return the command as a process that ends with the thread that started it, also where that was killed.

    Without setpriv (util-linux) it is just the command.
    """
    return [*(["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []), *command]


class SwitchProcess:
    """A running switch.

    With `bmv2` it has a Thrift port (`thrift_port`), as two with one Thrift port end each other; with `data_plane`
    frames come and go over gRPC at `data_address` (bmv2 only).

    Raises:
        ControlError: It doesn't start; with the last lines that it printed.
    """

    def __init__(
        self,
        command: Sequence[str],
        interfaces: Sequence[str] = (),
        *,
        bmv2: bool = False,
        data_plane: bool = False,
    ) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self.data_address = f"127.0.0.1:{free_port()}" if data_plane else ""
        self.thrift_port = free_port() if bmv2 else 0
        line = [*command, "--no-p4", "--device-id", str(DEVICE_ID)]
        for interface in interfaces:
            line += ["-i", interface]
        if bmv2:
            line += ["--thrift-port", str(self.thrift_port)]
        line += ["--", "--cpu-port", str(CPU_PORT), "--grpc-server-addr", self.address]
        if bmv2:
            line += ["--priority-queues", "8"]
        if data_plane:
            line += ["--dp-grpc-server-addr", self.data_address]
        self._line = line
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            dies_with_us(self._line), stdout=self._log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
        try:
            for address in filter(None, (self.address, self.data_address)):
                self._await(address)
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def ended(self) -> str:
        """How it has ended, with its last line; empty while it runs."""
        code = self._process.poll()
        return "" if code is None else f"exit code {code}: {self._said()}"

    def kill(self) -> None:
        """End it by SIGKILL, as a crash would."""
        self._process.kill()
        self._process.wait()

    def end(self) -> str:
        """End it by SIGTERM; return all that it has printed."""
        self._end()
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def restart(self) -> None:
        """End it and start it again, with the same addresses and without a program.

        Raises:
            ControlError: It doesn't start.
        """
        self._end()
        self._start()

    def stop(self) -> None:
        """End it."""
        self._end()
        self._log.close()

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _await(self, address: str) -> None:
        deadline = time.monotonic() + STARTS_WITHIN_S
        host, _, port = address.rpartition(":")
        name = Path(self._line[0]).name
        while True:
            with socket.socket() as probe:
                if probe.connect_ex((host, int(port))) == 0:
                    return
            if self._process.poll() is not None:
                raise ControlError(f"{name} has ended: {self._said()}")
            if time.monotonic() > deadline:
                raise ControlError(f"{name} does not listen on {address}: {self._said()}")
            time.sleep(0.02)

    def _said(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"
