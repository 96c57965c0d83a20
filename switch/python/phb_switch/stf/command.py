"""The command `phb-switch stf`: test programs with packets, without interfaces, root or a clock."""

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, NoReturn, Self

import typer
from rich.console import Console
from rich.progress import track

from phb_switch import ExecutorName
from phb_switch._native import LoadError
from phb_switch.p4c import CompileError
from phb_switch.stf.pairs import Pair, PairError, artifact, other_architecture, pairs
from phb_switch.stf.parser import parse
from phb_switch.stf.report import Result, Status, as_json, exit_code, print_report
from phb_switch.stf.runner import run as run_statements
from phb_switch.stf.statements import StfError

_BAD_INPUT = 2

_EPILOG = "\n\n".join(
    (
        "Examples:",
        "phb-switch stf router.p4 router.stf",
        "phb-switch stf build/router.json router.stf",
        "phb-switch stf switch/programs --json",
        "phb-switch stf --executor interpreter switch/programs",
        "phb-switch stf router.json router.stf --trace traces.jsonl",
        "Exit codes: 0 all passed; 1 failures; 2 bad input.",
    )
)

app = typer.Typer(
    name="phb-switch stf",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class TraceError(Exception):
    """A file of traces that can't be opened or written."""


class Traces:
    """A file of traces. Its errors are TraceError, so that they aren't taken for those of other files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._named():
            self._file = path.open("w", encoding="utf-8")

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise TraceError(f"--trace {self._path}: {error.strerror}") from None

    def write(self, line: str) -> None:
        """Writes a line."""
        with self._named():
            self._file.write(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        with self._named():
            self._file.close()


def run_pair(
    pair: Pair,
    compiler_arguments: Sequence[str] = (),
    seed: int = 1,
    executor: ExecutorName | None = None,
    trace: Callable[[str], object] | None = None,
) -> Result:
    """Compiles a source, loads the program, and runs the file on it; `trace` gets a line of JSON for each packet."""
    try:
        statements = parse(pair.stf)
        if not pair.named and other_architecture(pair.program, compiler_arguments):
            return Result(pair, Status.SKIPPED, reason="not for v1model or PSA")
        loaded = artifact(pair.program, compiler_arguments)
        outcome = run_statements(loaded, statements, seed, executor, pair.stf.stem, trace)
    except (StfError, CompileError) as error:
        return Result(pair, Status.BAD_INPUT, reason=str(error))
    except OSError as error:
        return Result(pair, Status.BAD_INPUT, reason=f"{pair.program}: {error.strerror}")
    except UnicodeDecodeError:
        return Result(pair, Status.BAD_INPUT, reason=f"{pair.program}: not a program: it is not UTF-8")
    except LoadError as error:
        return Result(pair, Status.REFUSED, reason=f"{pair.program}: {error}")
    status = Status.FAILED if outcome.failures else Status.PASSED
    return Result(pair, status, outcome.packets, "", outcome.failures, outcome.elsewhere)


@app.command(epilog=_EPILOG, help="Test programs with STF files: packets to send, packets that have to leave.")
def command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PROGRAM STF | DIRECTORY ...",
            help="A program (.p4, which p4c compiles, or its .json) and its .stf, or a directory; repeatable.",
        ),
    ],
    p4c: Annotated[
        list[str] | None, typer.Option("--p4c", metavar="ARGUMENT", help="One more argument for p4c; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Seed of everything random in the programs.")] = 1,
    executor: Annotated[
        ExecutorName | None,
        typer.Option(
            help="What runs the programs: machine code where it can be made, or the interpreter.  (default: native)"
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what happened to each packet as lines of JSON; the switch's name is that of the test.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> int:
    """Runs all pairs and prints the results."""
    found = pairs(paths)
    progress = Console(stderr=True)
    # Only terminals show a bar.
    hidden = len(found) == 1 or not progress.is_terminal
    with Traces(trace) if trace else nullcontext() as traces:
        results = [
            run_pair(pair, p4c or [], seed, executor, traces.write if traces else None)
            for pair in track(found, "running", console=progress, disable=hidden, transient=True)
        ]
    if json:
        print(as_json(results))
    else:
        print_report(results, Console())
    return exit_code(results)


def run(arguments: Sequence[str]) -> int:
    """Runs the command with the arguments after `phb-switch stf`; returns the exit code."""
    try:
        return int(app(list(arguments), standalone_mode=False) or 0)
    except (PairError, TraceError) as error:
        print(f"phb-switch stf: {error}", file=sys.stderr)
    except typer.TyperException as error:
        print(f"phb-switch stf: {error.format_message()}", file=sys.stderr)
    return _BAD_INPUT


def main() -> NoReturn:
    """Entry point of `phb-switch-stf`, which `phb-switch stf` becomes."""
    # Names outside of the terminal's encoding are printed in ASCII, as on stderr.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError as error:
        print(f"phb-switch stf: standard output: {error.strerror}", file=sys.stderr)
        code = 1
        # Otherwise the interpreter fails with a traceback when it closes the rest of the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
