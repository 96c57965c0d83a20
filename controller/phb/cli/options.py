"""Arguments and options of several commands by type, and groups of options as dataclasses.

A command that takes a group as a parameter gets all of its options on its command line:

    @app.command()
    @grouped
    def plan(files: Files, switch: SwitchOptions, json: Json = False) -> None: ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli.grouping import grouped as grouped
from phb.device.deadlines import TIMEOUT_S
from phb.errors import InputError
from phb.origin import Origin

if TYPE_CHECKING:
    from phb.device.artifact import Artifact
    from phb.device.tls import Tls
    from phb.formats.format import ReadOptions
    from phb.inventory import Inventory, StampSession, Switch, TargetKind, TlsFiles
    from phb.inventory.following import FollowedInventory
    from phb.model import Dialect
    from phb.state import State

ADDRESS = "127.0.0.1:9559"  # the port that IANA assigned to P4Runtime

_SWITCH = "Switch"
_TLS = "TLS"
_STATE = "State"
_PROGRAM = "Program of the switch"


Files = Annotated[
    list[str],
    typer.Argument(help="All policy files of one node; rules of earlier files are asked first.", metavar="FILE..."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Write nothing; show what would change.")]
ElectionId = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=2**128 - 1,
        rich_help_panel=_SWITCH,
        help="The controller with the highest one may write.  (default: the inventory's, else 1)",
    ),
]
TargetName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=_SWITCH,
        help="Kind of switch: phb-switch, bmv2 or bmv2-sp-pifo.  (default: the inventory's, else phb-switch)",
    ),
]
DeviceId = Annotated[
    int, typer.Option(min=0, max=2**64 - 1, rich_help_panel=_SWITCH, help="P4Runtime device id of the switch.")
]
Wait = Annotated[
    float,
    typer.Option(
        min=0, metavar="SECONDS", rich_help_panel=_STATE, help="How long to wait for who else changes the switch."
    ),
]
PolicyFiles = Annotated[
    list[str] | None,
    typer.Argument(
        help="All policy files of one node; rules of earlier files are asked first. Not with --inventory.",
        metavar="FILE",
    ),
]


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

    dialect: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which IOS wrote the files, where they don't say so.  (default: none)"),
    ] = None

    def options(self, *, attach: bool = False) -> ReadOptions:
        """Give the options of reading files; `attach` is for questions that no switch is asked."""
        from phb.formats.format import ReadOptions

        return ReadOptions(_dialect(self.dialect), attach)

    def moment(self) -> datetime:
        """Give the moment of the whole command: the clock is read once, here."""
        if self.at is None:
            return datetime.now().astimezone()
        try:
            moment = datetime.fromisoformat(self.at)
        except ValueError:
            moment = None
        # The first and the last year have moments that other zones can't say.
        if moment is None or not 1 < moment.year < 9999:
            raise InputError(Origin("--at"), f"'{self.at}'", "an ISO 8601 time such as 1999-03-01T12:00")
        return moment


@dataclass(frozen=True)
class ControllerOptions:
    """The kind of the switch, and the election id to write with."""

    target: TargetName = None
    election_id: ElectionId = None


@dataclass(frozen=True)
class WritingOptions(ControllerOptions):
    """How a switch is brought to a policy."""

    wait: Wait = 0.0
    dry_run: DryRun = False


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
        """Read the program."""
        from phb.device.artifact import Artifact

        if (self.artifact is None) != (self.p4info is None):
            given, absent = ("--artifact", "--p4info") if self.p4info is None else ("--p4info", "--artifact")
            raise InputError(Origin(given), f"no {absent}", "both: they describe one program")
        return Artifact.load(self.artifact, self.p4info)


@dataclass(frozen=True)
class WhichOptions:
    """Which switches are meant."""

    address: Annotated[
        str, typer.Option(metavar="HOST:PORT", rich_help_panel=_SWITCH, help="The switch's P4Runtime server.")
    ] = ADDRESS
    device_id: DeviceId = 1

    inventory: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            envvar="PHB_INVENTORY",
            rich_help_panel=_SWITCH,
            help="Switches and their policies from this file, or a folder of such files.  (default: none)",
        ),
    ] = None
    switch: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=_SWITCH,
            help="Only this switch or group of the inventory; repeatable.  (default: all)",
        ),
    ] = None

    def one(self) -> Switch:
        """Give the one switch that is meant; its policies may be empty."""
        found = self.many((), ReadingOptions(), ())
        if len(found) != 1:
            names = ", ".join(switch.name for switch in found)
            raise InputError(Origin("--switch"), f"{len(found)} switches ({names})", "one of them")
        return found[0]

    def many(
        self,
        files: Sequence[str],
        reading: ReadingOptions,
        needed: Sequence[str] = ("FILE",),
        target: str | None = None,
        whole: Inventory | None = None,
    ) -> list[Switch]:
        """Give all switches that are meant, with their policies; `needed` is empty where policies don't matter.

        `whole` is the inventory where it has been read already.
        """
        from phb.inventory import Switch, TargetKind, read_inventory, select

        kind = check_target(target)
        if self.inventory is None:
            if self.switch:
                raise InputError(Origin("--switch"), "no --inventory", "the file that names switches")
            if needed and not files:
                raise InputError(Origin("FILE"), "no policy file and no --inventory", "one of them")
            address = self.checked_address()
            made = Switch.model_construct(
                name=address,
                address=address,
                device_id=self.device_id,
                target=kind or TargetKind.PHB_SWITCH,
                role="",
                election_id=1,
                policies=tuple(files),
                format=reading.format_name,
                dialect=_dialect(reading.dialect),
                groups=(),
                tls=self._files(),
                timeout=self._timeout() or TIMEOUT_S,
            )
            return [made]
        if files:
            raise InputError(
                Origin(files[0]), "a policy file beside --inventory", "one of them: the inventory names files"
            )
        known = read_inventory(self.inventory) if whole is None else whole.switches
        chosen = select(known, self.switch or (), self.inventory)
        said = {"target": kind, "timeout": self._timeout()}
        instead = {name: value for name, value in said.items() if value is not None}
        return [switch.model_copy(update=instead) for switch in chosen]

    def followed(self, told: Callable[[str], None]) -> FollowedInventory | None:
        """Read the inventory so that it can be read again; None where there is none. `told` gets what is wrong then."""
        if self.inventory is None:
            return None
        from phb.inventory.following import FollowedInventory

        return FollowedInventory(self.inventory, told)

    def sessions(self, chosen: Sequence[Switch], whole: Inventory | None) -> list[StampSession]:
        """Give the inventory's sessions of test packets; with ``--switch`` those that lead through one of these."""
        names = {switch.name for switch in chosen}
        sessions = () if whole is None else whole.stamp
        return [each for each in sessions if not self.switch or names.intersection(each.path)]

    def _files(self) -> TlsFiles | None:
        return None

    def _timeout(self) -> float | None:
        return None

    def checked_address(self) -> str:
        """Check the address and give it."""
        return check_address(self.address, Origin("--address"))


@dataclass(frozen=True)
class TlsOptions:
    """Whether and how sessions are encrypted."""

    tls_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="PEM",
            envvar="PHB_TLS_CA",
            rich_help_panel=_TLS,
            help="Use TLS; the switch's certificate must come from this authority.  (default: plain text)",
        ),
    ] = None
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            metavar="PEM", envvar="PHB_TLS_CERT", rich_help_panel=_TLS, help="Our own certificate.  (default: none)"
        ),
    ] = None
    tls_key: Annotated[
        Path | None,
        typer.Option(metavar="PEM", envvar="PHB_TLS_KEY", rich_help_panel=_TLS, help="Its key.  (default: none)"),
    ] = None
    tls_server_name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="PHB_TLS_SERVER_NAME",
            rich_help_panel=_TLS,
            help="Name in the switch's certificate.  (default: the host of its address)",
        ),
    ] = None

    def tls(self) -> Tls | None:
        """Give the certificates of sessions; None is plain text."""
        if self.tls_ca is None:
            others = {
                "--tls-cert": self.tls_cert,
                "--tls-key": self.tls_key,
                "--tls-server-name": self.tls_server_name,
            }
            for name, value in others.items():
                if value is not None:
                    raise InputError(Origin(name), "no --tls-ca", "the authority of the switch's certificate")
            return None
        from phb.device.tls import Tls

        return Tls(self.tls_ca, self.tls_cert, self.tls_key, self.tls_server_name)

    def _files(self) -> TlsFiles | None:
        from phb.inventory import TlsFiles

        tls = self.tls()
        if tls is None:
            return None

        def text(path: Path | None) -> str | None:
            return None if path is None else str(path)

        return TlsFiles.model_construct(
            ca=text(tls.ca), certificate=text(tls.certificate), key=text(tls.key), server_name=tls.server_name
        )


@dataclass(frozen=True)
class ReachOptions(TlsOptions):
    """How a switch is reached: TLS, and how long it may take."""

    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            max=3600,
            metavar="SECONDS",
            rich_help_panel=_SWITCH,
            help="How long a switch may take for one answer.  (default: the inventory's, else 60)",
        ),
    ] = None

    def _timeout(self) -> float | None:
        return self.timeout


@dataclass(frozen=True)
class SwitchOptions(ReachOptions, WhichOptions):
    """Which switches are meant, and how they are reached."""


def check_address(address: str, origin: Origin) -> str:
    """Check a ``HOST:PORT`` and give it."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError(origin, f"'{address}'", "HOST:PORT, such as 127.0.0.1:9559")
    return address


def check_target(name: str | None) -> TargetKind | None:
    """Give the kind of switch of this name."""
    if name is None:
        return None
    from phb.inventory import TargetKind

    try:
        return TargetKind(name)
    except ValueError:
        known = ", ".join(each.value for each in TargetKind)
        raise InputError(Origin("--target"), f"'{name}'", f"one of {known}") from None


def _dialect(name: str | None) -> Dialect | None:
    if name is None:
        return None
    from phb.model import Dialect

    try:
        return Dialect(name)
    except ValueError:
        known = ", ".join(each.value for each in Dialect)
        raise InputError(Origin("--dialect"), f"'{name}'", f"one of {known}") from None


_STATE_HELP = (
    "History and locks, in an SQLite file or a PostgreSQL database that controllers share.  "
    "(default: phb/state.sqlite in XDG_STATE_HOME, else in ~/.local/state)"
)


@dataclass(frozen=True)
class StateOptions:
    """Where history and locks are kept."""

    state: Annotated[
        str | None,
        typer.Option(metavar="FILE|URL", envvar="PHB_STATE", rich_help_panel=_STATE, help=_STATE_HELP),
    ] = None
    no_state: Annotated[bool, typer.Option("--no-state", rich_help_panel=_STATE, help="Neither history nor locks.")] = (
        False
    )

    def open(self, *, fails_fast: bool = False) -> AbstractContextManager[State | None]:
        """Open the state, for ``with``; None if it isn't wanted. `fails_fast` is as `phb.state.State` says."""
        if self.no_state:
            return nullcontext()
        return open_state(self.state, fails_fast=fails_fast)

    def known(self) -> AbstractContextManager[State | None]:
        """`open`, but make nothing where there is no state yet."""
        return nullcontext() if self.no_state else known_state(self.state)


StateFile = Annotated[str | None, typer.Option("--state", metavar="FILE|URL", envvar="PHB_STATE", help=_STATE_HELP)]


def open_state(place: str | None, *, fails_fast: bool = False) -> State:
    """Open the state."""
    from phb.state import State, default_path

    return State(place or default_path(), fails_fast=fails_fast)


def known_state(place: str | None) -> AbstractContextManager[State | None]:
    """Open the state, for ``with``; None where there is none yet."""
    from phb.state import default_path, place_of

    return open_state(place) if place_of(place or default_path()).is_there() else nullcontext()
