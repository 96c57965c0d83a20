"""Debian's snmpd and snmptrapd on loopback, with files of their own, and net-snmp's commands."""

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from seen import free_udp_port

WITHIN_S = 60
CONTEXTS = ("edge", "core")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "MIBDIRS"} | {"MIBS": ""}

COMMANDS = ("snmpd", "snmptrapd", "snmpwalk", "snmpset", "snmptable")
MISSING = [name for name in COMMANDS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]


@contextmanager
def running(directory: Path, configuration: Callable[["Daemons"], str] | None = None) -> Iterator["Daemons"]:
    """Both daemons until the end; where they are missing the test is skipped."""
    if MISSING:
        pytest.skip(f"without {', '.join(MISSING)} (Debian's snmpd, snmptrapd, snmp)")
    daemons = Daemons(directory, configuration)
    yield daemons
    daemons.close()


class Daemons:
    """One snmpd whose traps go to one snmptrapd; a community is the context of its name, `public` the default one."""

    def __init__(self, directory: Path, configuration: Callable[["Daemons"], str] | None = None) -> None:
        self.directory = directory
        self.socket = directory / "agentx"
        self.port, self.trap_port = free_udp_port(), free_udp_port()
        self.traps = directory / "traps"
        self.environment = ENVIRONMENT | {"SNMP_PERSISTENT_DIR": str(directory / "persistent")}
        (directory / "snmpd.conf").write_text((configuration or Daemons.configuration)(self))
        (directory / "snmptrapd.conf").write_text("disableAuthorization yes\n")
        self.snmpd = self.snmptrapd = None
        self.start_traps()
        self.start()

    def configuration(self) -> str:
        communities = "\n".join(f"com2sec -Cn {name} of-a-switch 127.0.0.1 {name}" for name in CONTEXTS)
        return f"""
            agentAddress udp:127.0.0.1:{self.port}
            master agentx
            agentXSocket {self.socket}
            com2sec everybody 127.0.0.1 public
            {communities}
            group readers v2c everybody
            group of-switches v2c of-a-switch
            view all included .1
            access readers "" any noauth exact all all none
            access of-switches "" any noauth prefix all all none
            trap2sink 127.0.0.1:{self.trap_port} public
            """

    def start(self) -> None:
        self.snmpd = self._start("snmpd", "-I", "-ifTable", "-Lf", str(self.directory / "snmpd.log"))
        self._until(self.socket.exists)

    def start_traps(self) -> None:
        self.traps.unlink(missing_ok=True)
        # One line a trap, after a word by which it is told from others.
        form = ["-F", "TRAP %v\n", "-Onx", "-Lf", str(self.traps)]
        self.snmptrapd = self._start("snmptrapd", *form, f"udp:127.0.0.1:{self.trap_port}")
        self._until(lambda: self.traps.exists() and "NET-SNMP" in self.traps.read_text())

    def stop(self, daemon: str, how: signal.Signals = signal.SIGTERM) -> None:
        process = getattr(self, daemon)
        process.send_signal(how)
        process.wait(WITHIN_S)

    def close(self) -> None:
        for daemon in ("snmpd", "snmptrapd"):
            if getattr(self, daemon).poll() is None:
                self.stop(daemon)

    def told(self) -> list[str]:
        """What snmptrapd has got of ours; snmpd tells of its own start and end, too."""
        lines = self.traps.read_text().splitlines()
        return [line for line in lines if line.startswith("TRAP ") and "OID: .1.3.6.1.3.88.0." in line]

    def _start(self, name: str, *options: str) -> subprocess.Popen:
        command = [shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin"), "-f", "-C"]
        command += ["-c", str(self.directory / f"{name}.conf"), "-p", str(self.directory / f"{name}.pid"), *options]
        return subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL)

    def _until(self, ready) -> None:
        end = time.monotonic() + WITHIN_S
        while not ready():
            assert time.monotonic() < end, "doesn't start"
            time.sleep(0.02)

    async def ask(
        self,
        command: str,
        *arguments: str,
        community: str = "public",
        identity: Sequence[str] = (),
        good: bool = True,
    ) -> list[str]:
        """Run one of net-snmp's commands beside the agent; give its lines, of stderr where it fails."""
        options = [*(identity or ("-v2c", "-c", community)), "-t", "5", "-r", "1"]
        if command != "snmptable":
            options.append("-On")
        process = await asyncio.create_subprocess_exec(
            command,
            *options,
            f"127.0.0.1:{self.port}",
            *arguments,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        output, errors = await process.communicate()
        assert (process.returncode == 0) is good, (command, arguments, output, errors)
        return (output if good else errors).decode().splitlines()


async def until(true, what: str = "") -> None:
    """Wait in the event loop."""
    end = time.monotonic() + WITHIN_S
    while not true():
        assert time.monotonic() < end, f"not within {WITHIN_S} s: {what}"
        await asyncio.sleep(0.01)
