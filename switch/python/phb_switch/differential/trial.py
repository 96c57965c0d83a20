"""A case on both switches, its entries written by P4Runtime and by Thrift, and what differs."""

from dataclasses import dataclass, field

from finsy.proto import p4i

from phb_switch import LoadError
from phb_switch.differential.cases import Case
from phb_switch.stf import bmv2, p4runtime, thrift
from phb_switch.stf.client import RefusedError
from phb_switch.stf.compare import Sent, compare
from phb_switch.stf.runner import RunResult
from phb_switch.stf.statements import Expect, SendPacket

P4RUNTIME, THRIFT = "P4Runtime", "Thrift"
OURS, BMV2 = "phb-switch", "bmv2"
# So many bmv2s may end until a case is given up.
_ENDS = 4


@dataclass(frozen=True)
class Difference:
    """What differs between two runs of a case, in words.

    Attributes:
        runs: the two
        line: of the case's statements, 0 for what isn't of a line
        message: what differs
        port: that of a frame
        expected: the frame of the first run
        got: that of the second one
    """

    runs: tuple[str, str]
    line: int
    message: str
    port: int | None = None
    expected: str | None = None
    got: str | None = None

    @property
    def place(self) -> tuple[int, int | None, str]:
        """Where it is: line, port, and, if it is of neither, the counter's or register's name."""
        return self.line, self.port, "" if self.line else self.message.partition(",")[0]

    @property
    def is_of_statement(self) -> bool:
        """Whether it is a statement that one of the two refuses."""
        return self.line > 0 and self.port is None

    @property
    def is_of_bmv2(self) -> bool:
        """Whether it is one between bmv2 and ours, not between two runs of ours."""
        return self.runs[1].startswith(BMV2)

    @property
    def plane(self) -> str:
        """The control plane of the second run."""
        return self.runs[1].partition(", ")[2]


@dataclass
class Outcome:
    """What a case's runs came to, by control plane; of bmv2's alone but for `not_loaded`.

    Attributes:
        case: what was to run
        ran: what did, where bmv2 has ended and its packets up to there ran anew
        differences: in the order of the runs
        ended: how bmv2 ended
        not_loaded: what either switch said to the program
    """

    case: Case
    ran: dict[str, Case] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    ended: dict[str, str] = field(default_factory=dict)
    not_loaded: dict[str, str] = field(default_factory=dict)

    @property
    def compared(self) -> int:
        """Frames that bmv2 was given, and ours."""
        return sum(each.packets for each in self.ran.values())


def ours(case: Case, plane: str, artifact: str | None = None) -> RunResult:
    """Our switch's run of a case, also with another artifact in place of the program's.

    Raises:
        RefusedError: our server takes the p4info not, or not with this artifact.
        LoadError: our switch doesn't take the artifact.
    """
    program = artifact or case.program.artifact
    if plane == THRIFT:
        return thrift.run(program, case.statements, reads_state=True)
    return p4runtime.run(program, _info(case), case.statements, reads_state=True)


def theirs(case: Case, plane: str, expected: RunResult, artifact: str | None = None) -> RunResult:
    """bmv2's run of a case, with as much patience as is needed for what ours sent; `artifact` as for `ours`.

    Raises:
        RefusedError: bmv2 doesn't take program or p4info.
        EndedError: bmv2 has ended.
    """
    counts, program = _counts(case, expected), artifact or case.program.artifact
    if plane == THRIFT:
        return bmv2.run_by_thrift(program, case.statements, counts, reads_state=True)
    return bmv2.run(program, _info(case), case.statements, counts, reads_state=True)


def tried(case: Case) -> Outcome:
    """A case on both switches by both control planes; a difference from bmv2 is one if a second run has it, too."""
    outcome = Outcome(case)
    results: dict[str, RunResult] = {}
    for plane in (P4RUNTIME, THRIFT) if case.program.info is not None else (THRIFT,):
        try:
            results[plane] = ours(case, plane)
        except (RefusedError, LoadError) as error:
            outcome.not_loaded[f"{OURS}, {plane}"] = _line(error)
    if len(results) == 2 and not any(result.refused for result in results.values()):
        names = (f"{OURS}, {P4RUNTIME}", f"{OURS}, {THRIFT}")
        outcome.differences += compared_runs(results[P4RUNTIME], results[THRIFT], names)
    for plane, expected in results.items():
        _on_bmv2(outcome, plane, expected)
    return outcome


def _on_bmv2(outcome: Outcome, plane: str, expected: RunResult) -> None:
    case = outcome.case
    for _ in range(_ENDS):
        try:
            found = differences_from_bmv2(case, plane, expected)
        except bmv2.EndedError as error:
            outcome.ended.setdefault(plane, str(error))
            # What came before is compared without the frame at which it ended.
            if error.taken < 2:
                return
            case = case.first(error.taken - 1)
            expected = ours(case, plane)
        except RefusedError as error:
            outcome.not_loaded[f"{BMV2}, {plane}"] = _line(error)
            return
        else:
            outcome.ran[plane] = case
            outcome.differences += found
            refused = {each.line for each in found if each.is_of_statement}
            if not refused:
                return
            # Whatever else differs may be for that reason.
            outcome.differences = [each for each in outcome.differences if each.plane != plane or each.is_of_statement]
            case = case.without(refused)
            expected = ours(case, plane)


def differences_from_bmv2(case: Case, plane: str, expected: RunResult, artifact: str | None = None) -> list[Difference]:
    """What bmv2 does otherwise than a run of ours, twice; `artifact` is for bmv2, in place of the program's."""
    names = (f"{OURS}, {plane}", f"{BMV2}, {plane}")
    found = compared_runs(expected, theirs(case, plane, expected, artifact), names)
    if not found:
        return []
    # Frames may come too late for a busy machine.
    again = compared_runs(expected, theirs(case, plane, expected, artifact), names)
    places = {each.place for each in again}
    return [each for each in found if each.place in places]


def compared_runs(one: RunResult, other: RunResult, names: tuple[str, str]) -> list[Difference]:
    """What differs between two runs: refused statements, frames by port in their order, counters and registers."""
    found = [
        Difference(names, line, f"statement: {_told(names[0], one, line)}, {_told(names[1], other, line)}")
        for line in sorted(one.refused.keys() ^ other.refused.keys())
    ]
    for port in sorted(one.sent.keys() | other.sent.keys()):
        expected = [Expect(each.line, port, each.frame.hex(), True) for each in one.sent.get(port, ())]
        for each in compare(port, expected, other.sent.get(port, [])):
            got = None if each.got is None else each.got.hex()
            found.append(Difference(names, each.line, each.message, port, each.expected, got))
    for name in one.state.keys() & other.state.keys():
        if one.state[name] != other.state[name]:
            pairs = list(zip(one.state[name], other.state[name], strict=False))
            cell = next((at for at, (a, b) in enumerate(pairs) if a != b), len(pairs))
            told = f"{pairs[cell][0]} and {pairs[cell][1]}" if cell < len(pairs) else "of different lengths"
            found.append(Difference(names, 0, f"{name}, cell {cell}: {told}"))
    return sorted(found, key=lambda each: (each.line, each.port or 0, each.message))


def _told(name: str, run: RunResult, line: int) -> str:
    return f"{name} refuses ({run.refused[line]})" if line in run.refused else f"{name} doesn't"


def _counts(case: Case, result: RunResult) -> list[int]:
    lines = [each.line for each in case.statements if isinstance(each, SendPacket)]
    sent: list[Sent] = [each for of_port in result.sent.values() for each in of_port]
    return [sum(each.line == line for each in sent) for line in lines]


def _info(case: Case) -> p4i.P4Info:
    assert case.program.info is not None
    return case.program.info


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0]
