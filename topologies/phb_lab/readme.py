"""Tables of docs/networks/index.md and README's picture, made from runs of this tree: ``make readme``."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phb_lab import registry
from phb_lab.experiment import DEFAULT_SEED, run_test
from phb_lab.figures import Figure
from phb_lab.networks import s390
from phb_lab.networks.s390.pictures import draw_summary
from phb_lab.study import Run

BEGIN = "<!-- measured: `make readme` writes what stands between these lines -->"
END = "<!-- end of measured -->"
BEGIN_HEADLINES = "<!-- headlines: `make readme` writes what stands between these lines -->"
END_HEADLINES = "<!-- end of headlines -->"

_QUANTITIES = ("interactive.n", "interactive.avg", "ftp.n", "ftp.avg")


@dataclass(frozen=True)
class Headline:
    """One row of the table of networks: a figure, the test that measures it, and how its numbers are shown.

    ``says`` names it in words, ``shape`` is the format of its numbers, ``scale`` converts from the figure's own unit.
    """

    network: str
    test: str
    published_test: str
    quantity: str
    says: str
    shape: str
    unit: str
    scale: float = 1.0


_QUEUES = "round2_shaped_512k.two_queues_cs1_50_cs2_50.with_cs1_background"
_SHARES = "throughput_percent_of_link"

HEADLINES = (
    Headline("isode", "unshaped", "round1_unshaped_2mbps.single", "1M.s", "a message of 1 MByte alone", ".1f", "s"),
    Headline(
        "isode", "queues-load-immediate", _QUEUES, "immediate_1M.s", "CS2 beside the CS1 load, a queue each", ".1f", "s"
    ),
    Headline(
        "isode",
        "answer",
        "answer",
        "immediate_1M.of_base",
        "CS2 beside it, one queue, our policy: of its unloaded rate",
        ".0f",
        "%",
        100,
    ),
    Headline("e1", "small-500", "small-500", f"{_SHARES}.AF1.router", "AF1 of the line, policy 15 %", ".1f", "%"),
    Headline("e1", "small-500", "small-500", f"{_SHARES}.AF4.router", "AF4 of the line, policy 5 %", ".1f", "%"),
    Headline("e1", "small-1500", "small-1500", f"{_SHARES}.AF1.router", "AF1 of the line, policy 15 %", ".1f", "%"),
    Headline("e1", "small-1500", "small-1500", f"{_SHARES}.AF4.router", "AF4 of the line, policy 5 %", ".1f", "%"),
    Headline("e1", "small-1500", "small-1500", "delay_ms_by_mtu.1500.EF", "EF's mean delay", ".1f", "ms"),
    Headline("e1", "large-1500", "large-1500", "delay_ms_by_mtu_large_buffers.1500.EF", "EF's mean delay", ".1f", "ms"),
    Headline(
        "cip",
        "ping-2",
        "ip_datagram",
        "ping_two_channels_MBps",
        "two channels, one way (published: twice its one)",
        ".1f",
        "MB/s",
    ),
    Headline("cip", "tcp-stream", "ip_datagram", "tcp_stream_two_channels_MBps", "TCP over both", ".1f", "MB/s"),
    Headline("cip", "csna-16000-lu", "csna", "pps_16000_lu", "SNA, 16,000 LUs", ",.0f", "packets/s"),
    Headline("cip", "tn3270-16000", "tn3270_server", "lus_16000_tps", "16,000 TN3270 sessions", ",.0f", "1/s"),
    Headline("osa", "lan-idle-rr10", "dynamic_lan_idle", "rr10_tps_gain", "dynamic LAN idle, RR10", "+.0f", "%", 100),
    Headline(
        "osa", "iwq-mixed", "inbound_workload_queueing", "mixed_rr_tps_gain", "IWQ, mixed, requests", "+.0f", "%", 100
    ),
)


def run_all(seed: int = DEFAULT_SEED) -> list[Run[Any]]:
    """The eight tests of the S/390 network at the source's own settings."""
    return [run_test(s390.STUDY, test, seed=seed) for test in s390.STUDY.tests]


def table(runs: Sequence[Run[Any]]) -> str:
    """A Markdown table: published and measured, a row per test."""
    lines = [
        "| test | interactive transactions | interactive response [s] | transfers | transfer response [s] |",
        "|---|---|---|---|---|",
    ]
    for run in runs:
        cells = []
        for quantity in _QUANTITIES:
            figure = run.figure(quantity)
            shape = ",.0f" if quantity.endswith(".n") else ".3f"
            cells.append(f"{figure.published or 0:{shape}} / **{figure.measured:{shape}}**")
        lines.append(f"| {run.test.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def headlines(seed: int = DEFAULT_SEED) -> str:
    """A Markdown table of the other networks: a row per headline; what misses what is asked of it says so."""
    runs: dict[tuple[str, str], Run[Any]] = {}
    lines = ["| network | test | | published | measured |", "|---|---|---|---|---|"]
    previous = ""
    for row in HEADLINES:
        key = (row.network, row.test)
        if key not in runs:
            study = registry.find(row.network)
            runs[key] = run_test(study, study.find_test(row.test), seed=seed)
        figure = runs[key].figure(row.quantity, row.published_test)
        name = f"[{row.network}]({row.network}.md)" if row.network != previous else ""
        published = _value(figure.published, row) if figure.published is not None else "-"
        measured = f"**{_value(figure.measured, row)}**{_verdict(figure)}"
        lines.append(f"| {name} | `{row.test}` | {row.says} | {published} | {measured} |")
        previous = row.network
    return "\n".join(lines)


def _value(value: float, row: Headline) -> str:
    return f"{value * row.scale:{row.shape}} {row.unit}"


def _verdict(figure: Figure) -> str:
    notes = []
    if figure.met is False:
        notes.append("not as asked")
    if figure.note is not None and figure.note.startswith("calibrated"):
        notes.append("calibrated")
    return f" ({', '.join(notes)})" if notes else ""


def with_table(text: str, measured: str, *, begin: str = BEGIN, end: str = END) -> str:
    """Replace what stands between two lines of the page.

    Raises:
        ValueError: The page has lost them.
    """
    before, first, rest = text.partition(begin)
    _, last, after = rest.partition(end)
    if not first or not last:
        raise ValueError(f"docs/networks/index.md: expected the lines {begin!r} and {end!r}")
    return f"{before}{begin}\n{measured}\n{end}{after}"


def rewrite(text: str, runs: Sequence[Run[Any]]) -> str:
    """Return the page with both tables as measured."""
    return with_table(with_table(text, table(runs)), headlines(), begin=BEGIN_HEADLINES, end=END_HEADLINES)


def main(root: Path) -> None:
    """Rewrite the tables and the picture below ``root``."""
    runs = run_all()
    page = root / "docs" / "networks" / "index.md"
    page.write_text(rewrite(page.read_text(), runs))
    traffic = s390.STUDY.published["traffic"]
    by_test = {run.test.name: run.outcome.transactions for run in runs}
    draw_summary(by_test, traffic["graph_trim_s"], traffic["duration_s"], root / "docs" / "pictures" / "s390-figure-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
