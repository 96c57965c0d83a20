"""The result of a run as a table, as JSON, and as the XML that CI systems read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table

from phb_ptf.transcript import Record, Verdict

BAD = (Verdict.FAIL, Verdict.ERROR)


def bad(records: Iterable[Record]) -> list[Record]:
    """Return those that didn't pass."""
    return [record for record in records if record.verdict in BAD]


def show(console: Console, title: str, records: Sequence[Record]) -> None:
    """Print each suite's numbers, then each case that didn't pass, and why cases were skipped."""
    table = Table(title=title)
    for column in ("suite", "passed", "failed", "skipped", "seconds"):
        table.add_column(column, justify="left" if column == "suite" else "right")
    for suite in dict.fromkeys(record.suite for record in records):
        of_suite = [record for record in records if record.suite == suite]
        table.add_row(suite, *_numbers(of_suite))
    table.add_section()
    table.add_row("all", *_numbers(records))
    console.print(table)
    for record in bad(records):
        console.print(f"[red]{record.verdict}[/red] {record.case}: {record.why}", highlight=False)
        for words in filter(None, (record.reason, record.traces)):
            console.print(words, markup=False, highlight=False, soft_wrap=True)
    for line in skips(records):
        console.print(f"skipped {line}", markup=False, highlight=False, soft_wrap=True)


def skips(records: Iterable[Record]) -> list[str]:
    """Return reasons of skipped cases, with how many."""
    reasons = Counter(record.reason for record in records if record.verdict is Verdict.SKIP)
    return [f"{count}: {reason}" for reason, count in sorted(reasons.items())]


def _numbers(records: Sequence[Record]) -> list[str]:
    verdicts = Counter(record.verdict for record in records)
    failed = sum(verdicts[verdict] for verdict in BAD)
    seconds = sum(record.seconds for record in records)
    return [str(verdicts[Verdict.PASS]), str(failed), str(verdicts[Verdict.SKIP]), f"{seconds:.1f}"]


def write_json(path: Path, records: Iterable[Record]) -> None:
    """Write all cases with their verdicts; frames and counters are in the transcript."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([_short(record) for record in records], indent=2) + "\n")


def _short(record: Record) -> dict[str, Any]:
    return {key: value for key, value in asdict(record).items() if key not in ("steps", "counted")}


def write_xunit(path: Path, records: Sequence[Record]) -> None:
    """Write JUnit's XML, which CI systems read."""
    suite = ElementTree.Element(
        "testsuite",
        name="phb ptf",
        tests=str(len(records)),
        failures=str(sum(record.verdict is Verdict.FAIL for record in records)),
        errors=str(sum(record.verdict is Verdict.ERROR for record in records)),
        skipped=str(sum(record.verdict is Verdict.SKIP for record in records)),
    )
    elements = {Verdict.FAIL: "failure", Verdict.ERROR: "error", Verdict.SKIP: "skipped"}
    for record in records:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=f"{record.target}.{record.suite}",
            name=record.case.partition(".")[2],
            time=f"{record.seconds:.3f}",
        )
        if record.verdict in elements:
            ElementTree.SubElement(case, elements[record.verdict], message=record.reason).text = "\n".join(
                filter(None, (record.why, record.traces))
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
