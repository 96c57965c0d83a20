"""``phb accounting``: what policies, classes, streams, subnets and switches had in a month, or another time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import app, epilog
from phb.cli.options import Json, StateFile, grouped
from phb.cli.output import console, print_json, print_table, table
from phb.errors import InputError
from phb.monitor.by import By
from phb.origin import Origin

if TYPE_CHECKING:
    from phb.monitor.history.accounts import Account, Accounts
    from phb.monitor.history.file import Gap
    from phb.monitor.history.unmet import Unmet

MINUTE_NS = 60 * 10**9
COLUMNS = (
    *("switch", "name", "direction", "came_packets", "came_bytes", "sent_packets", "sent_bytes"),
    *("dropped_packets", "dropped_bytes", "marked_packets", "mean_delay_ms", "delay_99_percent_ms"),
)
"""Of the CSV, and the keys of an account in JSON."""


class Each(StrEnum):
    """Spans of a series."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"


HistoryPlace = Annotated[
    str | None,
    typer.Option(
        "--history",
        metavar="FILE|URL",
        envvar="PHB_HISTORY",
        help="What phb monitor has kept.  (default: the database of --state where that is one that controllers share, "
        "else phb/history.sqlite in XDG_STATE_HOME, else in ~/.local/state)",
    ),
]


@dataclass(frozen=True)
class SpanOptions:
    """Which time."""

    month: Annotated[
        str | None, typer.Option(metavar="YYYY-MM", help="A month.  (default: this one, unless --from is given)")
    ] = None
    first: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="The first minute: ISO 8601, such as 2026-11-01T08:00.")
    ] = None
    end: Annotated[str | None, typer.Option("--to", metavar="TIME", help="The end.  (default: now)")] = None
    time_zone: Annotated[
        str | None, typer.Option(metavar="ZONE", help="Whose clock is meant.  (default: this machine's)")
    ] = None

    def span(self, now: datetime) -> tuple[int, int]:
        """Give first and end in minutes since 1970."""
        zone = _zone(self.time_zone)
        if self.first is None:
            if self.end is not None:
                raise InputError(Origin("--to"), f"'{self.end}' without --from", "both, or --month")
            return _month(self.month or f"{now.astimezone(zone):%Y-%m}", zone)
        if self.month is not None:
            raise InputError(Origin("--month"), f"'{self.month}' beside --from", "one of them")
        first = _minute(self.first, zone, "--from")
        # The minute of now has begun, and counts.
        end = int(now.timestamp()) // 60 + 1 if self.end is None else _minute(self.end, zone, "--to")
        if end <= first:
            raise InputError(Origin("--to"), f"'{self.end or 'now'}' that isn't after '{self.first}'", "a later time")
        return first, end


@app.command(
    epilog=epilog(
        "phb accounting --by policy --month 2026-11",
        "phb accounting --by class --from 2026-11-26T08:00 --to 2026-11-26T17:00 --switch edge1 --json",
        "phb accounting --by subnet --month 2026-10 --time-zone Europe/Berlin --csv > october.csv",
        "phb accounting --by switch --state postgresql://phb@db.example.net/phb",
    )
)
@grouped
def accounting(
    span: SpanOptions,
    by: Annotated[By, typer.Option(help="Whose accounts.")] = By.POLICY,
    switch: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this switch; may be repeated.  (default: all)")
    ] = None,
    history: HistoryPlace = None,
    state: StateFile = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only the policy, class or stream of this name.")
    ] = None,
    each: Annotated[
        Each | None, typer.Option(help="Lines of every second, minute, hour or day (UTC) that has any: CSV, or JSON.")
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    json: Json = False,
) -> None:
    """Show what the history says of a month, or another time, the largest account first.

    What passed while nobody monitored is told by the counters of the switch at the end of the gap, unless it was
    started anew.
    """
    from phb.monitor.history.accounts import accounts, series
    from phb.monitor.history.file import HistoryFile, Level
    from phb.monitor.history.unmet import unmet

    first, end = span.span(datetime.now(UTC))
    if csv and json:
        raise InputError(Origin("--csv"), "--csv beside --json", "one of them")
    place = history or shared_history(state) or default_history()
    with HistoryFile(place, read_only=True) as file:
        if each is not None:
            # Whoever reads the lines may take long: no transaction waits for that.
            level = Level[each.name]
            told = series(file, by, level, first, end, switch or (), name)
            _print_series(told, json=json, zone=_zone(span.time_zone))
            return
        with file.reading():
            found = accounts(file, by, first, end, switch or (), name)
            missed = unmet(file, first, end, switch or ())
    if json:
        print_json({**_as_json(found, by, _zone(span.time_zone)), "not_achieved": [asdict(each) for each in missed]})
    elif csv:
        _print_csv(found)
    else:
        _print(found, missed, by, _zone(span.time_zone))


def shared_history(state: str | None) -> str | None:
    """Give the state's database if controllers share it: their monitors keep the history there, too."""
    from phb.database import place_of

    return state if state is not None and place_of(state).path is None else None


def default_history() -> Path:
    """Give where the history lies unless the user says otherwise: beside the state."""
    from phb.database import default_path

    return default_path().with_name("history.sqlite")


def _zone(name: str | None) -> tzinfo | None:
    from phb.values import parse_zone

    if name is None:
        return None
    try:
        return parse_zone(name)
    except (ValueError, TypeError):
        raise InputError(Origin("--time-zone"), f"'{name}'", "a time zone such as Europe/Berlin, or UTC") from None


def _month(text: str, zone: tzinfo | None) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{4})-(\d\d)", text)
    if match is None or not 1 <= int(match[2]) <= 12 or not 1970 < int(match[1]) < 9999:
        raise InputError(Origin("--month"), f"'{text}'", "a month such as 2026-11")
    year, month = int(match[1]), int(match[2])
    ends = (datetime(year, month, 1), datetime(year + month // 12, month % 12 + 1, 1))
    first, end = (int(_in(each, zone).timestamp()) // 60 for each in ends)
    return first, end


def _minute(text: str, zone: tzinfo | None, option: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or not 1970 < moment.year < 9999 or moment.second or moment.microsecond:
        raise InputError(Origin(option), f"'{text}'", "an ISO 8601 time of a whole minute such as 2026-11-01T08:00")
    return int(_in(moment, zone).timestamp()) // 60


def _in(moment: datetime, zone: tzinfo | None) -> datetime:
    if moment.tzinfo is not None:
        return moment
    return moment.astimezone() if zone is None else moment.replace(tzinfo=zone)


# ---------------------------------------------------------------------------
# Shown
# ---------------------------------------------------------------------------


def _row(account: Account) -> dict[str, Any]:
    from phb.delays import mean_us, percentile_us

    packets, octets, dropped, dropped_octets, marked = account.figures
    mean, high = mean_us(account.delays), percentile_us(account.delays, 99)
    # What is pushed out of a queue may have come before the span.
    sent = max(0, packets - dropped)
    values = (
        *(account.switch, account.name, account.direction, packets, octets),
        *(sent, max(0, octets - dropped_octets), dropped, dropped_octets, marked),
        *(None if each is None else round(each / 1000, 3) for each in (mean, high)),
    )
    return dict(zip(COLUMNS, values, strict=True))


def _total(accounts: Sequence[Account]) -> dict[str, Any]:
    from phb.monitor.history.accounts import Account

    sums = [sum(each.figures[place] for each in accounts) for place in range(5)]
    return _row(Account("", "total", "", (sums[0], sums[1], sums[2], sums[3], sums[4])))


def _time(minutes: int, zone: tzinfo | None) -> str:
    return f"{datetime.fromtimestamp(minutes * 60, UTC).astimezone(zone):%Y-%m-%dT%H:%M%z}"


def _gap(gap: Gap, zone: tzinfo | None) -> dict[str, Any]:
    ends = [_second(end // 10**9, zone) for end in (gap.began_ns, gap.ended_ns)]
    return {"from": ends[0], "to": ends[1], "counted": gap.counted}


def _as_json(found: Accounts, by: By, zone: tzinfo | None) -> dict[str, Any]:
    return {
        "by": by.value,
        "from": _time(found.first, zone),
        "to": _time(found.end, zone),
        "accounts": [_row(each) for each in found.accounts],
        "total": _total(found.accounts),
        "gaps": [{"switch": name, **_gap(gap, zone)} for name, gaps in found.gaps.items() for gap in gaps],
        "rounded": found.rounded,
    }


def _print_csv(found: Accounts) -> None:
    import csv
    import io

    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for account in found.accounts:
        rows.writerow("" if value is None else _cell(value) for value in _row(account).values())
    typer.echo(text.getvalue(), nl=False)


def _print_series(found: Iterable[tuple[int, Account]], *, json: bool, zone: tzinfo | None) -> None:
    """Print a line for each span and account, as they come: CSV, or a JSON object in each line."""
    import csv
    import sys

    rows = csv.writer(sys.stdout, lineterminator="\n")
    if not json:
        rows.writerow(("time", *COLUMNS))
    for seconds, account in found:
        row = {"time": _second(seconds, zone), **_row(account)}
        if json:
            print_json(row, indent=None)
        else:
            rows.writerow("" if value is None else _cell(value) for value in row.values())


def _second(seconds: int, zone: tzinfo | None) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC).astimezone(zone):%Y-%m-%dT%H:%M:%S%z}"


def _cell(value: Any) -> Any:
    """Give a value that no spreadsheet takes for a formula, and no terminal for a command."""
    from phb.visible import visible

    if not isinstance(value, str):
        return value
    shown = visible(value)
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@")) else shown


def _print(found: Accounts, missed: Sequence[Unmet], by: By, zone: tzinfo | None) -> None:
    output = console()
    rows = table("switch", by.value, "sent", "MB", "dropped", "%", "marked", "mean ms", "99 % ms")
    for each in (*map(_row, found.accounts), _total(found.accounts)):
        name = f"{each['name']} ({each['direction']})" if each["direction"] else each["name"]
        share = 100 * each["dropped_packets"] / each["came_packets"] if each["came_packets"] else 0
        delays = ("" if each[key] is None else f"{each[key]:g}" for key in COLUMNS[-2:])
        rows.add_row(
            *(each["switch"], name, f"{each['sent_packets']}"),
            *(f"{each['sent_bytes'] / 1e6:.1f}", f"{each['dropped_packets']}", f"{share:.2f}"),
            *(f"{each['marked_packets']}", *delays),
        )
    print_table(output, rows)
    gaps = [(name, gap) for name, several in found.gaps.items() for gap in several]
    if gaps:
        rows = table("gap of", "from", "to", "what passed in it")
        for name, gap in gaps:
            told = _gap(gap, zone)
            rows.add_row(
                name, told["from"], told["to"], "is counted at its end" if gap.counted else "isn't known whole"
            )
        print_table(output, rows)
    if missed:
        rows = table("not achieved of", "switch", "bound", "times", "seconds")
        for each_missed in missed:
            bound = f"{each_missed.measure} {each_missed.bound:g}"
            times, seconds = str(each_missed.times), f"{each_missed.seconds:.0f}"
            rows.add_row(each_missed.of, each_missed.switch, bound, times, seconds)
        print_table(output, rows)
    ends = f"{_time(found.first, zone)} to {_time(found.end, zone)}"
    exact = "" if not found.rounded else ", partly of rounded minutes"
    count = "1 account" if len(found.accounts) == 1 else f"{len(found.accounts)} accounts"
    output.print(f"{count}, {ends}{exact}")
