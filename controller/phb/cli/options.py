"""What several commands take: arguments and options by type, and groups of options as dataclasses.

A command that takes a group as a parameter gets all of its options on its command line:

    @app.command()
    @grouped
    def plan(files: Files, switch: SwitchOptions, json: Json = False) -> None: ...
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from phb.errors import InputError
from phb.origin import Origin

if TYPE_CHECKING:
    from phb.artifact import Artifact

R = TypeVar("R")

ADDRESS = "127.0.0.1:9559"  # the port that IANA assigned to P4Runtime

_SWITCH = "Switch"
_PROGRAM = "Program of the switch"


def grouped(command: Callable[..., R]) -> Callable[..., R]:
    """Let a command take groups of options: a parameter whose type is a dataclass becomes the dataclass's fields."""
    groups: dict[str, type] = {}
    names: dict[str, list[str]] = {}
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if not dataclasses.is_dataclass(parameter.annotation):
            flat.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        group: Any = parameter.annotation
        groups[parameter.name] = group
        names[parameter.name] = []
        hints = get_type_hints(group, include_extras=True)
        for field in dataclasses.fields(group):
            names[parameter.name].append(field.name)
            flat.append(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=field.default,
                    annotation=hints[field.name],
                )
            )

    @functools.wraps(command)
    def called(**values: Any) -> R:
        built = {name: group(**{field: values.pop(field) for field in names[name]}) for name, group in groups.items()}
        return command(**values, **built)

    # Typer asks the signature for order and defaults, and the annotations for types.
    called.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return called


# ---------------------------------------------------------------------------
# Arguments and single options
# ---------------------------------------------------------------------------

Files = Annotated[
    list[str],
    typer.Argument(help="All policy files of one node; rules of earlier files are asked first.", metavar="FILE..."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Write nothing; show what would change.")]
ElectionId = Annotated[
    int,
    typer.Option(min=1, max=2**128 - 1, rich_help_panel=_SWITCH, help="The controller with the highest one may write."),
]


# ---------------------------------------------------------------------------
# Groups
# ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ReadingOptions:
    """How policy files are read, and for which moment."""

    at: Annotated[
        str | None,
        typer.Option(help="Judge rules' validity at this ISO time, such as 1999-03-01T12:00.  (default: now)"),
    ] = None
    format_name: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Format of all files.  (default: by each file)"),
    ] = None

    def moment(self) -> datetime:
        """The moment of the whole command: the clock is read once, here."""
        if self.at is None:
            return datetime.now().astimezone()
        try:
            return datetime.fromisoformat(self.at)
        except ValueError:
            raise InputError(Origin("--at"), f"'{self.at}'", "an ISO 8601 time such as 1999-03-01T12:00") from None


@dataclass(frozen=True)
class ProgramOptions:
    """The P4 program that the switch runs or is given."""

    artifact: Annotated[
        Path | None,
        typer.Option("--artifact", metavar="FILE", rich_help_panel=_PROGRAM, help="bmv2 JSON.  (default: phb's own)"),
    ] = None
    p4info: Annotated[
        Path | None,
        typer.Option(
            "--p4info", metavar="FILE", rich_help_panel=_PROGRAM, help="p4info as text.  (default: phb's own)"
        ),
    ] = None

    def load(self) -> Artifact:
        """Read the program.

        Raises:
            InputError: One of the two files is missing, or wrong.

        """
        from phb.artifact import Artifact

        if (self.artifact is None) != (self.p4info is None):
            given, absent = ("--artifact", "--p4info") if self.p4info is None else ("--p4info", "--artifact")
            raise InputError(Origin(given), f"no {absent}", "both: they describe one program")
        return Artifact.load(self.artifact, self.p4info)


@dataclass(frozen=True)
class SwitchOptions:
    """Where a switch is."""

    address: Annotated[
        str, typer.Option(metavar="HOST:PORT", rich_help_panel=_SWITCH, help="The switch's P4Runtime server.")
    ] = ADDRESS
    device_id: Annotated[
        int, typer.Option(min=0, max=2**64 - 1, rich_help_panel=_SWITCH, help="P4Runtime device id of the switch.")
    ] = 1

    def checked_address(self) -> str:
        """The address.

        Raises:
            InputError: It isn't one.

        """
        return check_address(self.address, Origin("--address"))


def check_address(address: str, origin: Origin) -> str:
    """Give a ``HOST:PORT`` back.

    Raises:
        InputError: It isn't one.

    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError(origin, f"'{address}'", "HOST:PORT, such as 127.0.0.1:9559")
    return address
