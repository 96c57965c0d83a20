"""The page's parts beside the figures: traffic, adapters, policies, tables, pictures."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rich.table import Table
from rich.text import Text

from phb_lab import data_files
from phb_lab.description import Adapter, Flow, Messages, RequestResponse, SnaStations, Stream
from phb_lab.figures import Figure
from phb_lab.report import judging
from phb_lab.report.document import policy_name
from phb_lab.report.page import charts
from phb_lab.study import Run


@dataclass(frozen=True)
class FigureRow:
    """A figure as the table shows it: ``label`` is its quantity in words."""

    quantity: str
    label: str
    published: str
    measured: str
    ratio: str
    asked: str
    verdict: str
    word: str
    note: str | None
    track: charts.RatioTrack | None
    description: str


@dataclass(frozen=True)
class Policy:
    """A policy file, its text, and the switches that it was pushed to, with the tests that did so."""

    name: str
    text: str
    switches: tuple[str, ...]
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter of an adapter, and its source."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Picture:
    """An SVG file of the study, as a data URL."""

    caption: str
    url: str


@dataclass(frozen=True)
class PlainTable:
    """A table as texts; ``numeric`` says which columns are right-aligned."""

    title: str
    caption: str
    headings: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]


# A picture's title in RDF metadata; the program that drew it has a title too, deeper down.
_TITLE = ".//{http://creativecommons.org/ns#}Work/{http://purl.org/dc/elements/1.1/}title"

_WORDS = {"met": "as asked", "missed": "not as asked", "near": "within 25 %", "off": "further off", "unpublished": ""}


def figure_row(figure: Figure, label: charts.Label) -> FigureRow:
    """One row of the table."""
    verdict = judging.verdict(figure)
    return FigureRow(
        quantity=figure.quantity,
        label=judging.with_unit(label(figure.quantity), figure.unit),
        published="" if figure.published is None else judging.number(figure.published, figure.unit),
        measured=judging.number(figure.measured, figure.unit),
        ratio="" if figure.ratio is None else judging.ratio(figure.ratio),
        asked=judging.asked(figure),
        verdict=verdict,
        word=_WORDS[verdict],
        note=figure.note,
        track=charts.ratio_track(figure),
        description=charts.describe(figure, label),
    )


def traffic(runs: Sequence[Run[Any]]) -> dict[str, list[str]]:
    """Describe the tests' traffic: each line once, with the tests that have it."""
    said: dict[str, list[str]] = {}
    for run in runs:
        counted: dict[str, int] = {}
        for flow in run.network.flows:
            text = describe_flow(flow)
            counted[text] = counted.get(text, 0) + 1
        for stations in run.network.stations:
            counted[describe_stations(stations)] = stations.pus * stations.lus_per_pu
        for text, count in counted.items():
            said.setdefault(f"{count:,} × {text}", []).append(run.test.name)
    return said


def describe_flow(flow: Flow) -> str:
    """A flow in words that fit all flows like it in its group."""
    ends = f"{flow.group}, {flow.client} to {flow.server}: "
    marked = f", type of service {flow.tos:#04x}" if flow.tos else ""
    if isinstance(flow, RequestResponse):
        return f"{ends}{flow.request_bytes:,} bytes asked, {flow.reply_bytes:,} answered, over and over{marked}"
    if isinstance(flow, Messages):
        sizes = sorted({size for _, size in flow.schedule})
        size = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
        kept = "permanent connection" if flow.permanent else "a connection per message"
        return f"{ends}{len(flow.schedule):,} messages of {size} bytes, {kept}{marked}"
    if isinstance(flow, Stream):
        size = "as much as it can" if flow.total_bytes is None else f"{flow.total_bytes:,} bytes"
        return f"{ends}TCP, {size}{marked}"
    rate = flow.payload_bytes * 8 * 1_000_000_000 / flow.interval_ns / 1000
    return f"{ends}UDP datagrams of {flow.payload_bytes:,} bytes, {rate:,.1f} kbit/s {flow.pattern}{marked}"


def describe_stations(stations: SnaStations) -> str:
    """Describe in words what each logical unit of SNA stations does."""
    waits = "and waits for the answer" if stations.waits else "and waits for nothing"
    return (
        f"{stations.group}, logical units of {stations.name}: {stations.request_bytes:,} bytes asked {waits}; "
        f"LLC2 connections: {stations.pus:,}, at most {stations.frames_per_s:,} frames/s"
    )


def adapters(runs: Sequence[Run[Any]]) -> dict[str, list[Parameter]]:
    """Parameters of the adapters, once for equal ones, by their names, kind and, where not all, tests."""
    alike: dict[tuple[str, str], tuple[Adapter, dict[str, None], dict[str, None]]] = {}
    for run in runs:
        for adapter in run.network.adapters:
            same = (adapter.kind, repr(adapter.parameters))
            _, names, tests = alike.setdefault(same, (adapter, {}, {}))
            names[adapter.name] = None
            tests[run.test.name] = None
    found = {}
    for adapter, names, tests in alike.values():
        kind = "" if list(names) == [adapter.kind] else f" ({adapter.kind})"
        where = "" if len(tests) == len(runs) else f": {', '.join(tests)}"
        found[f"{', '.join(names)}{kind}{where}"] = [
            Parameter(name, f"{value:,}" if isinstance(value, int) else str(value), _source(adapter, name))
            for name, value in adapter.parameters.items()
        ]
    return found


def _source(adapter: Adapter, parameter: str) -> str:
    """The source of a parameter's value; empty where the value is the network's own.

    An adapter may have parameters of several entries of the data file: the entry that it shares most with counts first.
    """
    entries = {name: entry for name, entry in data_files.adapters().items() if parameter in entry}
    shared = {name: len(entry.items() & _plain(adapter).items()) for name, entry in entries.items()}
    for name in sorted(entries, key=lambda name: -shared[name]):
        if entries[name][parameter] == adapter.parameters[parameter]:
            return data_files.adapter_sources()[name].get(parameter, "")
    return ""


def _plain(adapter: Adapter) -> dict[str, int]:
    return {name: value for name, value in adapter.parameters.items() if isinstance(value, int)}


def policies(runs: Sequence[Run[Any]]) -> list[Policy]:
    """Every policy file that was pushed, once."""
    switches: dict[Path, list[str]] = {}
    tests: dict[Path, list[str]] = {}
    for run in runs:
        for switch in run.network.switches:
            for path in switch.policy_files:
                switches.setdefault(path, []).append(switch.name)
                tests.setdefault(path, []).append(run.test.name)
    return [
        Policy(policy_name(path), path.read_text(), tuple(dict.fromkeys(names)), tuple(dict.fromkeys(tests[path])))
        for path, names in switches.items()
    ]


def plain_table(table: Table) -> PlainTable:
    """A table for the terminal as plain text, which any page can lay out."""
    columns = [[_text(cell) for cell in column.cells] for column in table.columns]
    return PlainTable(
        title=_text(table.title),
        caption=_text(table.caption),
        headings=tuple(_text(column.header) for column in table.columns),
        numeric=tuple(column.justify == "right" for column in table.columns),
        rows=tuple(zip(*columns, strict=True)),
    )


def pictures(files: Sequence[Path]) -> list[Picture]:
    """The SVG files among them."""
    return [_picture(path) for path in files if path.suffix == ".svg"]


def _picture(path: Path) -> Picture:
    text = path.read_text()
    # Matplotlib writes a picture's title, where it was given one, as metadata.
    title = ElementTree.fromstring(text).find(_TITLE)
    caption = path.stem.replace("-", " ").replace("_", " ") if title is None or not title.text else title.text
    return Picture(caption, "data:image/svg+xml;base64," + b64encode(text.encode()).decode())


def _text(value: object) -> str:
    return "" if value is None else value.plain if isinstance(value, Text) else str(value)
