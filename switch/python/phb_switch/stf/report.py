"""Results of pairs as text and JSON."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from rich.console import Console
from rich.table import Table
from rich.text import Text

from phb_switch.stf.compare import Difference, rows
from phb_switch.stf.pairs import Pair

_MOST_FAILURES = 10


class Status(StrEnum):
    """Outcome of a pair."""

    PASSED = "passed"
    FAILED = "failed"
    REFUSED = "refused"
    """The switch doesn't load the program."""
    BAD_INPUT = "bad input"
    """The STF file is none, or p4c doesn't compile the program."""
    SKIPPED = "skipped"
    """The program is not written for v1model."""


_COLOURS = {Status.PASSED: "green", Status.FAILED: "red", Status.REFUSED: "red", Status.BAD_INPUT: "magenta"}


@dataclass(frozen=True)
class Result:
    """The result of one pair."""

    pair: Pair
    status: Status
    packets: int = 0
    reason: str = ""
    failures: Sequence[Difference] = ()
    elsewhere: dict[int, int] = field(default_factory=dict)


def exit_code(results: Sequence[Result]) -> int:
    """0 if all passed, 2 if there was bad input, else 1."""
    statuses = {result.status for result in results}
    if Status.BAD_INPUT in statuses:
        return 2
    return 1 if statuses & {Status.FAILED, Status.REFUSED} else 0


def summary(results: Sequence[Result]) -> str:
    """Counts by status, in one line."""
    counts = Counter(result.status for result in results)
    ran = len(results) - counts[Status.SKIPPED]
    others = [f"{counts[status]} {status}" for status in Status if counts[status] and status is not Status.PASSED]
    return ", ".join([f"{counts[Status.PASSED]} of {ran} passed", *others])


def print_report(results: Sequence[Result], console: Console) -> None:
    """Prints all failures, a table of several pairs, and the summary."""
    for result in results:
        _print_failures(result, console)
    if len(results) > 1:
        table = Table(box=None, pad_edge=False)
        for column in ("program", "result", "packets", "why"):
            table.add_column(column, justify="right" if column == "packets" else "left", overflow="fold")
        for result in results:
            status = Text(result.status, style=_COLOURS.get(result.status, ""))
            table.add_row(result.pair.stf.stem, status, str(result.packets or ""), Text(why(result)))
        console.print(table)
    console.print(summary(results), highlight=False)


def why(result: Result) -> str:
    """Reason for a failure, or a remark, in one line."""
    if result.failures:
        more = f" (and {len(result.failures) - 1} more)" if len(result.failures) > 1 else ""
        return f"line {result.failures[0].line}: {result.failures[0].message}{more}"
    if result.elsewhere:
        counts = ", ".join(f"{count} on {port}" for port, count in result.elsewhere.items())
        return f"packets on ports that the file doesn't name: {counts}"
    # The whole reason is above the table.
    return result.reason.partition("\n")[0].removeprefix(f"{result.pair.program}: ")


def _print_failures(result: Result, console: Console) -> None:
    if result.reason and result.status is not Status.SKIPPED:
        console.print(Text(result.reason, style=_COLOURS.get(result.status, "")), soft_wrap=True)
    for failure in result.failures[:_MOST_FAILURES]:
        console.print(Text(f"{result.pair.stf}:{failure.line}: {failure.message}", style="red"), soft_wrap=True)
        for row in rows(failure):
            console.print(Text(f"  {row}"), soft_wrap=True)
    if len(result.failures) > _MOST_FAILURES:
        console.print(f"{result.pair.stf}: {len(result.failures) - _MOST_FAILURES} more failures", highlight=False)


def as_json(results: Sequence[Result]) -> str:
    """The results as a JSON document."""
    return json.dumps(
        {
            "summary": dict(Counter(result.status for result in results)),
            "results": [
                {
                    "program": str(result.pair.program),
                    "stf": str(result.pair.stf),
                    "status": result.status,
                    "packets": result.packets,
                    "reason": result.reason,
                    "failures": [
                        {
                            "line": failure.line,
                            "message": failure.message,
                            "expected": failure.expected,
                            "got": None if failure.got is None else failure.got.hex(),
                            "byte": failure.byte,
                        }
                        for failure in result.failures
                    ],
                    "elsewhere": {str(port): count for port, count in result.elsewhere.items()},
                }
                for result in results
            ],
        },
        indent=2,
    )
