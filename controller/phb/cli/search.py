"""``phb search``: find the packets that are treated in a given way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import BAD_INPUT, OK, app, epilog
from phb.cli.asking import QuestionOptions
from phb.cli.options import Files, Json, grouped
from phb.cli.output import console, errors_as_json, print_error, print_json, print_solver_hint, working

if TYPE_CHECKING:
    from phb.searching.search import Answer

NONE = 1
_PARTS = 20
_CODES = (
    "Exit codes: 0 there are such packets; 1 there are none, which is proven; 2 bad input, or no answer in time; "
    "130 interrupted."
)


@app.command(
    epilog=epilog(
        'phb search branch.yaml --treatment "permission=blocked"',
        'phb search branch.yaml --match "source=10.0.0.0/8" --treatment "class!=bulk"',
        'phb search branch.yaml --match "dscp=ef ingress-port=lan"',
        codes=_CODES,
    )
)
@grouped
def search(
    files: Files,
    questions: QuestionOptions,
    match: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT", help="Packets: words such as protocol=tcp source=10.0.0.0/8; repeated, any of them."
        ),
    ] = None,
    unless: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="But not these packets; may be repeated.")
    ] = None,
    treatment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="What becomes of them: words such as class=voice dropped=false, or {YAML}; repeated, any of them.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Regions that are shown.")] = 20,
    json: Json = False,
) -> int:
    """Find all packets that may be treated in a given way: blocked, of a class, unmetered, ... No switch is asked.

    Packets at any time of day are meant, unless --at says one. Words: docs/policies/proof.md.
    """
    from phb.model import Conditions
    from phb.packets.words import Words
    from phb.regions.budget import Budget, TimeOver
    from phb.searching.conditions import TreatmentConditions
    from phb.searching.search import Answer, search
    from phb.searching.short import parse

    budget = Budget(questions.timeout)
    with errors_as_json(wanted=json):
        packets = [parse(text, "--match", Conditions) for text in match or ()]
        others = [parse(text, "--unless", Conditions) for text in unless or ()]
        wanted = [parse(text, "--treatment", TreatmentConditions) for text in treatment or ()]
        condition = TreatmentConditions(any_of=tuple(wanted)) if wanted else None
        try:
            with budget.enforced():
                asked = questions.subject(files, quiet=json)
        except TimeOver:
            return _tell(Answer((), open=(Words({}, (), "every packet"),)), json=json)
        with working("searching") as progress:
            answer = search(
                asked.subject,
                asked.explaining,
                packets,
                others,
                condition,
                limit=limit,
                budget=budget,
                progress=progress,
            )
    return _tell(answer, asked.made_up, json=json)


def _tell(answer: Answer, made_up: tuple[str, ...] = (), *, json: bool) -> int:
    """Tell what was found, and give the exit code."""
    if json:
        print_json({**_as_json(answer), "made_up": list(made_up)})
    else:
        _print(answer)
    for region in answer.regions:
        if region.wrong is not None:
            print_error(f"phb: error of phb itself, please report it: {region.wrong} ({region.example.text})")
    unsure = any(region.wrong for region in answer.regions) or (not answer.regions and (answer.open or answer.late))
    return BAD_INPUT if unsure else OK if answer.regions else NONE


def _as_json(answer: Answer) -> dict[str, Any]:
    return {
        "regions": [region.as_json() for region in answer.regions],
        "more": answer.more,
        "more_open": answer.more_open,
        "open": [words.as_json() for words in answer.open],
        "proven": not answer.open,
    }


def _print(answer: Answer) -> None:
    output = console()
    for number, region in enumerate(answer.regions, start=1):
        parts = [words.text for words in region.packets[:_PARTS]]
        more = len(region.packets) - len(parts) + region.more_parts
        parts += [f"and {more} more parts"] * bool(more)
        for index, text in enumerate(parts):
            output.print(f"{'   ' if index else f'{number}. '}{text}", soft_wrap=True, style="bold")
        for rule in region.rules:
            output.print(f"   {rule}", soft_wrap=True)
        if not region.rules:
            output.print("   no rule takes them")
        for each in region.becomes:
            output.print(f"   {each}", soft_wrap=True)
        output.print(f"   such as {region.options}", soft_wrap=True)
    if answer.more:
        why = "--timeout" if answer.late else "--limit"
        output.print(f"{answer.more} more region{'s' if answer.more > 1 else ''} ({why})")
    for words in answer.open:
        output.print(f"open, not looked at in time: {words.text}", style="yellow", soft_wrap=True)
    if answer.more_open:
        output.print(f"and {answer.more_open} more sets of packets", style="yellow")
    if answer.open:
        print_solver_hint()
    if not (answer.regions or answer.more or answer.open):
        output.print("no packet: proven")
