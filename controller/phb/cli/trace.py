"""``phb trace``: show what happened to packets in a switch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import OK, app, epilog
from phb.cli.interrupting import run_until_signal
from phb.cli.options import ProgramOptions, ReadingOptions, SwitchOptions, TargetName, check_target, grouped
from phb.cli.output import console, print_error, print_json, print_line, print_notices

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

    from phb.inventory import Switch
    from phb.trace.messages import Trace
    from phb.trace.page import Page
    from phb.trace.policies import Lines
    from phb.trace.telling import Node, Telling


@dataclass(frozen=True)
class WantedOptions:
    """Which packets are shown."""

    packet: Annotated[
        list[int] | None,
        typer.Option("--packet", min=1, metavar="N", help="Only the trace of this number; repeatable."),
    ] = None
    dropped: Annotated[bool, typer.Option("--dropped", help="Only packets that were dropped.")] = False
    slower: Annotated[
        str | None,
        typer.Option(
            "--slower", metavar="TIME", help="Only packets that were in the switch for at least so long, such as 5ms."
        ),
    ] = None
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table", metavar="NAME", help="Of each packet only the tables whose names have this in them; repeatable."
        ),
    ] = None

    def check(self) -> Callable[[Trace], bool]:
        """Give what says whether a trace is wanted."""
        from phb.trace.packets import packet

        slower_ns = None if self.slower is None else span(self.slower)
        numbers = frozenset(self.packet or ())

        def wanted(trace: Trace) -> bool:
            if numbers and trace.get("number", 0) not in numbers:
                return False
            whole = packet(trace)
            return (whole.dropped or not self.dropped) and (slower_ns is None or whole.lasted_ns >= slower_ns)

        return wanted

    def steps(self) -> Callable[[dict[str, Any]], bool] | None:
        """Give what says whether a step is wanted; None where all are."""
        names = tuple(self.table or ())
        if not names:
            return None
        return lambda step: any(name in step.get("table", {}).get("name", "") for name in names)


@dataclass(frozen=True)
class TellingOptions:
    """How much is told of each packet."""

    brief: Annotated[bool, typer.Option("--brief", help="A line for each packet.")] = False
    everything: Annotated[
        bool, typer.Option("--all", help="Also statements, conditions, assignments, reads and choices of the parser.")
    ] = False
    source: Annotated[
        Path | None,
        typer.Option("--source", metavar="FOLDER", help="The P4 program's files: their lines stand beside the steps."),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print the traces as lines of JSON.")] = False
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            metavar="FILE",
            help="Write a page, one file that works offline: step through the program, compare two packets.",
        ),
    ] = None


@dataclass(frozen=True)
class PolicyOptions:
    """The policy whose lines stand beside entries."""

    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="A policy file that was pushed: its lines stand beside the entries; repeatable, all of a node.",
        ),
    ] = None
    target: TargetName = None


@dataclass(frozen=True)
class WatchingOptions:
    """How a switch is watched."""

    grpc: Annotated[
        str | None,
        typer.Option("--grpc", metavar="HOST:PORT", help="Watch this switch until Ctrl-C, instead of reading a file."),
    ] = None
    packets: Annotated[
        str,
        typer.Option(
            "--filter",
            metavar="TEXT",
            help="Of a switch, only these packets, such as 'tcp and dst port 80' (tracing.md).",
        ),
    ] = ""
    count: Annotated[
        int | None,
        typer.Option(min=1, max=2**64 - 1, metavar="N", help="Of a switch, end after so many.  (default: never)"),
    ] = None
    frame_bytes: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=2**32 - 1,
            metavar="BYTES",
            help="Of a switch, keep so many bytes of each frame.  (default: those of its headers)",
        ),
    ] = None


@app.command(
    epilog=epilog(
        "phb trace packets.jsonl",
        "phb trace packets.jsonl --dropped --brief",
        "phb trace packets.jsonl --page packets.html --artifact program.json --p4info program.p4info.txtpb",
        "phb trace packets.jsonl --packet 7 --all --source p4src",
        "phb trace packets.jsonl --slower 5ms --policy c7513.yaml --policy c7513-wfq.yaml",
        "phb trace --grpc 192.0.2.1:9559 --filter 'host 10.0.0.1 and dropped' --count 10",
    )
)
@grouped
def trace(
    switch: SwitchOptions,
    watching: WatchingOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    policy: PolicyOptions,
    wanted: WantedOptions,
    telling: TellingOptions,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Traces that phb-switch --trace wrote, JSON or protobuf; - is stdin."),
    ] = None,
) -> int:
    """Show what happened to packets: every table with the entry that won and why others lost, queues, times, bytes.

    From a file, or from a switch: that of --grpc, of --address, or of --inventory.
    """
    from phb.errors import InputError
    from phb.origin import Origin
    from phb.trace.reading import read_traces

    shown = Shown.of(wanted, telling, _lines(policy, reading, program), program)
    if file is None:
        if watching.grpc is not None:
            switch = replace(switch, address=watching.grpc, inventory=None, switch=None)
        ended = run_until_signal(_watch(switch.one(), watching, shown))
        shown.end()
        return ended
    for option, given in (("--grpc", watching.grpc), ("--filter", watching.packets), ("--count", watching.count)):
        if given:
            raise InputError(Origin(option), f"a file of traces ({file}), too", "one of them: it is for switches")
    for _, each in read_traces(file):
        shown.show(each)
    shown.end()
    return OK


async def _watch(where: Switch, watching: WatchingOptions, shown: Shown) -> None:
    from phb.trace.watching import watch

    count, octets = watching.count or 0, watching.frame_bytes or 0
    async for each in watch(where, packets=watching.packets, count=count, frame_bytes=octets):
        if each is None:
            print_error(f"{where.address}: packets from now on")
        else:
            shown.show(each)


def _lines(policy: PolicyOptions, reading: ReadingOptions, program: ProgramOptions) -> Lines | None:
    """Compile the policy that is named."""
    if not policy.policy:
        return None
    from phb.compiler import compile_policy
    from phb.inventory import TargetKind
    from phb.sources import read_sources
    from phb.trace.policies import Lines

    artifact = program.load()
    read = read_sources(policy.policy, reading.format_name, reading.options())
    target = (check_target(policy.target) or TargetKind.PHB_SWITCH).value
    intent = compile_policy(read, artifact, at=reading.moment(), target=target)
    print_notices(intent.notices)
    return Lines(intent, artifact)


@dataclass(frozen=True)
class Shown:
    """Prints traces, each as soon as it is there, or makes a page of them."""

    wanted: Callable[[Trace], bool]
    steps: Callable[[dict[str, Any]], bool] | None
    telling: Telling
    brief: bool
    json: bool
    output: Console
    places: Callable[[Trace], dict[int, str]] | None
    page: Page | None
    path: Path | None

    @classmethod
    def of(cls, wanted: WantedOptions, telling: TellingOptions, lines: Lines | None, program: ProgramOptions) -> Shown:
        """Prepare what the options ask for."""
        from phb.trace.policies import places
        from phb.trace.sources import Sources
        from phb.trace.telling import Telling

        steps = wanted.steps()
        policy = None if lines is None else lambda each: places(lines.of(each))
        teller = Telling(
            everything=telling.everything,
            wants=steps,
            line=None if telling.source is None else Sources(telling.source).line,
            policy=policy,
        )
        page = None if telling.page is None else _page(program)
        return cls(wanted.check(), steps, teller, telling.brief, telling.json, console(), policy, page, telling.page)

    def show(self, trace: Trace) -> None:
        """Print a trace, if it is wanted."""
        from phb.trace.packets import packet

        if not self.wanted(trace):
            return
        steps = trace.get("steps", [])
        if self.steps is not None:
            steps = [step for step in steps if self.steps(step)]
            if not steps:
                return
        if self.page is not None:
            self.page.add(trace, {} if self.places is None else self.places(trace))
        elif self.json:
            print_json(trace if self.steps is None else trace | {"steps": steps}, indent=None)
        elif self.brief:
            whole = packet(trace)
            print_line(f"{whole.number}. {whole.words}")
        else:
            _print(self.output, self.telling.tree(trace))

    def end(self) -> None:
        """Write the page, if there is to be one, and say where."""
        from phb.errors import InputError
        from phb.files import in_words, write_text
        from phb.origin import Origin

        if self.page is None or self.path is None:
            return
        text = self.page.text()
        try:
            write_text(self.path, text)
        except OSError as error:
            raise InputError(Origin("--page"), f"'{self.path}' ({in_words(error)})", "a file to write") from None
        print_line(f"page: {self.path}")


def _page(program: ProgramOptions) -> Page:
    """Begin a page, of the program that is named, else of phb's own if the packets passed it."""
    from phb.trace.page import Page, read_program
    from phb_p4 import artifact_path

    if program.artifact is not None:
        return Page(read_program(program.artifact))
    return Page(likely=read_program(artifact_path()))


_STYLES = {"good": "green", "warn": "yellow", "bad": "red", "quiet": "dim", "part": "bold"}


def _print(output: Console, top: Node) -> None:
    from rich.tree import Tree

    drawn = Tree(_line(top), guide_style="dim")
    _grow(drawn, top)
    output.print(drawn)


def _grow(drawn: Tree, node: Node) -> None:
    for each in node.below:
        _grow(drawn.add(_line(each)), each)


def _line(node: Node) -> Any:
    from rich.text import Text

    from phb.visible import visible

    line = Text(visible(node.words), _STYLES.get(node.style, ""))
    for beside in node.beside:
        line.append(f"  {visible(beside)}", "cyan")
    return line


_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def span(text: str) -> int:
    """Read a span of time such as ``5ms``, in nanoseconds."""
    import re

    from phb.errors import InputError
    from phb.origin import Origin

    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,9})?)(ns|us|ms|s)", text)
    if found is None:
        raise InputError(Origin("--slower"), f"'{text}'", "a number and ns, us, ms or s, such as 5ms")
    return round(float(found[1]) * _UNITS[found[2]])
