"""The report for people: one table per document on a terminal or in a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from phb_conform.check import Check, Verdict
from phb_conform.report import Report

STYLES = {Verdict.PASS: "green", Verdict.FAIL: "bold red", Verdict.NOT_APPLICABLE: "dim"}


def tables(report: Report) -> RenderableType:
    """Return tables of all documents, with counts below."""
    parts: list[RenderableType] = []
    for document, rows in groupby(report.rows, lambda row: row.document):
        table = _table(document, ("section", 0), ("level", 0), ("asked", 3), ("verdict", 0), ("measured", 2))
        for row in rows:
            verdict = Text(row.verdict.value, STYLES[row.verdict])
            table.add_row(row.section, row.level, Text(row.asks), verdict, row.measured)
        parts.append(table)
    return Group(*parts, Text(f"{report.switch}: {report.summary}"))


def listing(checks: Sequence[Check]) -> RenderableType:
    """List the checks that would be run."""
    parts: list[RenderableType] = []
    for document, members in groupby(checks, lambda check: check.document):
        table = _table(document, ("section", 0), ("level", 0), ("name", 0), ("asked", 1))
        for check in members:
            table.add_row(check.section, check.level.value, check.name, Text(check.asks))
        parts.append(table)
    return Group(*parts)


def show(console: Console, rendered: RenderableType) -> None:
    """Print; long cells are wrapped within their columns."""
    console.print(rendered)


def _table(title: str, *columns: tuple[str, int]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, header_style="bold")
    for heading, ratio in columns:
        table.add_column(heading, ratio=ratio or None, no_wrap=not ratio, overflow="fold")
    return table
