"""``phb verify``: prove that a policy does what is expected of it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import OK, app, epilog
from phb.cli.asking import QuestionOptions
from phb.cli.options import Json, grouped
from phb.cli.output import console, errors_as_json, print_error, print_json, print_solver_hint, working
from phb.errors import InputError
from phb.files import check_output, write_output
from phb.origin import Origin

if TYPE_CHECKING:
    from phb.searching.verify import Question, Verdict

FAILED = 1
_CODES = "Exit codes: 0 all is as expected; 1 it isn't, or wasn't proven in time; 2 bad input; 130 interrupted."
_STYLES = {"ok": "green", "fails": "bold red", "open": "yellow"}


@app.command(
    epilog=epilog(
        "phb verify branch.expectations.yaml",
        "phb verify branch.expectations.yaml new-branch.yaml --junit verified.xml",
        codes=_CODES,
    )
)
@grouped
def verify(
    expectations: Annotated[Path, typer.Argument(help="What is expected, in YAML.", metavar="EXPECTATIONS")],
    questions: QuestionOptions,
    files: Annotated[
        list[str] | None,
        typer.Argument(help="All policy files of one node.  (default: those that EXPECTATIONS names)", metavar="FILE"),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write the verdicts as JUnit XML, too.")
    ] = None,
    json: Json = False,
) -> int:
    """Prove for all packets that a policy does what is expected of it, or show a packet where it doesn't.

    Packets at any time of day are meant, unless --at says one. Words: docs/policies/proof.md.
    """
    from phb.regions.budget import Budget, TimeOver
    from phb.searching.expectations import read_expectations
    from phb.searching.junit import junit as as_junit
    from phb.searching.verify import State, Verdict, verdict
    from phb.searching.verify import questions as questions_of

    budget, node = Budget(questions.timeout), ""
    made_up: tuple[str, ...] = ()
    with errors_as_json(wanted=json):
        if junit is not None:
            check_output(junit, "--junit")
        said = read_expectations(expectations)
        names = files or list(said.policies)
        if not names:
            raise InputError(Origin(str(expectations)), "no 'policies', and no file", "one of them")
        verdicts: list[Verdict] = []
        asking: list[Question] = []
        with suppress(TimeOver), budget.enforced():
            asked = questions.subject(names, quiet=json)
            node, made_up = asked.subject.policy.node or "", asked.made_up
            asking = questions_of(asked.subject, said.expectations)
        for number, each in enumerate(said.expectations):
            # What one doesn't need, the others may take.
            share = budget.part(1 / (len(said.expectations) - number))
            told = Verdict(each, State.OPEN, None, 0)
            with working(each.name) as progress, suppress(TimeOver):
                if asking:
                    told = verdict(asked.subject, asked.explaining, asking[number], share, progress)
            verdicts.append(told)
            if not json:
                _print(told)
        if junit is not None:
            text = as_junit(node or ", ".join(names), verdicts, questions.reading.moment())
            write_output(junit, text, "--junit")
    states = [told.state.value for told in verdicts]
    counts = {state: states.count(state) for state in _STYLES}
    if json:
        told_all = [_as_json(told) for told in verdicts]
        print_json({"expectations": told_all, **counts, "made_up": list(made_up)})
    else:
        if counts["open"]:
            print_solver_hint()
        console().print(", ".join(f"{count} {state}" for state, count in counts.items() if count))
    for told in verdicts:
        if told.counterexample is not None and told.counterexample.wrong is not None:
            print_error(f"phb: error of phb itself, please report it: {told.counterexample.wrong}")
    return OK if counts["ok"] == len(verdicts) else FAILED


def _print(verdict: Verdict) -> None:
    from phb.searching.verify import reasons

    output = console()
    shown = verdict.state.value.upper() if verdict.state.value == "fails" else verdict.state.value
    output.print(f"{shown:<6}", style=_STYLES[verdict.state.value], end="")
    output.print(f"{verdict.expectation.name}", soft_wrap=True)
    for line in reasons(verdict):
        output.print(f"      {line}", soft_wrap=True)


def _as_json(verdict: Verdict) -> dict[str, Any]:
    origin, shown = verdict.expectation.origin(), verdict.counterexample
    keys = ("rules", "becomes", "example")
    return {
        "name": verdict.expectation.name,
        "state": verdict.state.value,
        "file": origin.file,
        "line": origin.line,
        "seconds": round(verdict.seconds, 3),
        "counterexample": None if shown is None else {key: shown.as_json()[key] for key in keys},
    }
