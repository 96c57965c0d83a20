"""``phb diff``: what two policies do differently with packets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli.application import BAD_INPUT, NO_MEMORY, OK, app, epilog
from phb.cli.options import (
    DeviceId,
    Json,
    ProgramOptions,
    ReadingOptions,
    StateFile,
    SwitchOptions,
    TlsOptions,
    check_address,
    grouped,
    open_state,
)
from phb.cli.output import (
    console,
    print_error,
    print_errors,
    print_json,
    print_made_up,
    print_solver_hint,
    print_warnings,
    working,
)

if TYPE_CHECKING:
    from rich.console import Console

    from phb.comparing.comparison import Input, Wanted
    from phb.comparing.sources import Places
    from phb.comparing.telling import Comparison, Difference, Document, Place, Region
    from phb.device.artifact import Artifact
    from phb.model import PolicySet
    from phb.regions.budget import Budget

DIFFERENT = 1
_PARTS = 6
"""Parts of a region, and rules of a difference, that are shown; JSON has all."""
_CODES = (
    "Exit codes: 0 every packet is treated alike; 1 some are treated differently, or it isn't known of all; "
    "2 bad input, or a switch or state that can't be read; 130 interrupted."
)


@dataclass(frozen=True)
class ComparingOptions:
    """How much is compared and told."""

    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Regions that are shown.")] = 20
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="How long all of it may take; then what is left is open.  (default: no limit)",
        ),
    ] = None
    capture: Annotated[
        str | None,
        typer.Option("--capture", "-c", metavar="FILE", help="Order by bytes of this pcap or pcapng file."),
    ] = None
    port: Annotated[
        str | None,
        typer.Option("--port", metavar="PORT", help="Where its packets arrive that don't say it themselves."),
    ] = None
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page for a change request, too: one file, no script."),
    ] = None


@app.command(
    epilog=epilog(
        "phb diff old.yaml new.yaml",
        "phb diff old/*.yaml against new/*.yaml --capture branch.pcapng --port uplink",
        "phb diff push:17 c3640.ios --state state.sqlite",
        "phb diff switch:192.0.2.1:9559 new.yaml --json",
        "phb diff old.yaml new.yaml --html change.html",
        "phb diff inventory:network.yaml inventory:planned/network.yaml",
        codes=_CODES,
    )
)
@grouped
def diff(
    policies: Annotated[
        list[str],
        typer.Argument(
            metavar="A B",
            help="Two policies: files, push:N of the history, switch:HOST:PORT or inventory:FILE. "
            "Several files of one node: FILE... against FILE...",
        ),
    ],
    reading: ReadingOptions,
    program: ProgramOptions,
    comparing: ComparingOptions,
    device_id: DeviceId = 1,
    *,
    tls: TlsOptions,
    state: StateFile = None,
    json: Json = False,
) -> int:
    """Tell which packets two policies treat differently, and what each does with them; or that there are none.

    Every packet is looked at, at any time of day unless --at says one. What counts is what happens to packets from end
    to end, not where or by which name a policy says it.
    """
    from phb.errors import InputError, PhbError
    from phb.files import check_output
    from phb.regions.budget import Budget

    budget = Budget(comparing.timeout)
    if comparing.html is not None:
        check_output(comparing.html, "--html")
    try:
        told = _document(policies, reading, program, comparing, _places(device_id, tls, program, state), budget)
    except InputError:
        raise
    except (PhbError, MemoryError) as error:
        # The code of a switch that doesn't answer is that of a difference here.
        print_errors(f"phb: {NO_MEMORY if isinstance(error, MemoryError) else error}")
        return BAD_INPUT
    if comparing.html is not None:
        _write_page(comparing.html, told)
    if json:
        print_json(told.as_json())
    else:
        _print(console(), told)
    for comparison in told.comparisons:
        for region in comparison.regions:
            if region.failed is not None:
                print_error(f"phb: error of phb itself, please report it: region {region.number}: {region.failed}")
    return OK if told.alike else DIFFERENT


def _write_page(path: Path, told: Document) -> None:
    from phb.comparing.page import page
    from phb.files import write_output
    from phb.state.holders import Holder

    who = Holder.this("diff")
    write_output(path, page(told, f"{who.user}@{who.host}"), "--html")


def _places(device_id: int, tls: TlsOptions, program: ProgramOptions, state: str | None) -> Places:
    from phb.comparing.sources import Places

    def held(address: str) -> PolicySet:
        import asyncio

        from phb.origin import Origin
        from phb.recovering import policy_of

        check_address(address, Origin("switch:"))
        switch = SwitchOptions(address=address, device_id=device_id, **vars(tls))
        return asyncio.run(policy_of(switch.one(), program.load()))

    return Places(lambda: open_state(state), held)


def _document(
    words: list[str],
    reading: ReadingOptions,
    program: ProgramOptions,
    comparing: ComparingOptions,
    places: Places,
    budget: Budget,
) -> Document:
    from datetime import datetime
    from importlib.metadata import version

    from phb.comparing.comparison import Wanted, unread
    from phb.comparing.sources import INVENTORY, nodes, of_node, read_side, two_sides
    from phb.comparing.telling import Document, Side
    from phb.regions.budget import TimeOver

    sides = two_sides(words)
    port = comparing.port
    wanted = Wanted(
        reading.moment(),
        always=reading.at is None,
        limit=comparing.limit,
        budget=budget,
        capture=comparing.capture,
        port=int(port) if port is not None and port.isdigit() else port,
    )
    artifact = program.load()
    made, by = datetime.now().astimezone().isoformat(timespec="seconds"), f"phb {version('phb')}"
    names = [Side(" ".join(side)) for side in sides]
    if all(len(side) == 1 and side[0].startswith(INVENTORY) for side in sides):
        known = nodes(sides[0][0], sides[1][0])
        comparisons: list[Comparison] = []
        for name, pair in known.both.items():
            # What a node doesn't need, the others may take.
            share = budget.part(1 / (len(known.both) - len(comparisons)))
            try:
                with share.enforced():
                    one, other = map(of_node, pair)
            except TimeOver:
                comparisons.append(unread(names[0], names[1], share, name))
            else:
                comparisons.append(_compared(one, other, artifact, replace(wanted, budget=share), name))
        return Document(tuple(comparisons), known.only_a, known.only_b, made, by)
    try:
        with budget.enforced():
            a, b = (read_side(side, reading.format_name, reading.options(attach=True), places) for side in sides)
    except TimeOver:
        return Document((unread(names[0], names[1], budget),), made=made, made_by=by)
    return Document((_compared(a, b, artifact, wanted, None),), made=made, made_by=by)


def _compared(a: Input, b: Input, artifact: Artifact, wanted: Wanted, node: str | None) -> Comparison:
    from phb.comparing.alone import standing_alone
    from phb.comparing.comparison import compare
    from phb.comparing.telling import OpenQuestion

    policies, made_up, unseen = standing_alone((a.policy, b.policy))
    a, b = replace(a, policy=policies[0]), replace(b, policy=policies[1])
    with working(f"comparing {node}" if node else "comparing") as advance:
        told = compare(a, b, artifact, wanted, node=node, progress=advance)
    # What has no effect is the same on both sides, whatever it says.
    warnings = dict.fromkeys(str(each) for policy in policies for each in policy.notices if not each.aside)
    why = "not answered: it matters which port leads to which; a file with 'cross-connects' or 'routes' says it"
    doubts = dict.fromkeys(f"{each.origin}: {each.found}" for each in unseen)
    found = (*told.open, *(OpenQuestion(each, why) for each in doubts))
    return replace(told, open=found, made_up=made_up, warnings=tuple(warnings))


def _print(output: Console, told: Document) -> None:
    for number, comparison in enumerate(told.comparisons):
        if number:
            output.print()
        _print_comparison(output, comparison)
    for names, where in ((told.only_a, "A"), (told.only_b, "B")):
        for name in names:
            output.print(f"node {name}: only in {where}", style="red", soft_wrap=True)


def _print_comparison(output: Console, told: Comparison) -> None:
    if told.node is not None:
        output.print(f"node {told.node}", style="bold", soft_wrap=True)
    output.print(f"A: {told.a.words}", soft_wrap=True)
    output.print(f"B: {told.b.words}", soft_wrap=True)
    print_warnings(told.warnings)
    print_made_up(told.made_up)
    for region in told.regions:
        _print_region(output, region)
    for question in told.open:
        output.print(f"open: {question.packets}: {question.why}", style="yellow", soft_wrap=True)
    if told.open:
        print_solver_hint()
    output.print(_summary(told), style="green" if told.alike else "red", soft_wrap=True)
    if told.left_out:
        output.print(f"not compared: {'; '.join(told.left_out)}", style="dim", soft_wrap=True)


def _summary(told: Comparison) -> str:
    when = "" if len(told.moments) == 1 else f", at any time ({len(told.moments)} kinds of moments)"
    if told.alike:
        return f"alike for every packet{when}"
    count = len(told.regions) + told.more
    words = [f"{count} region{'s differ' if count != 1 else ' differs'}{when}"] * bool(count)
    words += [f"the first {len(told.regions)} are shown, by {told.measure}"] * bool(told.more)
    words += [f"not proven alike: {len(told.open)} question(s) open"] * bool(told.open)
    return "; ".join(words)


def _print_region(output: Console, region: Region) -> None:
    parts = list(region.packets[:_PARTS])
    more = len(region.packets) - len(parts) + region.more_parts
    if more:
        parts.append(f"and {more} more parts")
    seen = ""
    if region.capture_bytes is not None:
        seen = f"  ({region.capture_packets} packets, {region.capture_bytes} bytes of the capture)"
    output.print(f"{region.number}. {parts[0]}{seen}", style="bold", soft_wrap=True)
    for part in parts[1:]:
        output.print(f"   {part}", style="bold", soft_wrap=True)
    for each in region.differences:
        _print_difference(output, each)
    if region.example is not None:
        at = f"  --at {region.example.at}" if region.example.at is not None else ""
        output.print(f'   example: --packet "{region.example.text}"{at}', soft_wrap=True)


def _print_difference(output: Console, told: Difference) -> None:
    output.print(f"   {told.what}")
    for side, words, places, style in (("A", told.a, told.a_places, "red"), ("B", told.b, told.b_places, "green")):
        output.print(f"     {side}: {words}", style=style, end="", soft_wrap=True)
        output.print(f"  ({_places_words(places)})", soft_wrap=True)


def _places_words(places: tuple[Place, ...]) -> str:
    words = [str(each) for each in places[:_PARTS]]
    return ", ".join(words + [f"{len(places) - _PARTS} more"] * (len(places) > _PARTS))
