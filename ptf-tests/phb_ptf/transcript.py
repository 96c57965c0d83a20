"""Transcripts: a line of JSON for each case, with frames and counters; `phb_ptf.compare` compares two files of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class Verdict(StrEnum):
    """How a case ended."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    SKIP = "skip"


@dataclass
class Record:
    """One case on one target.

    Attributes:
        case: ``suite.class``.
        why: The mistake that a failure shows.
        reason: Of a failure or a skip.
        seconds: Real time that it took.
        steps: In order: the sent frame, and those that left for it, as ``[port, frame in hex]``; those that the
            controller got, as ``[ingress port, exception, frame in hex]``.
        counted: ``[packets, bytes]`` by counter and meaning of a cell, those that aren't zero.
        traces: Of a failure, what the switch says happened to the last packets, where it tells that.
    """

    case: str
    why: str
    target: str
    verdict: Verdict = Verdict.PASS
    reason: str = ""
    seconds: float = 0.0
    steps: list[dict[str, Any]] = field(default_factory=list)
    counted: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    traces: str = ""

    @property
    def suite(self) -> str:
        """The module that the case is in."""
        return self.case.partition(".")[0]


def append(path: Path, record: Record) -> None:
    """Write a record as one more line."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(record)) + "\n")


def read(path: Path) -> list[Record]:
    """Read all lines.

    Raises:
        ValueError: It is no transcript.
        OSError: It can't be read.
    """
    return parse(path.read_text(encoding="utf-8").splitlines(), str(path))


def parse(lines: Iterable[str], name: str) -> list[Record]:
    """Read records from lines of the file `name`.

    Raises:
        ValueError: One is no line of a transcript.
    """
    records = []
    for number, line in enumerate(lines, 1):
        try:
            record = Record(**json.loads(line))
            record.verdict = Verdict(record.verdict)
        except (TypeError, ValueError):
            raise ValueError(f"{name}:{number}: no line of a transcript") from None
        records.append(record)
    return records
