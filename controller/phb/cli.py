"""The command ``phb``: check, plan and push policies, and look at live switches.

Exit codes: 0 done; 1 the switch refused something or can't be reached; 2 a policy file, artifact or option is wrong.
Results go to standard output, warnings and the one error to standard error.
"""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from phb import display
from phb.artifact import Artifact
from phb.errors import InputError, PhbError
from phb.formats import FORMATS, yaml_format
from phb.origin import Origin
from phb.pushing import load_intent, push_sync, read_counters_sync, read_entries_sync

OK, REFUSED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

EXIT_CODES = "Exit codes: 0 done; 1 the switch refused or can't be reached; 2 bad input."

app = typer.Typer(
    name="phb",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Bring switches to what policy files say: YAML, or OS/390 Policy Agent files.",
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
show_app = typer.Typer(no_args_is_help=True, help="Look at a live switch.", epilog=EXIT_CODES)
app.add_typer(show_app, name="show")


def _epilog(*examples: str) -> str:
    return "\n\n".join(("Examples:", *examples, EXIT_CODES))


# ---------------------------------------------------------------------------
# Options
# ---------------------------------------------------------------------------

Files = Annotated[
    list[str],
    typer.Argument(help="All policy files of one node; rules of earlier files are asked first.", metavar="FILE..."),
]
Address = Annotated[str, typer.Option(help="HOST:PORT of the switch's P4Runtime server.")]
DeviceId = Annotated[int, typer.Option(min=0, max=2**64 - 1, help="P4Runtime device id of the switch.")]
ElectionId = Annotated[int, typer.Option(min=1, max=2**128 - 1, help="The controller with the highest one may write.")]
At = Annotated[
    str | None,
    typer.Option(help="Judge rules' validity at this ISO time, such as 1999-03-01T12:00.  (default: now)"),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help=f"Format of all files: {', '.join(form.name for form in FORMATS)}.  (default: by file)"
    ),
]
ArtifactFile = Annotated[Path | None, typer.Option("--artifact", help="bmv2 JSON.  (default: phb's own)")]
P4InfoFile = Annotated[Path | None, typer.Option("--p4info", help="p4info as text.  (default: phb's own)")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

ADDRESS = "127.0.0.1:9559"


def _artifact(artifact: Path | None, p4info: Path | None) -> Artifact:
    if (artifact is None) != (p4info is None):
        given, absent = ("--artifact", "--p4info") if p4info is None else ("--p4info", "--artifact")
        raise InputError(Origin(given), f"no {absent}", "both: they describe one program")
    return Artifact.load(artifact, p4info)


def _moment(at: str | None) -> datetime:
    """The moment of the whole command: the clock is read once, here."""
    if at is None:
        return datetime.now().astimezone()
    try:
        return datetime.fromisoformat(at)
    except ValueError:
        raise InputError(Origin("--at"), f"'{at}'", "an ISO 8601 time such as 1999-03-01T12:00") from None


def _check_address(address: str) -> str:
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError(Origin("--address"), f"'{address}'", "HOST:PORT, such as 127.0.0.1:9559")
    return address


def _print_json(value: Any) -> None:
    sys.stdout.write(json_module.dumps(value, indent=2) + "\n")


# ---------------------------------------------------------------------------
# Commands
# ---------------------------------------------------------------------------


@app.command(epilog=_epilog("phb check c7513.yaml c7513-wfq.yaml", "phb check --json mvs074*.yaml policy.conf"))
def check(
    files: Files,
    at: At = None,
    format_name: Format = None,
    artifact: ArtifactFile = None,
    p4info: P4InfoFile = None,
    json: Json = False,
) -> None:
    """Read policy files and compile them; nothing is sent."""
    intent = load_intent(files, _artifact(artifact, p4info), at=_moment(at), format_name=format_name)
    if json:
        _print_json(display.intent_as_json(intent))
        return
    display.print_notices(intent.notices)
    display.print_intent(display.console(), intent)


@app.command(epilog=_epilog("phb plan --address 192.0.2.1:9559 c7513.yaml c7513-wfq.yaml"))
def plan(
    files: Files,
    address: Address = ADDRESS,
    device_id: DeviceId = 1,
    at: At = None,
    format_name: Format = None,
    artifact: ArtifactFile = None,
    p4info: P4InfoFile = None,
    json: Json = False,
) -> None:
    """Show what a push would change on the live switch; nothing is written."""
    _push(files, address, device_id, 1, at, format_name, artifact, p4info, dry_run=True, json=json)


@app.command(
    epilog=_epilog(
        "phb push --address 192.0.2.1:9559 --device-id 1 mvs074.yaml mvs074-osa2.yaml policy.conf",
        "phb push --dry-run c7513.yaml c7513-fifo.yaml",
    )
)
def push(
    files: Files,
    address: Address = ADDRESS,
    device_id: DeviceId = 1,
    election_id: ElectionId = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing; the same as phb plan.")] = False,
    at: At = None,
    format_name: Format = None,
    artifact: ArtifactFile = None,
    p4info: P4InfoFile = None,
    json: Json = False,
) -> None:
    """Make the switch do exactly what the files say; if it refuses anything, it stays as it was."""
    _push(files, address, device_id, election_id, at, format_name, artifact, p4info, dry_run=dry_run, json=json)


def _push(
    files: Sequence[str],
    address: str,
    device_id: int,
    election_id: int,
    at: str | None,
    format_name: str | None,
    artifact: Path | None,
    p4info: Path | None,
    *,
    dry_run: bool,
    json: bool,
) -> None:
    report = push_sync(
        _check_address(address),
        files,
        device_id=device_id,
        artifact=_artifact(artifact, p4info),
        at=_moment(at),
        dry_run=dry_run,
        election_id=election_id,
        format_name=format_name,
    )
    if json:
        _print_json(display.report_as_json(report))
        return
    display.print_notices(report.notices)
    display.print_report(display.console(), report)


@app.command(epilog=_epilog("phb schema > phb-policy.schema.json"))
def schema() -> None:
    """Print the JSON schema of the YAML format, for editors and other checkers."""
    _print_json(yaml_format.schema())


@show_app.command("entries", epilog=_epilog("phb show entries --address 192.0.2.1:9559"))
def show_entries(
    address: Address = ADDRESS,
    device_id: DeviceId = 1,
    artifact: ArtifactFile = None,
    p4info: P4InfoFile = None,
    json: Json = False,
) -> None:
    """Show every table entry of the switch, by the program's names."""
    entries = read_entries_sync(_check_address(address), device_id=device_id, artifact=_artifact(artifact, p4info))
    if json:
        _print_json([display.entry_as_json(entry) for entry in entries])
        return
    display.print_entries(display.console(), entries)


@show_app.command("counters", epilog=_epilog("phb show counters policy_traffic policy_drops"))
def show_counters(
    names: Annotated[list[str] | None, typer.Argument(help="Counters by name.  (default: all)")] = None,
    address: Address = ADDRESS,
    device_id: DeviceId = 1,
    artifact: ArtifactFile = None,
    p4info: P4InfoFile = None,
    json: Json = False,
) -> None:
    """Show the switch's counters; cells that are zero are left out."""
    program = _artifact(artifact, p4info)
    counters = read_counters_sync(_check_address(address), names or None, device_id=device_id, artifact=program)
    if json:
        _print_json(display.counters_as_json(counters))
        return
    display.print_counters(display.console(), counters)


@show_app.command("policy", epilog=_epilog("phb show policy mvs074.yaml mvs074-osa2.yaml policy.conf"))
def show_policy(
    files: Annotated[
        list[str] | None, typer.Argument(help="The files that were pushed: gives policies their rules' names.")
    ] = None,
    address: Address = ADDRESS,
    device_id: DeviceId = 1,
    at: At = None,
    format_name: Format = None,
    artifact: ArtifactFile = None,
    p4info: P4InfoFile = None,
    json: Json = False,
) -> None:
    """Show the policies of the switch: what they match, what they do, what they have seen."""
    program = _artifact(artifact, p4info)
    where = _check_address(address)
    intent = load_intent(files, program, at=_moment(at), format_name=format_name) if files else None
    entries = read_entries_sync(where, device_id=device_id, artifact=program)
    counters = read_counters_sync(where, ["policy_traffic", "policy_drops"], device_id=device_id, artifact=program)
    rows = display.policy_rows(entries, counters, intent.policies if intent else ())
    if json:
        _print_json(rows)
        return
    display.print_policies(display.console(), rows)


# ---------------------------------------------------------------------------
# Entry point
# ---------------------------------------------------------------------------


def run(arguments: Sequence[str]) -> int:
    """Run the command line; give its exit code. Errors that are the user's or the switch's become one message."""
    try:
        code = app(list(arguments), prog_name="phb", standalone_mode=False)
    except InputError as error:
        return _fail(str(error), BAD_INPUT)
    except PhbError as error:
        return _fail(str(error), REFUSED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        # Wrong options: typer's own exception classes have moved between its versions, their interface hasn't.
        words = getattr(error, "format_message", None)
        if words is None:
            raise
        # A command without arguments has printed its help, and there is nothing to add.
        return _fail(words(), BAD_INPUT) if arguments and words() else BAD_INPUT
    return code if isinstance(code, int) else OK


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"phb: {message}\n")
    return code


def main() -> NoReturn:
    """Entry point of the command ``phb``."""
    sys.exit(run(sys.argv[1:]))
