"""The command: ``python -m phb_switch.differential``, which `make differential` runs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from phb_switch import LoadError
from phb_switch.differential import cases
from phb_switch.differential.kinds import Named, named
from phb_switch.differential.report import Report, as_json, document, print_report
from phb_switch.differential.trial import Outcome, tried
from phb_switch.p4c import compiler_version
from phb_switch.stf import bmv2
from phb_switch.stf.statements import StfError

_BAD_INPUT = 2
_EPILOG = "\n\n".join(
    (
        "Examples:",
        "python -m phb_switch.differential switch/programs",
        "python -m phb_switch.differential --bmv2 /opt/bmv2/bin/simple_switch_grpc --p4c ~/p4c --document report.md",
        "python -m phb_switch.differential --only 'table*' --frames 100 --seed 7 --json switch/programs",
        "Exit codes: 0 nothing differs but by known kinds; 1 something does; 2 bad input.",
    )
)

app = typer.Typer(
    name="differential",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(epilog=_EPILOG, help="The same programs, entries and frames on this switch and on bmv2: what differs?")
def command(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FOLDER ...", help="Folders of artifacts (.json), with .p4info.txtpb and .stf if there are any."
        ),
    ] = None,
    p4c: Annotated[
        Path | None, typer.Option("--p4c", help="p4c's source tree: its samples, too; p4c has to be on the PATH.")
    ] = None,
    bmv2_path: Annotated[
        Path | None, typer.Option("--bmv2", help=f"The file {bmv2.COMMAND}.  (default: that of the PATH)")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Programs whose name is like this; repeatable.")] = None,
    frames: Annotated[int, typer.Option(min=0, help="Random frames for each program; 0 is no random cases.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of entries and frames.")] = 1,
    at_once: Annotated[int, typer.Option(min=1, help="Cases at the same time; bmv2 waits most of the time.")] = 4,
    keep: Annotated[Path, typer.Option(help="Where compiled samples are kept.")] = Path("out/differential"),
    document_path: Annotated[Path | None, typer.Option("--document", help="Write the report as a page.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> int:
    """Runs everything and prints what differs."""
    if bmv2_path is not None:
        _put_on_path(bmv2_path)
    if shutil.which(bmv2.COMMAND) is None:
        raise cases.CaseError(f"{bmv2.COMMAND} is not on the PATH; --bmv2 names it")
    report = Report({"bmv2": _version(), **({} if p4c is None else {"p4c": compiler_version() or ""})}, seed, frames)
    progress = Console(stderr=True)

    def shown(what: str, count: int, results: Iterator[object]) -> Iterator[object]:
        return iter(
            track(results, what, total=count, console=progress, disable=not progress.is_terminal, transient=True)
        )

    with ThreadPoolExecutor(at_once) as pool:
        sources = [] if p4c is None else list(cases.samples(p4c / "testdata"))
        kept = None if p4c is None else cases.kept_folder(keep)
        programs: list[cases.Program] = []
        wanted = [each for each in sources if _is_wanted(each.path.stem, only)]
        made = pool.map(lambda each: cases.compiled(each, kept), wanted) if kept else iter(())
        for program in shown("compiling", len(wanted), made):
            if isinstance(program, cases.Program):
                programs.append(program)
        for folder in folders or ():
            group = folder.name if folder.is_absolute() else str(folder)
            programs += [each for each in cases.folder(group, folder) if _is_wanted(each.name, only)]
        todo: list[cases.Case] = []
        for program in programs:
            try:
                todo += cases.cases(program, seed, frames)
            except (LoadError, StfError) as error:
                report.refused[program.group, program.name] = str(error).partition("\n")[0]
        for outcome in shown("running", len(todo), pool.map(_tried, todo)):
            assert isinstance(outcome, tuple)
            report.outcomes.append(outcome)
    if not todo:
        raise cases.CaseError("nothing to run: name a folder of artifacts, or p4c's source tree by --p4c")
    if document_path is not None:
        document_path.write_text(document(report), encoding="utf-8")
    if json:
        print(as_json(report))
    else:
        print_report(report, Console())
    return 1 if report.unnamed else 0


def _tried(case: cases.Case) -> tuple[Outcome, list[Named]]:
    outcome = tried(case)
    return outcome, named(outcome)


def _is_wanted(name: str, only: Sequence[str] | None) -> bool:
    return not only or any(fnmatch(name, each) for each in only)


def _put_on_path(path: Path) -> None:
    if path.name != bmv2.COMMAND or not path.is_file():
        raise cases.CaseError(f"--bmv2 {path}: expected a file called {bmv2.COMMAND}")
    os.environ["PATH"] = f"{path.resolve().parent}{os.pathsep}{os.environ['PATH']}"


def _version() -> str:
    done = subprocess.run([bmv2.COMMAND, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.strip().partition("-")[0] or "unknown"


def run(arguments: Sequence[str]) -> int:
    """Runs the command with arguments; returns the exit code."""
    try:
        with suppress(BrokenPipeError):
            return int(app(list(arguments), standalone_mode=False) or 0)
    except cases.CaseError as error:
        print(f"differential: {error}", file=sys.stderr)
    except typer.TyperException as error:
        print(f"differential: {error.format_message()}", file=sys.stderr)
    return _BAD_INPUT
