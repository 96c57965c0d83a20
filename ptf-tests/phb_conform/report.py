"""The report as data: the findings of a run, to JSON and back. `report.schema.json` describes it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from phb_conform.check import Verdict
from phb_conform.running import Result
from phb_device import Device

FORMAT = 1
"""Changes when a reader of the JSON would have to."""

SCHEMA = Path(__file__).with_name("report.schema.json")


@dataclass(frozen=True)
class CheckRow:
    """One check of a report, with the fields of `Check` and `Finding`."""

    name: str
    document: str
    section: str
    level: str
    asks: str
    verdict: Verdict
    measured: str
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """The findings of all checks on one switch, in the order of the checklist.

    Attributes:
        target: Name of `phb.targets`.
        switch: The tested switch, in a few words.
        virtual: Whether time was virtual: then the same tree gives the same report.
        phb: Version that ran them.
    """

    target: str
    switch: str
    virtual: bool
    rows: tuple[CheckRow, ...]
    phb: str

    def count(self, verdict: Verdict) -> int:
        """Count checks with this verdict."""
        return Counter(row.verdict for row in self.rows)[verdict]

    @property
    def conforms(self) -> bool:
        """Whether nothing failed."""
        return not self.count(Verdict.FAIL)

    @property
    def summary(self) -> str:
        """Counts in words."""
        said = f"{self.count(Verdict.PASS)} passed, {self.count(Verdict.FAIL)} failed"
        return f"{said}, {self.count(Verdict.NOT_APPLICABLE)} not applicable"

    def to_json(self) -> str:
        """Return it as JSON text."""
        data = {"phb-conform": FORMAT, "phb": self.phb, "target": self.target, "switch": self.switch}
        data |= {"virtual": self.virtual, "summary": {verdict: self.count(verdict) for verdict in Verdict}}
        return json.dumps(data | {"checks": [asdict(row) for row in self.rows]}, indent=1) + "\n"


def report(device: Device, results: Iterable[Result]) -> Report:
    """Make the report of the results on a device."""
    rows = tuple(
        CheckRow(
            name=check.name,
            document=check.document,
            section=check.section,
            level=check.level.value,
            asks=check.asks,
            verdict=finding.verdict,
            measured=finding.measured,
            figures=dict(finding.figures),
        )
        for check, finding in ((result.check, result.finding) for result in results)
    )
    return Report(device.target, device.title, device.virtual, rows, version("phb"))


def from_json(text: str) -> Report:
    """Read a report that `Report.to_json` wrote."""
    data: dict[str, Any] = json.loads(text)
    rows = tuple(CheckRow(**(row | {"verdict": Verdict(row["verdict"])})) for row in data["checks"])
    return Report(data["target"], data["switch"], data["virtual"], rows, data["phb"])
