"""The interface of a tool, and how its processes are started."""

import asyncio
import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phb_lab.description import Flow, Host
from phb_lab.emulation.clock import Span
from phb_lab.emulation.jobs import Report

SECOND = 1_000_000_000


@dataclass(frozen=True)
class Context:
    """Where a tool works: ``host`` is that of its endpoint, ``folder`` is for files of its own."""

    host: Host
    span: Span
    report: Report
    folder: Path

    def stop_ns(self, flow: Flow) -> int:
        """When a flow ends."""
        stop = getattr(flow, "stop_ns", None)
        return self.span.duration_ns if stop is None else int(stop)

    async def until(self, at_ns: int) -> None:
        """Wait for a time of the run."""
        while (left := at_ns - self.span.now()) > 0:
            await asyncio.sleep(left / SECOND)


class Tool(ABC):
    """Takes flows of one kind.

    Attributes:
        name: what `--tool` calls it.
        what: the flows that it takes, for messages.
        commands: Debian's package by each command that it needs.
    """

    name: str
    what: str
    commands: dict[str, str]

    def missing(self) -> str | None:
        """Name what isn't installed; None if everything is."""
        for command, package in self.commands.items():
            if shutil.which(command) is None:
                return f"needs the command {command} (Debian: apt-get install {package})"
        return None

    @abstractmethod
    def takes(self, flow: Flow) -> bool:
        """Whether it can stand in for a flow."""

    @abstractmethod
    async def serve(self, number: int, flow: Flow, context: Context) -> None:
        """The server's side, from before the start until it is cancelled at the end of the run."""

    @abstractmethod
    async def ask(self, number: int, flow: Flow, context: Context) -> None:
        """The client's side, from the start of the run until it is cancelled at its end."""


async def start(command: Sequence[str], **streams: int | None) -> asyncio.subprocess.Process:
    """Start a process that ends with the endpoint, however that ends."""
    return await asyncio.create_subprocess_exec("setpriv", "--pdeathsig", "KILL", *command, **streams)  # type: ignore[arg-type]


async def end(process: asyncio.subprocess.Process) -> None:
    """End a process."""
    if process.returncode is None:
        process.kill()
        await process.wait()
