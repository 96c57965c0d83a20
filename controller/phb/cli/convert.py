"""``phb convert``: write a policy in another format, and list what that format can't say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import REFUSED, app, epilog
from phb.cli.options import DeviceId, Json, ProgramOptions, ReachOptions, SwitchOptions, check_address, grouped
from phb.cli.output import print_errors, print_json, print_losses, print_notices
from phb.errors import InputError
from phb.files import check_output, write_output
from phb.origin import Origin

if TYPE_CHECKING:
    from phb.comparing.conversion import Proof
    from phb.formats import Converted, Loss, ReadOptions
    from phb.model import PolicySet
    from phb.recovering import Recovered

_REGIONS, _THINGS = 5, 3
"""Regions that are shown, and of each so many things that differ; JSON has all."""


@dataclass(frozen=True)
class OutputOptions:
    """Where to write, and what may be lost."""

    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write.  (default: standard output)")
    ] = None
    strict: Annotated[bool, typer.Option("--strict", help="Write nothing where anything would be lost.")] = False
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Write also where packets would get something else than before.")
    ] = False

    def refuses(self, losses: Sequence[Loss]) -> bool:
        """Whether nothing is written because of these losses."""
        return bool(losses) if self.strict else not self.lossy and any(loss.packets for loss in losses)


@dataclass(frozen=True)
class FormatOptions:
    """How files are read and written."""

    format_name: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Format of the files that are read.  (default: by each file)"),
    ] = None
    dialect: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Which IOS is read or written, where the files don't say: ios-11.3, ios-12 or ios-hqf."
        ),
    ] = None


@dataclass(frozen=True)
class ProofOptions:
    """Whether and how long what is written is compared with its source."""

    no_proof: Annotated[bool, typer.Option("--no-proof", help="Don't compare what packets get before and after.")] = (
        False
    )
    proof_timeout: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="How long comparing may take; then it isn't proven.")
    ] = 30.0


@app.command(
    epilog=epilog(
        "phb convert --to yaml policy-agent.conf -o policy.yaml",
        "phb convert --to policy-agent --strict policy.yaml",
        "phb convert --to ios --lossy policy.yaml",
        "phb convert --from-switch 192.0.2.1:9559 -o held.yaml",
    )
)
@grouped
def convert(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="All policy files of one node; rules of earlier files are asked first. Not with --from-switch.",
            metavar="FILE",
        ),
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="NAME", help="The format to write.  (default: yaml, of a switch)")
    ] = None,
    from_switch: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", rich_help_panel="Switch", help="Write what this switch holds, instead of files."
        ),
    ] = None,
    device_id: DeviceId = 1,
    *,
    reach: ReachOptions,
    program: ProgramOptions,
    writing: OutputOptions,
    reading: FormatOptions,
    proving: ProofOptions,
    json: Json = False,
) -> None:
    """Write policy files, or what a switch holds, as one file of another format.

    What that format can't say is left out and listed on standard error, with file and line. Nothing is written where
    packets would get something else by it, and the exit code is 2; --lossy writes all the same. Other losses are exit
    code 0, with --strict 1.

    What is written is read back and compared with its source for every packet: standard error says that it is proven
    alike, or which packets get something else. A difference that no loss accounts for is an error of phb.
    """
    from phb import formats
    from phb.formats.format import parse_dialect

    named = parse_dialect(reading.dialect)
    if writing.output is not None:
        check_output(writing.output, "--output")
    held = None
    if from_switch is None:
        to, policy = _asked(to), _of_files(files, reading.format_name, formats.ReadOptions(named))
    else:
        if files:
            raise InputError(Origin(files[0]), "a policy file beside --from-switch", "one of them")
        check_address(from_switch, Origin("--from-switch"))
        held = _held(SwitchOptions(address=from_switch, device_id=device_id, **vars(reach)), program)
        to, policy = to or "yaml", held.policy
    converted = formats.convert(policy, to, formats.WriteOptions(named))
    if from_switch is not None:
        losses = (replace(loss, origin=Origin(from_switch)) for loss in converted.losses)
        converted = replace(converted, losses=tuple(losses))
    names = from_switch or "the source", "the text" if writing.output is None else str(writing.output)
    proof = None if proving.no_proof else _proof(held or policy, converted, to, names, program, proving.proof_timeout)
    wrong = proof is not None and bool(proof.unlisted) and not writing.lossy
    refused = writing.refuses(converted.losses) or wrong
    if writing.output is not None and not refused:
        write_output(writing.output, converted.text, "--output")
    if json:
        print_json(_as_json(to, converted, refused, proof))
    else:
        print_notices(policy.notices)
        print_losses(converted.losses)
        if proof is not None:
            print_errors("\n".join(_proof_words(proof, converted)))
        if writing.output is None and not refused:
            typer.echo(converted.text, nl=False)
    if wrong:
        found = "a text by which packets get something else although no loss says so: an error of phb, please report it"
        raise InputError(Origin("--to"), found, "a text that does the same; --lossy writes it all the same")
    if refused and writing.strict:
        raise typer.Exit(REFUSED)
    if refused:
        changing = sum(bool(loss.packets) for loss in converted.losses)
        found = f"losses by which packets would get something else ({changing})"
        raise InputError(Origin("--to"), found, "a format that says it, or --lossy")


def _asked(to: str | None) -> str:
    if to is None:
        raise InputError(Origin("convert"), "no --to", "the format to write")
    return to


def _of_files(files: list[str] | None, format_name: str | None, options: ReadOptions) -> PolicySet:
    from phb.sources import read_sources

    if not files:
        raise InputError(Origin("convert"), "no policy file", "FILE or --from-switch")
    return read_sources(files, format_name, options)


def _held(switch: SwitchOptions, program: ProgramOptions) -> Recovered:
    import asyncio

    from phb.recovering import recover

    return asyncio.run(recover(switch.one(), program.load()))


def _proof(
    source: PolicySet | Recovered,
    converted: Converted,
    to: str,
    names: tuple[str, str],
    program: ProgramOptions,
    seconds: float,
) -> Proof:
    from phb.comparing.conversion import Proof, prove
    from phb.model import PolicySet

    if isinstance(source, PolicySet):
        return prove(source, converted, to, names, program.load, seconds)
    from phb.proving.recovered import compare_with_tables
    from phb.proving.tables import TableFaultError
    from phb.regions.budget import Budget

    budget = Budget(seconds)
    try:
        tables = compare_with_tables(source, program.load(), names, budget)
    except TableFaultError as error:
        return Proof(refused=str(error))
    proof = prove(source.policy, converted, to, names, program.load, budget.left)
    return replace(proof, comparisons=(tables, *proof.comparisons), unlisted=(*tables.regions, *proof.unlisted))


def _proof_words(proof: Proof, converted: Converted) -> Iterator[str]:
    """Give the lines that tell what is proven."""
    if proof.refused:
        yield f"not proven: {proof.refused}"
    elif proof.alike and any(loss.packets for loss in converted.losses):
        yield "no packet is treated differently as far as these files go"
    elif proof.alike:
        others = " if other files of the node say what is lost" if converted.losses else ""
        yield f"proven: every packet is treated alike{others}"
    count = len(proof.regions) + proof.more
    if count:
        yield f"{count} region{'s' if count > 1 else ''} of packets treated differently:"
    for region in proof.regions[:_REGIONS]:
        said = [f"{each.what}: {each.a} -> {each.b}" for each in region.differences]
        what = "; ".join(said[:_THINGS] + [f"{len(said) - _THINGS} more things"] * (len(said) > _THINGS))
        more = f" and {len(region.packets) - 1} more parts" if len(region.packets) > 1 else ""
        listed = "" if region not in proof.unlisted else "  (no loss says so)"
        yield f"  {region.packets[0]}{more}: {what}{listed}"
    if proof.regions and count > _REGIONS:
        listed = f"the {len(proof.regions)} largest and any that no loss names" if proof.more else "all"
        yield f"  and {count - _REGIONS} more (--json lists {listed})"
    for question in proof.open:
        yield f"not proven: {question.packets}: {question.why} (--proof-timeout)"


def _as_json(to: str, converted: Converted, refused: bool, proof: Proof | None) -> dict[str, Any]:
    return {
        "format": to,
        "text": None if refused else converted.text,
        "losses": [_loss_as_json(loss) for loss in converted.losses],
        "proof": None if proof is None else proof.as_json(),
    }


def _loss_as_json(loss: Loss) -> dict[str, Any]:
    place = {"file": loss.origin.file, "line": loss.origin.line}
    return {**place, "what": loss.what, "why": loss.why, "packets": list(loss.packets)}
