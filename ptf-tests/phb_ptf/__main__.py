"""`python -m phb_ptf`: the PTF suites on a switch that is started for them, and two targets' transcripts compared."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn

from phb_device import TARGETS, ControlError, Ports, own_namespace
from phb_ptf import compare as comparing
from phb_ptf import report, runner, transcript
from phb_ptf.transcript import Record
from phb_switch import ExecutorName

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
ALL = "all"

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)

_OUT = Path("out/ptf")


@app.command()
def run(
    selected: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SUITE|GROUP|SUITE.CASE]...", help="Which ones; all if none is named. '^NAME' excludes."
        ),
    ] = None,
    target: Annotated[
        str, typer.Option(help=f"{', '.join(TARGETS)}, or {ALL}: those that are here, compared.")
    ] = TARGETS[0],
    ports: Annotated[
        Ports | None, typer.Option(help="Real interfaces (root) or memory; interfaces where they can be had.")
    ] = None,
    executor: Annotated[
        ExecutorName | None, typer.Option(help="What runs phb-switch's programs; native code unless it is said.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for transcripts and logs.")] = _OUT,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Verdicts as JSON.")] = None,
    xunit: Annotated[Path | None, typer.Option(metavar="FILE", help="Verdicts as JUnit XML.")] = None,
) -> int:
    """Run suites.

    python -m phb_ptf run

    python -m phb_ptf run parse mark --target bmv2 --ports memory

    python -m phb_ptf run --executor interpreter --out out/ptf-interpreter

    python -m phb_ptf run by_hand parse.udp_by_policy --target all --xunit out/ptf.xml
    """
    console = Console()
    ports = ports or runner.default_ports()
    if target not in (*TARGETS, ALL):
        raise runner.RunError(f"target '{target}': one of {', '.join((*TARGETS, ALL))}")
    wanted = list(TARGETS) if target == ALL else [target]
    if ports is Ports.VETH and not runner.reason_against(wanted[0], ports):
        # Before gRPC starts threads.
        own_namespace()
    records: list[Record] = []
    ran = []
    for each in wanted:
        reason = runner.reason_against(each, ports)
        if reason and target == ALL and each != TARGETS[0]:
            console.print(f"{each}: not run: {reason}", markup=False, highlight=False)
            continue
        done = _run_on(each, ports, selected or [], executor, out, console)
        report.show(console, f"{each}, ports: {ports}", done)
        records += done
        ran.append(each)
    if json:
        report.write_json(json, records)
    if xunit:
        report.write_xunit(xunit, records)
    agrees = True
    if len(ran) > 1:
        agrees = _compare([out / f"{each}.jsonl" for each in ran], console)
    return FAILED if report.bad(records) or not agrees else OK


def _run_on(
    target: str, ports: Ports, selected: Sequence[str], executor: ExecutorName | None, out: Path, console: Console
) -> list[Record]:
    terminal = Console(stderr=True)
    progress = Progress(
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        console=terminal,
        transient=True,
        disable=not terminal.is_terminal,
    )
    with progress:
        task = progress.add_task(target, total=None)
        done = runner.run(
            target,
            ports,
            selected,
            out=out,
            executor=executor,
            progress=lambda record: progress.update(task, advance=1, description=f"{target} {record.case}"),
        )
    console.print(f"ptf's own words: {done.log}", markup=False, highlight=False)
    return done.records


@app.command("list")
def list_() -> int:
    """List suites, cases and groups, as ptf does."""
    sys.stdout.write(runner.listing())
    return OK


@app.command()
def compare(
    one: Annotated[Path, typer.Argument(help="A transcript.", show_default=False)] = _OUT / f"{TARGETS[0]}.jsonl",
    other: Annotated[Path, typer.Argument(help="Another target's.", show_default=False)] = _OUT / f"{TARGETS[1]}.jsonl",
) -> int:
    """Compare two targets' transcripts: frames byte for byte, and counters.

    python -m phb_ptf compare out/ptf/phb-switch.jsonl out/ptf/bmv2.jsonl
    """
    return OK if _compare([one, other], Console()) else FAILED


def _compare(paths: Sequence[Path], console: Console) -> bool:
    one, other = (transcript.read(path) for path in paths)
    found = comparing.compare(one, other)
    lines = [
        *(f"only one target: {line}" for line in found.alone),
        *(f"known: {line}" for line in found.known),
        *(f"DIFFERS: {line}" for line in found.unknown),
        *(f"LISTED IN VAIN: {line}" for line in found.vanished),
        f"{found.same} cases alike, {len(found.known)} known differences, {len(found.unknown)} unexplained, "
        f"{len(found.vanished)} listed in vain, {len(found.alone)} on one target only",
    ]
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return found.agrees


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        code = app(list(arguments), prog_name="python -m phb_ptf", standalone_mode=False)
    except (runner.RunError, ControlError, ValueError) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.filename or 'standard output'}: {error.strerror or error}")
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        # Wrong options, in typer's own words.
        words = getattr(error, "format_message", None)
        if words is None:
            raise
        return _fail(words()) if arguments and words() else BAD_INPUT
    return code if isinstance(code, int) else OK


def _fail(message: str) -> int:
    sys.stderr.write(f"phb_ptf: {message}\n")
    return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
