"""Two targets' transcripts beside each other: the same frames, byte for byte, and the same counters.

Known differences are listed with their reasons in differences.toml; a difference that isn't listed is wrong, and so is
a listed one that isn't there any more.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phb_ptf.transcript import Record, Verdict

KNOWN = Path(__file__).with_name("differences.toml")
_COMPARED = (Verdict.PASS, Verdict.FAIL)


@dataclass(frozen=True)
class Known:
    """An explained difference: of `frames` or `counters`; `case` is ``suite.class``, or its beginning and ``*``."""

    case: str
    what: str
    why: str

    def is_about(self, case: str, what: str) -> bool:
        """Return whether it explains this one."""
        named = case.startswith(self.case[:-1]) if self.case.endswith("*") else case == self.case
        return named and what == self.what


@dataclass(frozen=True)
class Comparison:
    """The result of the comparison; differences are in words.

    Attributes:
        same: Cases that both targets did alike.
        vanished: Listed differences that weren't seen.
        alone: Cases that only one target ran, with the other one's reason.
    """

    same: int
    known: list[str]
    unknown: list[str]
    vanished: list[str]
    alone: list[str]

    @property
    def agrees(self) -> bool:
        """Whether nothing is unexplained and nothing listed in vain."""
        return not self.unknown and not self.vanished


def known_differences() -> list[Known]:
    """Return those of differences.toml."""
    return [Known(**each) for each in tomllib.loads(KNOWN.read_text(encoding="utf-8")).get("difference", [])]


def markdown() -> str:
    """Return the list for the documentation."""
    lines = [f"- `{each.case}`, {each.what}: {each.why}" for each in known_differences()]
    return "\n".join(lines) or "None is known."


def compare(one: Sequence[Record], other: Sequence[Record], listed: Sequence[Known] | None = None) -> Comparison:
    """Compare two targets' records; `listed` are explained differences, those of differences.toml if None."""
    listed = known_differences() if listed is None else listed
    others = {record.case: record for record in other}
    same, known, unknown, alone = 0, [], [], []
    used: set[Known] = set()
    for record in one:
        twin = others.pop(record.case, None)
        if twin is None:
            alone.append(f"{record.case}: not run on the other target")
            continue
        if record.verdict not in _COMPARED or twin.verdict not in _COMPARED:
            if record.verdict is not twin.verdict:
                silent = record if record.verdict not in _COMPARED else twin
                alone.append(f"{record.case}: {silent.reason}")
            continue
        found = _differences(record, twin)
        same += not found
        for what, line in found:
            explained = next((each for each in listed if each.is_about(record.case, what)), None)
            if explained is None:
                unknown.append(f"{record.case}: {line}")
            else:
                used.add(explained)
                known.append(f"{record.case}: {what} differ: {explained.why}")
    alone += [f"{case}: not run on the other target" for case in others]
    ran = {record.case for record in one} & {record.case for record in other}
    # A difference of a case that wasn't run can't have vanished.
    vanished = [
        f"{each.case}: {each.what} don't differ"
        for each in listed
        if each not in used and any(each.is_about(case, each.what) for case in ran)
    ]
    return Comparison(same, known, unknown, vanished, alone)


def _differences(one: Record, other: Record) -> list[tuple[str, str]]:
    found = []
    for number, (mine, its) in enumerate(zip(one.steps, other.steps, strict=False), 1):
        for what in ("sent", "left", "told"):
            if mine.get(what) != its.get(what):
                line = f"step {number}, {what}: {one.target} {mine.get(what)}, {other.target} {its.get(what)}"
                found.append(("frames", line))
    if len(one.steps) != len(other.steps):
        found.append(("frames", f"{one.target} did {len(one.steps)} steps, {other.target} {len(other.steps)}"))
    for counter in sorted(one.counted.keys() | other.counted.keys()):
        values, its_values = one.counted.get(counter, {}), other.counted.get(counter, {})
        if values != its_values:
            found.append(("counters", f"{counter}: {one.target} {values}, {other.target} {its_values}"))
    return found
