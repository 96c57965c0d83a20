"""The reports that the documentation shows: ``python -m phb_conform.recording FOLDER [TARGET [WHAT...]]``.

A report per target is kept as JSON in ``FOLDER/conformance``; ``FOLDER/conformance.md`` shows all of them side by side.
`WHAT` is a document or a check, as of ``phb conform --only``; rows of other checks stay.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from phb import targets
from phb_conform.check import CHECKS, Check
from phb_conform.checklist import select
from phb_conform.markdown import page
from phb_conform.report import Report, from_json, report
from phb_conform.running import run
from phb_device import TARGETS, Ports, missing, open_device

BEGIN, END = "<!-- recorded by `make conform` -->\n", "<!-- end -->\n"


def recorded(folder: Path) -> list[Report]:
    """Return the kept reports, the default target's first."""
    paths = [folder / "conformance" / f"{name}.json" for name in targets.names()]
    return [from_json(path.read_text(encoding="utf-8")) for path in paths if path.exists()]


def rewrite(text: str, reports: list[Report]) -> str:
    """Return the page with other reports.

    Raises:
        ValueError: The page has no place for them.
    """
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"no {BEGIN.strip()} ... {END.strip()}")
    return f"{before}{BEGIN}\n{page(reports)}\n{END}{after}"


def record(target: str, checks: Sequence[Check]) -> Report:
    """Run checks on a switch in memory."""
    with open_device(target, Ports.MEMORY) as device:
        results = []
        for result in run(device, checks):
            print(f"{target}: {result.check.name}: {result.finding.verdict}", file=sys.stderr)
            results.append(result)
        return report(device, results)


def merged(new: Report, old: Report | None) -> Report:
    """Return a report with the rows that it lacks from an older one, for checks that still exist."""
    rows = {row.name: row for report in (old, new) if report is not None for row in report.rows}
    return replace(new, rows=tuple(rows[check.name] for check in CHECKS if check.name in rows))


def main() -> None:
    """Record all switches that can be had here; or one target, all its checks or some."""
    folder, *named = sys.argv[1:]
    if named and named[0] not in targets.names():
        print(f"phb_conform.recording: target '{named[0]}': one of {', '.join(targets.names())}", file=sys.stderr)
        sys.exit(2)
    kept = {each.target: each for each in recorded(Path(folder))}
    for target in named[:1] or TARGETS:
        reason = missing(target, Ports.MEMORY)
        if reason:
            print(f"{target}: {reason}, its report stays as it is", file=sys.stderr)
            continue
        found = merged(record(target, select(named[1:])), kept.get(target))
        (Path(folder) / "conformance" / f"{target}.json").write_text(found.to_json(), encoding="utf-8")
    path = Path(folder) / "conformance.md"
    path.write_text(rewrite(path.read_text(encoding="utf-8"), recorded(Path(folder))), encoding="utf-8")


if __name__ == "__main__":
    main()
