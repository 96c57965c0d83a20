"""Run the statements of one file on a switch, by virtual time."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from phb_switch._native import PortConfig, Switch
from phb_switch.stf.compare import Difference, Sent, compare
from phb_switch.stf.control import Control
from phb_switch.stf.parser import HIGHEST_PORT
from phb_switch.stf.statements import (
    Add,
    CheckCounter,
    Command,
    Expect,
    NoPacket,
    Packet,
    Remove,
    SetDefault,
    Statement,
    StatementError,
    Wait,
)

_BETWEEN_PACKETS_NS = 1_000_000
_WAIT_NS = 1_000_000_000
# As many as there are values of `standard_metadata.priority`.
_QUEUES = 8


@dataclass
class Outcome:
    """What a run found; it passed if there are no failures."""

    packets: int = 0
    failures: list[Difference] = field(default_factory=list)
    elsewhere: dict[int, int] = field(default_factory=dict)
    """Packets that left on ports that the file doesn't name, which p4c's runner doesn't see, by port."""


def run(artifact: str, statements: Sequence[Statement], seed: int = 1) -> Outcome:
    """Loads a program and runs a file's statements on it.

    Raises:
        LoadError: the switch refuses the program.

    """
    switch = Switch("stf", {port: PortConfig(queues=_QUEUES) for port in range(HIGHEST_PORT + 1)}, seed=seed)
    switch.load(artifact)
    return _Run(switch, Control(switch, artifact)).run(statements)


class _Run:
    def __init__(self, switch: Switch, control: Control) -> None:
        self._switch = switch
        self._control = control
        self._now = 0
        self._sent: dict[int, list[Sent]] = defaultdict(list)
        self._expected: dict[int, list[Expect]] = defaultdict(list)
        self._last: list[tuple[int, bytes]] = []
        self._outcome = Outcome()

    def run(self, statements: Sequence[Statement]) -> Outcome:
        for statement in statements:
            try:
                self._step(statement)
            except (StatementError, KeyError, IndexError, ValueError) as error:
                message = error.args[0] if error.args else str(error)
                self._outcome.failures.append(Difference(statement.line, str(message)))
        named = {each.port for each in statements if isinstance(each, Packet | Expect)}
        for port in sorted(named):
            self._outcome.failures += compare(port, self._expected[port], self._sent[port])
        self._outcome.failures.sort(key=lambda failure: failure.line)
        self._outcome.elsewhere = {port: len(sent) for port, sent in sorted(self._sent.items()) if port not in named}
        return self._outcome

    def _step(self, statement: Statement) -> None:
        match statement:
            case Packet():
                self._packet(statement)
            case Expect():
                self._expected[statement.port].append(statement)
            case NoPacket():
                if self._last:
                    port, frame = self._last[0]
                    message = f"expected no packet, but port {port} sent one"
                    self._outcome.failures.append(Difference(statement.line, message, got=frame))
            case Wait():
                self._now += _WAIT_NS
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

    def _packet(self, statement: Packet) -> None:
        self._now += _BETWEEN_PACKETS_NS
        self._outcome.packets += 1
        sent = self._switch.process(statement.port, statement.data, self._now)
        self._last = [(port, frame) for _, port, frame in sent]
        for time, port, frame in sent:
            self._now = max(self._now, time)
            self._sent[port].append(Sent(statement.line, bytes(frame)))
