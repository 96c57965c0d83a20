"""Results as text, JSON and the document of the evidence."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text

from phb_switch.differential.cases import PACKETS, RANDOM
from phb_switch.differential.kinds import KINDS, Named
from phb_switch.differential.trial import Outcome

UNNAMED = "not explained"
_MOST = 3


@dataclass
class Report:
    """What ran, by what, and what came of it; `refused` are programs that we don't load, by set and name."""

    versions: dict[str, str]
    seed: int
    frames: int
    outcomes: list[tuple[Outcome, Sequence[Named]]] = field(default_factory=list)
    refused: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def unnamed(self) -> list[tuple[Outcome, Named]]:
        """Differences of no known kind."""
        return [(outcome, each) for outcome, named in self.outcomes for each in named if each.kind is None]


def kind_name(named: Named) -> str:
    """The name of a difference's kind."""
    return UNNAMED if named.kind is None else named.kind.name


def print_report(report: Report, console: Console) -> None:
    """Prints what isn't explained, counts, and the summary."""
    for outcome, each in report.unnamed:
        program = outcome.case.program
        difference = each.difference
        where = f"{program.group}, {program.name}, {outcome.case.what}, line {difference.line}"
        console.print(Text(f"{where}: {difference.message}", style="red"), soft_wrap=True)
        console.print(
            Text(f"  {difference.runs[0]}: {difference.expected}\n  {difference.runs[1]}: {difference.got}"),
            soft_wrap=True,
        )
    console.print(summary(report), highlight=False)


def summary(report: Report) -> str:
    """What ran and what differs, in one line."""
    kinds = Counter(kind_name(each) for _, named in report.outcomes for each in named)
    ends = sum(bool(outcome.ended) for outcome, _ in report.outcomes)
    frames = sum(outcome.compared for outcome, _ in report.outcomes)
    told = ", ".join(f"{count} {name}" for name, count in sorted(kinds.items())) or "none"
    return f"{len(report.outcomes)} cases, {frames} frames compared; differences: {told}; bmv2 ended in {ends} cases"


def as_json(report: Report) -> str:
    """The results as a JSON document."""
    cases = [
        {
            "set": outcome.case.program.group,
            "program": outcome.case.program.name,
            "what": outcome.case.what,
            "packets": outcome.case.packets,
            "compared": outcome.compared,
            "ended": outcome.ended or {},
            "not_loaded": outcome.not_loaded or {},
            "differences": [
                {
                    "kind": None if each.kind is None else each.kind.name,
                    "runs": each.difference.runs,
                    "line": each.difference.line,
                    "port": each.difference.port,
                    "message": each.difference.message,
                    "expected": each.difference.expected,
                    "got": each.difference.got,
                }
                for each in named
            ],
        }
        for outcome, named in report.outcomes
    ]
    refused = [{"set": group, "program": name, "reason": why} for (group, name), why in report.refused.items()]
    return json.dumps(
        {
            "versions": report.versions,
            "seed": report.seed,
            "frames": report.frames,
            "cases": cases,
            "refused": refused,
        },
        indent=2,
    )


def document(report: Report) -> str:
    """The document of the evidence."""
    groups = list(dict.fromkeys(outcome.case.program.group for outcome, _ in report.outcomes))
    counts = [f"| set | programs | {PACKETS} | {RANDOM} cases | frames compared | cases that differ | bmv2 ends |"]
    counts.append("|---|---|---|---|---|---|---|")
    for group in groups:
        of_group = [(outcome, named) for outcome, named in report.outcomes if outcome.case.program.group == group]
        programs = len({outcome.case.program.name for outcome, _ in of_group})
        what = Counter(outcome.case.what for outcome, _ in of_group)
        frames = sum(outcome.compared for outcome, _ in of_group)
        differ, ends = sum(bool(named) for _, named in of_group), sum(bool(outcome.ended) for outcome, _ in of_group)
        counts.append(f"| {group} | {programs} | {what[PACKETS]} | {what[RANDOM]} | {frames} | {differ} | {ends} |")
    numbers = Counter(kind_name(each) for _, named in report.outcomes for each in named)
    kinds = ["| kind | differences | why |", "|---|---|---|"]
    kinds += [f"| {kind.name} | {numbers[kind.name]} | {kind.reason} |" for kind in KINDS]
    if numbers[UNNAMED]:
        kinds.append(f"| **{UNNAMED}** | {numbers[UNNAMED]} | |")
    return _DOCUMENT.format(
        versions=", ".join(f"{name} {version}" for name, version in report.versions.items()),
        frames=report.frames,
        seed=report.seed,
        counts="\n".join(counts),
        kinds="\n".join(kinds),
        differences=_differences(report),
        ends=_rows(["| program | case | control plane | what |", "|---|---|---|---|"], _ends(report)),
        not_loaded=_rows(["| program | by whom | what is said |", "|---|---|---|"], _not_loaded(report)),
    )


def _differences(report: Report) -> str:
    """A line for each case and kind, with the first difference."""
    lines = []
    for outcome, named in report.outcomes:
        for kind in dict.fromkeys(map(kind_name, named)):
            mine = [each.difference for each in named if kind_name(each) == kind]
            runs = ", ".join(sorted({each.runs[1].partition(", ")[2] for each in mine}))
            first = f"line {mine[0].line}: {_cell(mine[0].message)}"
            lines.append(
                f"| `{outcome.case.program.name}` | {outcome.case.what} | {runs} | {kind} | {len(mine)} | {first} |"
            )
    return _rows(
        ["| program | case | control plane | kind | how many | the first |", "|---|---|---|---|---|---|"], lines
    )


def _ends(report: Report) -> list[str]:
    return [
        f"| `{outcome.case.program.name}` | {outcome.case.what} | {plane} | {_cell(what)} |"
        for outcome, _ in report.outcomes
        for plane, what in (outcome.ended or {}).items()
    ]


def _not_loaded(report: Report) -> list[str]:
    lines = {
        f"| `{outcome.case.program.name}` | {who} | {_cell(what)} |": None
        for outcome, _ in report.outcomes
        for who, what in (outcome.not_loaded or {}).items()
    }
    return [*lines, *(f"| `{name}` | phb-switch | {_cell(why)} |" for (_, name), why in report.refused.items())]


def _rows(head: list[str], lines: list[str]) -> str:
    return "\n".join([*head, *lines]) if lines else "None."


def _cell(message: str) -> str:
    # Brackets before parentheses would be links, even behind backslashes to some.
    return re.sub(r"([|<>*`])", r"\\\1", message).replace("[", "&#91;").replace("]", "&#93;")


_DOCUMENT = """# phb-switch against bmv2

The same programs, entries and frames on both switches ([how](../differential.md#phb-switch-against-bmv2)). This page is
written by

```
make differential BMV2=PATH P4C=PATH OLDER=FOLDER
```

By {versions}; {frames} random frames for each program, seed {seed}. Frames compared are those that both switches were
given, once with entries by P4Runtime, once by Thrift.

{counts}

What differs, by its kind:

{kinds}

{differences}

Where bmv2 ended by itself; what came before is compared:

{ends}

Programs that a switch doesn't take:

{not_loaded}
"""
