"""Reports of several switches side by side, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from phb_conform.report import CheckRow, Report

SIGNS = {"pass": "✓", "fail": "**✗**", "not applicable": "–"}


def page(reports: Sequence[Report]) -> str:
    """Return one table per document, a column per switch; checks in the order of the first report that has them.

    Raises:
        ValueError: No report.
    """
    if not reports:
        raise ValueError("no report")
    lines = [f"- **{report.target}** ({report.switch}): {report.summary}" for report in reports]
    # A check's words are those of the first report that has it.
    rows = {row.name: row for report in reversed(reports) for row in report.rows}
    documents = list(dict.fromkeys(row.document for report in reports for row in report.rows))
    names = list(dict.fromkeys(row.name for report in reports for row in report.rows))
    ordered = sorted((rows[name] for name in names), key=lambda row: documents.index(row.document))
    found = [{row.name: row for row in report.rows} for report in reports]
    for document, members in groupby(ordered, lambda row: row.document):
        lines += ["", f"## {document}", ""]
        lines.append("| section | level | asked | " + " | ".join(report.target for report in reports) + " |")
        lines.append("|---|---|---|" + "---|" * len(reports))
        for row in members:
            cells = [row.section, row.level, row.asks, *(_cell(each.get(row.name)) for each in found)]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(row: CheckRow | None) -> str:
    return "not recorded" if row is None else f"{SIGNS[row.verdict]} {row.measured}"
