"""``phb-lab what-if``."""

import json as json_module
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from phb.explain import parse_rates
from phb.sources import read_sources
from phb_lab import registry
from phb_lab.cli.application import app
from phb_lab.cli.arguments import parse_options
from phb_lab.errors import UsageError
from phb_lab.interruption import Interruption
from phb_lab.report.table import print_table
from phb_lab.whatif import on_capture, on_network
from phb_lab.whatif.change import Change, Values, as_json, changes

_Run = Callable[[tuple[Path, ...] | None, int, Callable[[float], None]], Values]

_UNITS = {"_s": ("s", 1.0), "_bps": ("kbit/s", 1e-3), "loss": ("%", 100.0)}


@app.command("what-if")
def what_if(
    proposed: Annotated[
        list[Path], typer.Option(metavar="FILE", help="a policy file as it is to become; may be repeated")
    ],
    current: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="a policy file as it is; may be repeated  (default: the network's own)"),
    ] = None,
    network: Annotated[
        str | None, typer.Option(metavar="NETWORK:TEST", help="a network by name or path, whose traffic answers")
    ] = None,
    switch: Annotated[
        str | None, typer.Option(metavar="SWITCH", help="its switch in question  (default: the files' node)")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="an option of the network")
    ] = None,
    duration: Annotated[
        int | None, typer.Option(min=1, max=86_400, help="seconds per run  (default: the test's own)")
    ] = None,
    capture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="instead of a network: packets of a pcap or pcapng file")
    ] = None,
    port: Annotated[
        str | None, typer.Option(metavar="PORT", help="where packets of the capture arrive that don't say it")
    ] = None,
    rate: Annotated[
        list[str] | None,
        typer.Option(metavar="PORT=BITS[+BYTES]", help="a port sends so many bit/s; may be repeated"),
    ] = None,
    by: Annotated[
        on_capture.By, typer.Option(help="what a class of the capture is: by the proposed policy, or as it was marked")
    ] = "class",
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="runs with each policy")] = 5,
    first_seed: Annotated[int, typer.Option(min=0, max=2**62, help="their first seed; the others follow")] = 1,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Tell what a change of policy does to delay, loss and throughput of each class, before a maintenance window.

    The same traffic meets both policies, seed by seed; a star marks changes whose 95 % confidence interval excludes 0.

    Examples:
      phb-lab what-if --network s390:diffserv-fifo-cip --proposed c7513.yaml --proposed c7513-wfq.yaml

      phb-lab what-if --current now.ios --proposed then.ios --capture branch.pcap --port lan --rate wan=512000
    """
    if (network is None) == (capture is None):
        raise UsageError("what-if: expected one of --network NETWORK:TEST and --capture FILE")
    if capture is None:
        _refuse("--capture", {"--port": port, "--rate": rate})
    else:
        _refuse("--network", {"--switch": switch, "--set": set_, "--duration": duration})
    for option, files in (("--current", current or []), ("--proposed", proposed)):
        for file in files:
            if not file.is_file():
                raise UsageError(f"{option} {file}: found no file")
    before = tuple(current) if current else None
    after = tuple(proposed)
    if network is not None:
        run, about = _on_network(network, switch, after, set_ or [], duration)
    else:
        assert capture is not None
        run, about = _on_capture(capture, before, after, port, rate or [], by)
    found = changes(_run_pairs(run, before, after, range(first_seed, first_seed + seeds)))
    if json:
        print(json_module.dumps({"about": about, "seeds": seeds, "changes": as_json(found)}, indent=2))
        return
    _print(f"{about}: {seeds} seed{'s' if seeds > 1 else ''} from {first_seed}", found)


def _refuse(expected: str, options: Mapping[str, object]) -> None:
    for option, value in options.items():
        if value:
            raise UsageError(f"{option}: expected it with {expected} only")


def _run_pairs(
    run: _Run, before: tuple[Path, ...] | None, after: tuple[Path, ...], seeds: Sequence[int]
) -> list[tuple[Values, Values]]:
    pairs: list[tuple[Values, Values]] = []
    with Interruption() as interruption, Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("what-if", total=2 * len(seeds))

        def show(done: int) -> Callable[[float], None]:
            def tell(share: float) -> None:
                progress.update(task, completed=done + share)
                interruption.check()

            return tell

        for number, seed in enumerate(seeds):
            pairs.append((run(before, seed, show(2 * number)), run(after, seed, show(2 * number + 1))))
        progress.update(task, completed=2 * len(seeds))
    return pairs


def _on_network(
    text: str, switch: str | None, proposed: tuple[Path, ...], options: Sequence[str], duration: int | None
) -> tuple[_Run, str]:
    name, _, test_name = text.partition(":")
    study = registry.find(name)
    if not test_name:
        raise UsageError(f"--network {text}: expected a test, such as {name}:{study.tests[0].name}")
    test = study.find_test(test_name)
    chosen = parse_options(study, options)
    node = switch or read_sources([str(file) for file in proposed]).node
    if node is None:
        raise UsageError("what-if: the proposed files name no node, expected --switch SWITCH")
    lasting = duration or test.duration_s

    def run(policies: tuple[Path, ...] | None, seed: int, progress: Callable[[float], None]) -> Values:
        return on_network.run(
            study,
            test,
            switch=node,
            policies=policies,
            options=chosen,
            seed=seed,
            duration_s=lasting,
            progress=progress,
        )

    return run, f"{study.name} {test.name}, {lasting} s, policies of {node}"


def _on_capture(
    capture: Path,
    current: tuple[Path, ...] | None,
    proposed: tuple[Path, ...],
    port: str | None,
    rates: Sequence[str],
    by: on_capture.By,
) -> tuple[_Run, str]:
    if current is None:
        raise UsageError("--capture: expected --current FILE, the policies as they are")
    frames, arrivals = on_capture.read(capture, proposed, port)
    classes = on_capture.classify(arrivals, proposed, frames.at.replace(tzinfo=None), by, port)
    lines = parse_rates(read_sources([str(file) for file in proposed]), rates)

    def run(policies: tuple[Path, ...] | None, seed: int, progress: Callable[[float], None]) -> Values:
        assert policies is not None
        return on_capture.run(frames, classes, policies, rates=lines, seed=seed, progress=progress)

    return run, f"{capture}, {len(arrivals)} packets in {frames.duration_s:.1f} s"


def _print(heading: str, found: Sequence[Change]) -> None:
    console = Console(markup=False, highlight=False)
    console.print(heading, soft_wrap=True)
    table = Table("class", "quantity")
    for column in ("current", "proposed", "change", "± 95 %"):
        table.add_column(column, justify="right")
    table.add_column("")
    previous = ""
    for change in found:
        if previous and change.traffic_class != previous:
            table.add_section()
        unit, scale = next((unit for ending, unit in _UNITS.items() if change.quantity.endswith(ending)), ("", 1.0))
        if change.quantity == "per_s" or change.quantity.endswith("_per_s"):
            unit, scale = "1/s", 1.0
        name = change.quantity.removesuffix("_per_s").removesuffix("_s").removesuffix("_bps").replace("_", " ")
        name = "transactions" if change.quantity == "per_s" else name
        difference = change.difference
        table.add_row(
            change.traffic_class if change.traffic_class != previous else "",
            f"{name} [{unit}]" if unit else name,
            _number(change.current, scale),
            _number(change.proposed, scale),
            _number(difference.mean if difference else None, scale, signed=True),
            _number(difference.half_width if difference else None, scale),
            "*" if change.is_sure else "",
        )
        previous = change.traffic_class
    print_table(console, table)
    console.print("* the 95 % confidence interval over the seeds excludes 0", soft_wrap=True)


def _number(value: float | None, scale: float, *, signed: bool = False) -> str:
    if value is None:
        return "-"
    return f"{value * scale:{'+' if signed else ''},.4g}"
