"""``phb explain``: explain what the files would do with packets."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli.application import app, epilog
from phb.cli.options import Files, Json, ProgramOptions, ReadingOptions, TargetName, check_target, grouped
from phb.cli.output import console, notice_as_json, print_json, print_made_up, print_notices, print_table, table

if TYPE_CHECKING:
    from rich.console import Console

    from phb.explain import Arrival, Explanation, Summary, Tally
    from phb.intent import Notice

FEW = 20
"""Packets up to which each is told by itself; of more only the summary, unless --details is given."""


@dataclass(frozen=True)
class PacketOptions:
    """Packets, where they come in, and how fast ports send."""

    packet: Annotated[
        list[str] | None,
        typer.Option(
            "--packet",
            "-p",
            metavar="TEXT",
            help="A packet in words or hex (docs/policies/explain.md); may be repeated.",
        ),
    ] = None
    capture: Annotated[
        str | None, typer.Option("--capture", "-c", metavar="FILE", help="Packets of a pcap or pcapng file.")
    ] = None
    port: Annotated[
        str | None, typer.Option("--port", metavar="PORT", help="Where packets arrive that don't say it themselves.")
    ] = None
    rate: Annotated[
        list[str] | None,
        typer.Option(
            "--rate",
            metavar="PORT=BITS[+BYTES]",
            help="A port sends so many bit/s, each frame with so many more (or, with -, fewer) bytes; may be repeated.",
        ),
    ] = None

    def arrivals(self) -> Iterator[Arrival]:
        """Read the packets."""
        from phb.explain import parse_packet, read_capture
        from phb.origin import Origin

        for text in self.packet or ():
            yield parse_packet(text, Origin("--packet"))
        if self.capture is not None:
            yield from read_capture(self.capture)

    def default_port(self) -> int | str | None:
        """Give the port, by number or name, of packets that don't say theirs."""
        return int(self.port) if self.port is not None and self.port.isdigit() else self.port


@dataclass(frozen=True)
class TellingOptions:
    """How much is told."""

    why: Annotated[bool, typer.Option("--why", help="Also tell which rules nearly took a packet, and why not.")] = False
    details: Annotated[bool, typer.Option("--details", help="Tell about each packet, also of many.")] = False


@app.command(
    epilog=epilog(
        'phb explain c7513*.yaml --packet "tcp 135.1.1.1:700 > 133.10.50.2:1282 tos 192 in FastEthernet5/1/0"',
        "phb explain policy.yaml --capture branch.pcapng --port uplink --rate line=256000",
        "phb explain policy.yaml --capture branch.pcap --port uplink --json > told.json",
    )
)
@grouped
def explain(
    files: Files,
    reading: ReadingOptions,
    program: ProgramOptions,
    packets: PacketOptions,
    telling: TellingOptions,
    target: TargetName = None,
    json: Json = False,
) -> None:
    """Explain what would happen to packets: rule, class, colour, marks, port, queue, drop reason. No switch is asked.

    The times of a capture drive token buckets, queues and times of day. A port without --rate or a shaper of its own
    sends at once, so nothing ever queues there.
    """
    from phb.comparing.alone import standing_alone
    from phb.errors import InputError
    from phb.explain import Summary, as_json, explain, parse_rates
    from phb.inventory import TargetKind
    from phb.origin import Origin
    from phb.sources import read_sources

    captured = packets.capture is not None
    if not packets.packet and not captured:
        raise InputError(Origin("explain"), "no packet", "--packet TEXT or --capture FILE")
    (policy,), made_up, unseen = standing_alone(
        [read_sources(files, reading.format_name, reading.options(attach=True))]
    )
    made_up += tuple(f"not seen here: {each.origin}, {each.found}" for each in unseen[:1])
    rates = parse_rates(policy, packets.rate or ())
    beyond: list[Notice] = []
    told = explain(
        policy,
        program.load(),
        packets.arrivals(),
        at=reading.moment(),
        follow_clock=captured and reading.at is None,
        default_port=packets.default_port(),
        rates=rates,
        why=telling.why,
        beyond=beyond,
        target=(check_target(target) or TargetKind.PHB_SWITCH).value,
    )
    summary = Summary()
    each: list[Explanation] = []
    for one in _watched(told, captured and not json):
        summary.add(one)
        # Of a long capture only as many are kept as may be shown.
        if telling.details or len(each) <= FEW:
            each.append(one)
    many = summary.total.packets > FEW
    shown = [] if many and not telling.details else each
    if json:
        warnings = [notice_as_json(notice) for notice in beyond]
        packets_told = {"packets": [as_json(one) for one in shown], "summary": summary.as_json()}
        print_json({**packets_told, "warnings": warnings, "made_up": list(made_up)})
        return
    print_notices(beyond)
    print_made_up(made_up)
    output = console()
    for one in shown:
        _print(output, one)
    if captured or many:
        _print_summary(output, summary)


def _watched(told: Iterator[Explanation], slow: bool) -> Iterator[Explanation]:
    """Show a count on a terminal while a long capture is read."""
    if not slow or not sys.stderr.isatty():
        yield from told
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed} packets"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        for one in told:
            progress.advance(task)
            yield one


def _print(output: Console, told: Explanation) -> None:
    style = "red" if told.drop_reason is not None else "green"
    output.print(f"{told.number}. {told.endpoints}, {told.length} bytes, in {told.ingress_port} -> ", end="")
    output.print(told.outcome, style=style)
    for words, rule in (("rule", told.input), ("output rule", told.output)):
        if rule is not None:
            fields = ", ".join(rule.fields) or "anything"
            output.print(f"   {words} {rule.name} at {rule.origin}, by {fields}", soft_wrap=True)
    if told.input is None:
        output.print("   no input rule takes it")
    for near in told.near:
        output.print(f"   not {near.name} at {near.origin}: {'; '.join(near.wanted)}", soft_wrap=True)
    for step in told.steps:
        if step.stage in ("classify", "output"):
            continue
        place = f"  ({step.origin})" if step.origin.line else ""
        output.print(f"   {step.stage}: {step.words}{place}", soft_wrap=True)
    if told.drop_reason is None and told.egress_port is not None:
        output.print(f"   class {told.traffic_class}, {told.colour}{_queued(told)}", soft_wrap=True)
    for promise in told.promises:
        output.print(f"   objectives of {promise.of}: {promise.words}  ({promise.origin})", soft_wrap=True)


def _queued(told: Explanation) -> str:
    from phb.explain.words import decimals

    words = f", {told.queue}" if told.queue else ""
    if told.weight:
        words += f", level {told.level}, weight {told.weight}, rank {told.rank}"
    if told.early_drop:
        words += f", early drop with probability {decimals(told.early_drop)}"
    if told.queueing_ns:
        words += f", waits {decimals(told.queueing_ns / 1e6)} ms"
    return words


def _print_summary(output: Console, summary: Summary) -> None:
    for heading, tallies in (
        ("rule", summary.rules),
        ("class", summary.classes),
        ("colour", summary.colours),
        ("drop reason", summary.reasons),
    ):
        if not tallies:
            continue
        rows = table(heading, "packets", "bytes", "dropped", "mean wait", "longest wait")
        for name, tally in tallies.items():
            rows.add_row(name, *_cells(tally))
        print_table(output, rows)
    output.print(f"{summary.total.packets} packets, {summary.total.dropped} dropped")


def _cells(tally: Tally) -> tuple[str, ...]:
    from phb.explain.words import decimals

    waits = [f"{decimals(value / 1e6)} ms" for value in (tally.delay_mean_ns, tally.delay_max_ns)]
    return (str(tally.packets), str(tally.bytes), str(tally.dropped), *waits)
