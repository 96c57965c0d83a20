"""``phb check``: check policy files, and show what they compile to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import OK, REFUSED, app, epilog
from phb.cli.options import Files, Json, ProgramOptions, ReadingOptions, TargetName, WhichOptions, grouped
from phb.cli.output import (
    console,
    errors_as_json,
    notice_as_json,
    print_json,
    print_made_up,
    print_notices,
    print_solver_hint,
    print_table,
    table,
)
from phb.errors import InputError
from phb.origin import UNKNOWN, Origin

if TYPE_CHECKING:
    from datetime import datetime

    from phb.deploying import Prepared
    from phb.device.artifact import Artifact
    from phb.intent import NodeIntent
    from phb.inventory import Switch
    from phb.model import Objectives, PolicySet
    from phb.proving.compiled import Proof
    from phb.regions.budget import Budget


_CODES = (
    "Exit codes: 0 the files are right; 1 the tables would do otherwise than they say, or it isn't known (--prove); "
    "2 bad input; 130 interrupted."
)


@app.command(
    epilog=epilog(
        "phb check c7513.yaml c7513-wfq.yaml",
        "phb check --json mvs074*.yaml policy.conf",
        "phb check --prove branch-router.yaml",
        codes=_CODES,
    )
)
@grouped
def check(
    files: Files,
    reading: ReadingOptions,
    program: ProgramOptions,
    target: TargetName = None,
    notes: Annotated[bool, typer.Option("--notes", help="List also lines that don't bear on packets.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    prove: Annotated[
        bool, typer.Option("--prove", help="Prove that the tables do with every packet what the files say.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="How long all of it may take, with --prove.  (default: no limit)"),
    ] = None,
    json: Json = False,
) -> int:
    """Read policy files and compile them; nothing is sent."""
    from phb.regions.budget import Budget, TimeOver

    budget = Budget(timeout)
    with errors_as_json(wanted=json):
        if timeout is not None and not prove:
            raise InputError(Origin("--timeout"), "a time without --prove", "both, or neither")
        moment = reading.moment()
        try:
            with budget.enforced():
                (anywhere,) = WhichOptions().many(files, reading, target=target)
                prepared, made_up = _prepared(anywhere, program.load(), moment)
        except TimeOver:
            return _unread(budget, json=json)
        proof = _proof(prepared, moment, budget, always=reading.at is None) if prove else None
    intent, policy = prepared.intent, prepared.policy
    if json:
        told = _as_json(intent, policy) | {"made_up": list(made_up)}
        print_json(told | ({} if proof is None else {"proof": _proof_as_json(proof)}))
    else:
        if not quiet:
            print_notices(intent.notices, notes=notes)
            print_made_up(made_up)
            _print(intent, policy)
        if proof is not None:
            _print_proof(proof, quiet=quiet)
    return OK if proof is None or proof.proven else REFUSED


def _prepared(switch: Switch, artifact: Artifact, moment: datetime) -> tuple[Prepared, tuple[str, ...]]:
    """Read and compile; where no file numbers any port, with numbers that are made up, as the words say."""
    from phb.comparing.alone import numbered
    from phb.deploying import compiled
    from phb.formats.format import ReadOptions
    from phb.sources import poll_all, read_documents

    documents = tuple(poll_all(switch.policies))
    policy = read_documents(documents, switch.format, ReadOptions(switch.dialect))
    told: tuple[str, ...] = ()
    if all(port.number is None for port in policy.ports):
        (policy,), made_up, _ = numbered([policy])
        told = tuple(f"{words}; a push needs their numbers" for words in made_up)
    return compiled(switch, artifact, documents, policy, moment), told


def _proof(prepared: Prepared, moment: datetime, budget: Budget, *, always: bool) -> Proof:
    from phb.packets.epochs import Epochs
    from phb.proving.compiled import prove

    epochs = Epochs.of([prepared.policy], moment) if always else Epochs.at(moment)
    return prove(prepared.policy, prepared.artifact, epochs.moments, target=prepared.intent.target, budget=budget)


def _unread(budget: Budget, *, json: bool) -> int:
    """Tell that not even the files could be read in the time that was allowed."""
    from phb.proving.compiled import Proof

    proof = Proof(0, 0, 0, budget.taken, open=("every packet: reading the files took all the time",))
    if json:
        print_json({"proof": _proof_as_json(proof)})
    else:
        _print_proof(proof, quiet=True)
    return REFUSED


def _proof_as_json(proof: Proof) -> dict[str, Any]:
    def place(origin: Origin) -> dict[str, Any]:
        return {"file": origin.file, "line": origin.line}

    return {
        "proven": proof.proven,
        "rules": proof.rules,
        "entries": proof.entries,
        "moments": proof.moments,
        "seconds": round(proof.seconds, 3),
        "wrong": [
            {
                "what": each.what,
                "policy": each.says,
                "tables": each.does,
                "said": place(each.said_at),
                "compiled_from": place(each.done_at),
                "packet": each.packet,
                "at": each.moment.isoformat(timespec="seconds"),
            }
            for each in proof.wrong
        ],
        "open": list(proof.open),
    }


def _print_proof(proof: Proof, *, quiet: bool) -> None:
    output = console()
    for each in proof.wrong:
        said, done = (f" ({origin})" if origin != UNKNOWN else "" for origin in (each.said_at, each.done_at))
        output.print(f"wrong: {each.what}: policy {each.says}{said}, tables {each.does}{done}")
        if each.packet is not None:
            at = f" --at {each.moment:%Y-%m-%dT%H:%M:%S}" if proof.moments > 1 else ""
            output.print(f'  phb explain --packet "{each.packet}"{at}')
    for left in proof.open:
        output.print(f"not known: {left}")
    counts = f"{_count(proof.rules, 'rule')}, {_count(proof.entries, 'entry', 'entries')}"
    moments = _count(proof.moments, "moment")
    if proof.wrong:
        output.print(f"not proven: the tables do otherwise than the policy says; please report it ({counts})")
    elif proof.open:
        print_solver_hint()
        output.print(f"not proven in the time that was allowed: {counts}, {moments}, {proof.seconds:.1f} s")
    elif not quiet:
        output.print(f"proven: {counts}, every packet, {moments}, {proof.seconds:.1f} s")


def _count(number: int, word: str, words: str = "") -> str:
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def _as_json(intent: NodeIntent, policy: PolicySet) -> dict[str, Any]:
    return {
        "node": intent.node,
        "entries": len(intent.entries),
        "policies": [
            {
                "policy": policy.number,
                "rule": policy.rule,
                "direction": policy.direction,
                "file": policy.origin.file,
                "line": policy.origin.line,
            }
            for policy in intent.policies
        ],
        "objectives": [
            {
                "of": kind,
                "name": name,
                "bounds": list(objectives.bounds()),
                "interval_s": objectives.interval_s,
                "file": origin.file,
                "line": origin.line,
            }
            for kind, name, objectives, origin in _judged(policy)
        ],
        "warnings": [notice_as_json(notice) for notice in intent.notices],
    }


def _judged(policy: PolicySet) -> Iterator[tuple[str, str, Objectives, Origin]]:
    from phb.model import JUDGED

    for item in policy.judged:
        if item.objectives is not None:
            yield JUDGED[type(item)], item.name, item.objectives, item.origin("objectives")


def _print(intent: NodeIntent, policy: PolicySet) -> None:
    output = console()
    if intent.policies:
        rows = table("policy", "rule", "direction", "from")
        for each in intent.policies:
            rows.add_row(str(each.number), each.rule, each.direction, str(each.origin))
        print_table(output, rows)
    judged = [(f"{kind} {name}", str(said), str(origin)) for kind, name, said, origin in _judged(policy)]
    if judged:
        rows = table("objectives of", "are", "from")
        for row in judged:
            rows.add_row(*row)
        print_table(output, rows)
    output.print(f"{intent.node or 'policy'}: ok, {len(intent.entries)} table entries")
