"""``phb trace``: show what happened to packets in a switch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import app, epilog
from phb.cli.options import grouped
from phb.cli.output import console, print_json, print_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

    from phb.trace.messages import Trace
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
        typer.Option("--slower", metavar="TIME", help="Only packets that were in the switch for longer, such as 5ms."),
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
            return (whole.dropped or not self.dropped) and (slower_ns is None or whole.lasted_ns > slower_ns)

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
        bool, typer.Option("--all", help="Also statements, assignments and choices of the parser.")
    ] = False
    source: Annotated[
        Path | None,
        typer.Option("--source", metavar="FOLDER", help="The P4 program's files: their lines stand beside the steps."),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print the traces as lines of JSON.")] = False

    def telling(self, wants: Callable[[dict[str, Any]], bool] | None) -> Telling:
        """Give what makes trees."""
        from phb.trace.sources import Sources
        from phb.trace.telling import Telling

        line = None if self.source is None else Sources(self.source).line
        return Telling(everything=self.everything, wants=wants, line=line)


@app.command(
    epilog=epilog(
        "phb trace packets.jsonl",
        "phb trace packets.jsonl --dropped --brief",
        "phb trace packets.jsonl --packet 7 --all --source p4src",
        "phb trace packets.jsonl --slower 5ms --table classify",
    )
)
@grouped
def trace(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Traces that phb-switch --trace wrote: JSON or protobuf; - is stdin.")
    ],
    wanted: WantedOptions,
    telling: TellingOptions,
) -> None:
    """Show what happened to packets: every table with the entry that won and why others lost, queues, times, bytes."""
    from phb.trace.reading import read_traces

    check = wanted.check()
    show((each for _, each in read_traces(file) if check(each)), wanted, telling)


def show(traces: Iterable[Trace], wanted: WantedOptions, telling: TellingOptions) -> None:
    """Print traces, each as soon as it is there."""
    from phb.trace.packets import packet

    steps = wanted.steps()
    teller = telling.telling(steps)
    output = console()
    for each in traces:
        if steps is not None and not any(steps(step) for step in each.get("steps", ())):
            continue
        if telling.json:
            kept = each if steps is None else each | {"steps": [step for step in each["steps"] if steps(step)]}
            print_json(kept, indent=None)
        elif telling.brief:
            whole = packet(each)
            print_line(f"{whole.number}. {whole.words}")
        else:
            _print(output, teller.tree(each))


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
