"""``phb-lab run``."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from phb.cli.grouping import grouped
from phb_lab import registry
from phb_lab.cli.application import app, check_result_file, make_folder
from phb_lab.cli.arguments import parse_options, parse_policies
from phb_lab.cli.following import tell_journeys
from phb_lab.cli.running import Job, run_all, title
from phb_lab.cli.showing import LiveOptions, shown
from phb_lab.errors import UnsupportedError, UsageError
from phb_lab.experiment import DEFAULT_SEED, Mode, TargetName, Way
from phb_lab.following import parse_flow
from phb_lab.following.flow import MOST_PACKETS
from phb_lab.interruption import Interruption
from phb_lab.levels import Asked as AskedLevels
from phb_lab.levels.picture import draw as draw_levels
from phb_lab.levels.telling import table as levels_table
from phb_lab.report import judging
from phb_lab.report.document import document
from phb_lab.report.files import write_json, write_text
from phb_lab.report.page import page
from phb_lab.report.table import print_figures, print_table
from phb_lab.stamps import parse_stamp
from phb_lab.stamps import table as stamp_table
from phb_lab.study import Run, Study, Test
from phb_switch import ExecutorName


@app.command()
@grouped
def run(
    network: Annotated[str, typer.Argument(help=f"{', '.join(registry.NAMES)}, or the path of a network of your own")],
    live: LiveOptions,
    test: Annotated[list[str] | None, typer.Option(help="only this test; may be repeated")] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="of everything that is drawn; the same seed, the same bytes")
    ] = DEFAULT_SEED,
    mode: Annotated[Mode, typer.Option(help="in virtual time, or in Mininet on real interfaces (root)")] = "virtual",
    target: Annotated[TargetName, typer.Option(help="the switch; bmv2 only in Mininet")] = "phb-switch",
    tool: Annotated[
        list[str] | None, typer.Option(help="a real tool in place of our generators, Mininet only; may be repeated")
    ] = None,
    executor: Annotated[
        ExecutorName | None,
        typer.Option(help="what runs the switches' programs; results in virtual time are the same  (default: native)"),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="an option of the network, see phb-lab list; may be repeated"),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="SWITCH=FILE[,FILE]", help="other policy files for a switch; may be repeated"),
    ] = None,
    duration: Annotated[
        int | None, typer.Option(min=1, max=86_400, help="seconds per test  (default: each test's own)")
    ] = None,
    short: Annotated[bool, typer.Option("--short", help="at most a minute per test")] = False,
    extra: Annotated[
        bool | None,
        typer.Option(help="also what the network adds to a whole run  (default: when all tests run as the source did)"),
    ] = None,
    trace: Annotated[
        str | None,
        typer.Option(
            metavar="FLOW",
            help="follow packets, such as 'tcp 10.0.0.1 > 10.0.0.2:80', and say where each millisecond went",
        ),
    ] = None,
    trace_packets: Annotated[
        int, typer.Option(min=1, max=MOST_PACKETS, help="how many packets --trace follows in each test, the first ones")
    ] = 200,
    stamp: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLIENT>SERVER=DSCP[,DSCP]",
            help="send test packets from a host to another and back, ten a second, to measure classes; may be repeated",
        ),
    ] = None,
    objectives: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="judge the objectives of this policy file, whose node is a switch, at each look; may be repeated",
        ),
    ] = None,
    levels: Annotated[
        bool, typer.Option("--levels", help="judge the objectives of the network's own policies, at each look")
    ] = False,
    display: Annotated[
        bool,
        typer.Option("--display", help="print what nodes showed, such as show queue, or an OSA's queues as on z/OS"),
    ] = False,
    json: Annotated[Path | None, typer.Option(help="write the results here")] = None,
    out: Annotated[Path | None, typer.Option(help="folder for the pictures and the page, index.html")] = None,
    html: Annotated[
        Path | None, typer.Option(help="write the page here: figures, pictures, policies, in one file")
    ] = None,
    captures: Annotated[Path | None, typer.Option(help="keep the captures here")] = None,
) -> None:
    """Run the tests of a network and print published and measured figures side by side.

    Examples:
      phb-lab run s390

      phb-lab run s390 --test diffserv-wfq-cip --seed 7 --json results.json --html s390.html

      phb-lab run ./office --out office/out --executor interpreter

      phb-lab run s390 --test diffserv-wfq-cip --trace 'tcp 133.10.50.2 > 135.1.1.1' --out out/followed

      phb-lab run s390 --test diffserv-fifo-cip --stamp 'branch>os390=63,0' --short

      phb-lab run s390 --live --pace 20

      phb-lab run s390 --test diffserv-wfq-cip --record s390.jsonl.gz

      phb-lab run s390 --test ipprec-fifo-osa2 --captures captures --set transmit_ring=6 --duration 60
    """
    study = registry.find(network)
    tests = [study.find_test(name) for name in test] if test else list(study.tests)
    options = parse_options(study, set_ or [])
    policies = parse_policies(policy or [])
    way = Way(mode, target, tuple(tool or ()), executor)
    _check_way(way)
    if trace is not None and mode == "mininet":
        raise UsageError("--trace: packets are followed in virtual time only; expected no --mode mininet")
    if stamp and mode == "mininet":
        raise UsageError("--stamp: test packets are sent in virtual time only; expected no --mode mininet")
    if (objectives or levels) and mode == "mininet":
        option = "--objectives" if objectives else "--levels"
        raise UsageError(f"{option}: objectives are judged in virtual time only; expected no --mode mininet")
    live.check(way, judged=bool(objectives or levels))
    asked = AskedLevels(tuple(objectives or ()), every_ns=live.every_ns) if objectives or levels else None
    stamps = [parse_stamp(each) for each in stamp or ()]
    followed = None if trace is None else parse_flow(trace, trace_packets)
    if short and duration is not None:
        raise UsageError("--short and --duration: expected one of them")
    for name, file in (("--json", json), ("--html", html)):
        if file is not None:
            check_result_file(name, file)
    for name, folder in (("--out", out), ("--captures", captures)):
        if folder is not None:
            make_folder(name, folder)
    if extra is None:
        extra = mode == "virtual" and not (test or set_ or policy or duration or short)
    console = Console(markup=False)
    if mode == "mininet":
        tests = _possible(console, study, tests)
    jobs: list[Job] = [(each, options) for each in tests]
    if extra:
        jobs += study.extra_runs(tests, options)
    interruption = Interruption()
    with shown(live, study, jobs, seed=seed, policies=policies, check=interruption.check) as showing:
        with interruption:
            runs = run_all(
                study,
                jobs,
                way=way,
                seed=seed,
                interruption=interruption,
                duration=duration,
                short=short,
                captures=captures,
                policies=policies,
                followed=followed,
                stamps=stamps,
                levels=asked,
                showing=showing,
            )
        if showing is not None:
            showing.ended()
        main, others = runs[: len(tests)], runs[len(tests) :]
        _print(console, study, main, others, title(study, main, way, seed))
        if display:
            _display(console, study, main)
        for each in main if asked is not None else ():
            console.print()
            print_table(console, levels_table(each))
            if out is not None:
                draw_levels(each, out / f"levels-{each.test.name}")
        for each in main if stamps else ():
            console.print()
            print_table(console, stamp_table(each))
        for each in main if followed is not None else ():
            tell_journeys(console, each, out)
        wall_s = sum(each.outcome.wall_s for each in main)
        count = f"{len(main)} test{'s' if len(main) > 1 else ''}"
        console.print(f"{_conserved(runs)}; {count} took {_took(wall_s)} s", highlight=False)
        if json is not None:
            write_json(json, document(study, main, others))
            console.print(f"results: {json}", highlight=False, soft_wrap=True)
        if out is not None or html is not None:
            _draw(console, study, main, others, out, html)


def _check_way(way: Way) -> None:
    if way.mode == "virtual" and way.target != "phb-switch":
        raise UsageError(f"--target {way.target}: virtual time has phb-switch only; expected --mode mininet")
    if way.mode == "virtual" and way.tools:
        raise UsageError(f"--tool {way.tools[0]}: virtual time has its own generators only; expected --mode mininet")
    if way.executor is not None and way.target != "phb-switch":
        raise UsageError(f"--executor {way.executor}: {way.target} has no such choice; expected --target phb-switch")


def _print(
    console: Console, study: Study[Any], main: Sequence[Run[Any]], others: Sequence[Run[Any]], heading: str
) -> None:
    figures = [figure for each in main for figure in each.figures]
    print_figures(console, heading, figures, every=not study.published)
    if any(each.duration_s < each.test.duration_s for each in main):
        why = "shorter than the tests themselves: what is counted over a test, and its extremes, differ for that alone"
        console.print(why, highlight=False, soft_wrap=True)
        console.print()
    for table in study.tables(main, others):
        print_table(console, table)
        console.print()
    for line in study.conclusions(main, others):
        console.print(f"- {line}", highlight=False)


def _took(wall_s: float) -> str:
    return judging.number(wall_s, "s") if wall_s < 1 else f"{wall_s:,.1f}"


def _display(console: Console, study: Study[Any], runs: Sequence[Run[Any]]) -> None:
    shown = [(run.test.name, label, text) for run in runs for label, text in study.displays(run).items()]
    for test, label, text in shown:
        console.print(f"\n{test}: {label}\n{text}", highlight=False, soft_wrap=True)
    if not shown:
        console.print("no node of these tests shows anything", highlight=False)


def _possible(console: Console, study: Study[Any], tests: Sequence[Test]) -> list[Test]:
    """Tests that can run on real interfaces; the others are refused by name."""
    reasons = {test.name: study.virtual_time_only(test) for test in tests}
    refused = [f"{study.name} {name}: {reason}" for name, reason in reasons.items() if reason is not None]
    for each in refused:
        console.print(f"refused: {each}", highlight=False, soft_wrap=True)
    if len(refused) == len(tests):
        raise UnsupportedError(f"{study.name}: none of these tests can run in Mininet")
    return [test for test in tests if reasons[test.name] is None]


def _conserved(runs: Sequence[Run[Any]]) -> str:
    counted = [each for each in runs if each.outcome.conservation]
    if not counted:
        return "conservation was not checked: no node of these runs counts packets"
    held = sum(all(account.holds for account in each.outcome.conservation) for each in counted)
    nodes = sorted({account.node for each in counted for account in each.outcome.conservation})
    where = f" (of {', '.join(nodes)} only)" if any(each.mode == "mininet" for each in runs) else ""
    return f"conservation{where} holds in {held} of {len(counted)} runs"


def _draw(
    console: Console,
    study: Study[Any],
    main: Sequence[Run[Any]],
    others: Sequence[Run[Any]],
    out: Path | None,
    html: Path | None,
) -> None:
    """Draw the pictures once, for the folder, for its page and for a page elsewhere."""
    with tempfile.TemporaryDirectory(prefix="phb-lab-") as scratch:
        drawn = study.pictures(main, others, out or Path(scratch))
        text = page(study, main, others, drawn)
    if out is not None:
        console.print(f"pictures: {out}", highlight=False, soft_wrap=True)
    for path in (out and out / "index.html", html):
        if path is not None:
            write_text(path, text)
            console.print(f"page: {path}", highlight=False, soft_wrap=True)
