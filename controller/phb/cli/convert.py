"""``phb convert``: a policy in another format's words, with what these can't say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import REFUSED, app, epilog
from phb.cli.options import Files, Json
from phb.cli.output import print_json, print_losses, print_notices
from phb.errors import InputError
from phb.files import in_words, write_text
from phb.origin import Origin

if TYPE_CHECKING:
    from phb.formats import Converted, Loss


@app.command(
    epilog=epilog(
        "phb convert --to yaml policy-agent.conf -o policy.yaml",
        "phb convert --to policy-agent --strict policy.yaml",
    )
)
def convert(
    files: Files,
    to: Annotated[str, typer.Option(metavar="NAME", help="The format to write, such as yaml.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write.  (default: standard output)")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Write nothing where anything would be lost.")] = False,
    format_name: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Format of the files that are read.  (default: by each file)"),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Which IOS is read or written, where the files don't say: ios-11.3, ios-12 or ios-hqf."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write policy files as one file of another format.

    What that format can't say is left out and listed on standard error, with file and line. Exit code 0 also with
    losses; with --strict they are 1.
    """
    from phb import formats
    from phb.formats.format import parse_dialect
    from phb.sources import read_sources

    named = parse_dialect(dialect)
    policy = read_sources(files, format_name, formats.ReadOptions(named))
    converted = formats.convert(policy, to, formats.WriteOptions(named))
    refused = strict and bool(converted.losses)
    if output is not None and not refused:
        _write(output, converted.text)
    if json:
        print_json(_as_json(to, converted))
    else:
        print_notices(policy.notices)
        print_losses(converted.losses)
        if output is None and not refused:
            typer.echo(converted.text, nl=False)
    if refused:
        raise typer.Exit(REFUSED)


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except OSError as error:
        raise InputError(Origin("--output"), f"'{path}' ({in_words(error)})", "a file to write") from None


def _as_json(to: str, converted: Converted) -> dict[str, Any]:
    return {"format": to, "text": converted.text, "losses": [_loss_as_json(loss) for loss in converted.losses]}


def _loss_as_json(loss: Loss) -> dict[str, Any]:
    return {"file": loss.origin.file, "line": loss.origin.line, "what": loss.what, "why": loss.why}
