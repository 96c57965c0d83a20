"""Run the statements of a file, on a switch of this process in virtual time or on any other."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from phb_switch import ExecutorName
from phb_switch._native import PortConfig, Switch
from phb_switch.stf.compare import Difference, Sent, compare
from phb_switch.stf.control import Control
from phb_switch.stf.parser import HIGHEST_PORT
from phb_switch.stf.plane import InProcess, Plane
from phb_switch.stf.statements import (
    Add,
    CheckCounter,
    Command,
    Expect,
    NoPacket,
    Remove,
    SendPacket,
    SetDefault,
    Statement,
    StatementError,
    Wait,
)

_BETWEEN_PACKETS_NS = 1_000_000
_WAIT_NS = 1_000_000_000
# One per value of `standard_metadata.priority`.
_QUEUES = 8
_WHOLE_FRAMES = 65_535


@dataclass
class RunResult:
    """The result of a run; it passed if there are no failures."""

    packets: int = 0
    failures: list[Difference] = field(default_factory=list)
    elsewhere: dict[int, int] = field(default_factory=dict)
    """Packets that left on ports that the file doesn't name, which p4c's runner doesn't see, by port."""
    refused: dict[int, str] = field(default_factory=dict)
    """Statements that weren't carried out, and why, by line."""
    sent: dict[int, list[Sent]] = field(default_factory=lambda: defaultdict(list))
    """All packets that left, by port."""
    state: dict[str, list[tuple[int, int]] | list[int]] = field(default_factory=dict)
    """What counters and registers hold after the last packet, where it was asked for."""


class Device(Protocol):
    """A switch that takes packets."""

    def process(self, port: int, data: bytes) -> Sequence[tuple[int, bytes]]:
        """Receives a frame; gives sent frames with their ports, in order."""

    def wait(self) -> None:
        """Lets a second pass."""

    def rest(self) -> Sequence[tuple[int, bytes]]:
        """Frames sent late, after the last received one."""


class VirtualTime:
    """A switch of this process; a millisecond passes from one packet to the next."""

    def __init__(self, switch: Switch) -> None:
        self._switch = switch
        self._now = 0

    def process(self, port: int, data: bytes) -> Sequence[tuple[int, bytes]]:
        """Receives a frame."""
        self._now += _BETWEEN_PACKETS_NS
        sent = self._switch.process(port, data, self._now)
        self._now = max([self._now, *(time for time, _, _ in sent)])
        return [(to, bytes(frame)) for _, to, frame in sent]

    def wait(self) -> None:
        """Lets a second pass."""
        self._now += _WAIT_NS

    def rest(self) -> Sequence[tuple[int, bytes]]:
        """None: no frames leave late."""
        return ()


class Traced(VirtualTime):
    """The same; the traces of its packets, lines of JSON with whole frames, are handed on."""

    def __init__(self, switch: Switch, tell: Callable[[str], object]) -> None:
        super().__init__(switch)
        self._traces = switch.trace(frame_bytes=_WHOLE_FRAMES)
        self._tell = tell

    def process(self, port: int, data: bytes) -> Sequence[tuple[int, bytes]]:
        """Receives a frame."""
        sent = super().process(port, data)
        for line in self._traces.take_lines():
            self._tell(f"{line}\n")
        return sent


def new_switch(seed: int, executor: ExecutorName | None = None, name: str = "stf") -> Switch:
    """A switch with every port that a file may name; ValueError if this build doesn't have the executor."""
    ports = {port: PortConfig(queues=_QUEUES) for port in range(HIGHEST_PORT + 1)}
    return Switch(name, ports, seed=seed, executor=executor)


def run(
    artifact: str,
    statements: Sequence[Statement],
    seed: int = 1,
    executor: ExecutorName | None = None,
    name: str = "stf",
    trace: Callable[[str], object] | None = None,
) -> RunResult:
    """Loads a program and runs a file's statements on it; LoadError if the switch refuses the program.

    `trace` gets a line of JSON for each packet, whose switch has the `name`.
    """
    switch = new_switch(seed, executor, name)
    switch.load(artifact)
    device = VirtualTime(switch) if trace is None else Traced(switch, trace)
    return run_on(device, InProcess(switch, artifact), statements)


def run_on(device: Device, plane: Plane[Any], statements: Sequence[Statement], reads_state: bool = False) -> RunResult:
    """Runs a file's statements on a device that has its program."""
    control = Control(plane)
    outcome = _Run(device, control).run(statements)
    if reads_state:
        outcome.state = control.state()
    return outcome


class _Run:
    def __init__(self, device: Device, control: Control[Any]) -> None:
        self._device = device
        self._control = control
        self._expected: dict[int, list[Expect]] = defaultdict(list)
        self._last: list[tuple[int, bytes]] = []
        self._outcome = RunResult()
        self._sent = self._outcome.sent

    def run(self, statements: Sequence[Statement]) -> RunResult:
        for statement in statements:
            try:
                self._step(statement)
            except (StatementError, KeyError, IndexError, ValueError) as error:
                message = error.args[0] if error.args else str(error)
                self._outcome.failures.append(Difference(statement.line, str(message)))
                self._outcome.refused[statement.line] = str(message)
        for port, frame in self._device.rest():
            self._sent[port].append(Sent(max((each.line for each in statements), default=0), frame))
        named = {each.port for each in statements if isinstance(each, SendPacket | Expect)}
        for port in sorted(named):
            self._outcome.failures += compare(port, self._expected[port], self._sent[port])
        self._outcome.failures.sort(key=lambda failure: failure.line)
        self._outcome.elsewhere = {port: len(sent) for port, sent in sorted(self._sent.items()) if port not in named}
        return self._outcome

    def _step(self, statement: Statement) -> None:
        match statement:
            case SendPacket():
                self._packet(statement)
            case Expect():
                self._expected[statement.port].append(statement)
            case NoPacket():
                if self._last:
                    port, frame = self._last[0]
                    message = f"expected no packet, but port {port} sent one"
                    self._outcome.failures.append(Difference(statement.line, message, got=frame))
            case Wait():
                self._device.wait()
            case Add():
                self._control.add(statement)
            case SetDefault():
                self._control.set_default(statement)
            case Remove():
                self._control.remove(statement)
            case CheckCounter():
                wrong = self._control.check_counter(statement)
                if wrong is not None:
                    self._outcome.failures.append(Difference(statement.line, wrong))
            case Command():
                self._control.command(statement)

    def _packet(self, statement: SendPacket) -> None:
        self._outcome.packets += 1
        self._last = list(self._device.process(statement.port, statement.data))
        for port, frame in self._last:
            self._sent[port].append(Sent(statement.line, frame))
