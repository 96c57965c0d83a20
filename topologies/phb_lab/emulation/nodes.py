"""Mininet's nodes as the lab needs them: a namespace each, and processes in it that never outlive the runner.

Import this module after :func:`phb_lab.emulation.mininet_package.load`.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mininet.link import Link
from mininet.node import Node, Switch

from phb_lab.emulation.leftovers import MARK, own_mark

# Runs in real time go before other work of the machine.
_NICENESS = "-10"

_PATIENCE_S = 5.0


class Member(Node):  # type: ignore[misc]
    """A namespace whose processes carry the run's mark, and end when the runner does, however it ends."""

    def __init__(self, name: str, **parameters: Any) -> None:
        self.children: list[subprocess.Popen[bytes]] = []
        super().__init__(name, **parameters)

    def _popen(self, command: Sequence[str], **parameters: Any) -> "subprocess.Popen[bytes]":
        environment = {**(parameters.pop("env", None) or os.environ), MARK: own_mark()}
        bound = ["setpriv", "--pdeathsig", "KILL", "nice", "-n", _NICENESS, *command]
        started: subprocess.Popen[bytes] = super()._popen(bound, env=environment, **parameters)
        return started

    def run(self, command: Sequence[str], *, log: Path) -> "subprocess.Popen[bytes]":
        """Start a process in the namespace, with its standard error in a file."""
        with log.open("wb") as stderr:
            child: subprocess.Popen[bytes] = self.popen(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
            )
        self.children.append(child)
        return child

    def quiet(self, command: str) -> None:
        """Run a command in the namespace's shell; what it prints is an error.

        Raises:
            RuntimeError: it printed something.
        """
        printed = self.cmd(command).strip()
        if printed:
            raise RuntimeError(f"{self.name}: {command}: {printed}")

    def end_children(self) -> None:
        """End what :meth:`run` started, gently first."""
        for child in self.children:
            child.terminate()
        for child in self.children:
            try:
                child.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    with contextlib.suppress(BrokenPipeError):
                        stream.close()
        self.children.clear()


class EmulatedHost(Member):
    """A host: its addresses on one interface, the machine's kernel as its stack."""


class EmulatedNode(Member):
    """A host adapter, SNA stations or a wire with a delay: a process that runs a node of virtual time."""


class EmulatedSwitch(Member, Switch):  # type: ignore[misc]
    """A P4 switch in a process of its own; controllers reach it by a socket in the file system."""

    def __init__(self, name: str, *, command: Sequence[str], log: Path, **parameters: Any) -> None:
        self._command = command
        self._log = log
        super().__init__(name, dpid="1", **parameters)

    def start(self, controllers: Sequence[Any]) -> None:
        """Start the switch."""
        self.run(self._command, log=self._log)

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803  (Mininet's name)
        """Stop the switch."""
        self.end_children()
        super().stop(deleteIntfs)


def join(network: Any, a: tuple[Member, int], b: tuple[Member, int], macs: Mapping[str, str]) -> None:
    """Join two ports by a veth pair; interface ``ethN`` is port N in each node's own namespace."""
    (first, port), (second, other) = a, b
    addresses = {key: macs[node.name] for key, node in (("addr1", first), ("addr2", second)) if node.name in macs}
    network.addLink(
        first,
        second,
        port,
        other,
        cls=Link,
        intfName1=f"eth{port}",
        intfName2=f"eth{other}",
        **addresses,
    )
