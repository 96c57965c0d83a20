"""``phb stamp``: measure delay, jitter and loss per class with test packets (RFC 8762)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import EXIT_CODES, HELP_NAMES, OK, REFUSED, app, epilog
from phb.cli.interrupting import run_until_signal
from phb.cli.options import Json
from phb.cli.output import console, print_error, print_json, print_line, print_table, progress, table

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

    from phb.stamp.figures import Spread
    from phb.stamp.session import Session

stamp_app = typer.Typer(
    no_args_is_help=True,
    help="Measure delay, jitter and loss per class with test packets (STAMP, RFC 8762).",
    epilog=EXIT_CODES,
    context_settings=HELP_NAMES,
)
app.add_typer(stamp_app, name="stamp")

KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file", metavar="FILE", help="Authenticated mode: HMAC-SHA-256 with the file's first line as the key."
    ),
]


@stamp_app.command(
    epilog=epilog(
        "phb stamp send 192.0.2.1 --dscp EF --dscp AF21 --dscp 0",
        "phb stamp send 192.0.2.1:8620 --count 1000 --interval 0.02 --size 200 --json",
        "phb stamp send [2001:db8::1]:862 --dscp EF --reply-dscp EF --key-file stamp.key",
    )
)
def send(
    address: Annotated[str, typer.Argument(metavar="HOST[:PORT]", help="The reflector; its port is 862 mostly.")],
    dscp: Annotated[
        list[str] | None,
        typer.Option(
            "--dscp", metavar="DSCP", help="By name or number; repeatable, all are measured at once.  (default: 0)"
        ),
    ] = None,
    count: Annotated[int, typer.Option(min=1, max=1_000_000, help="Packets of each DSCP.")] = 100,
    interval: Annotated[
        float, typer.Option(min=0.001, max=3600, metavar="SECONDS", help="Between two packets of a DSCP.")
    ] = 0.1,
    wait: Annotated[
        float, typer.Option(min=0, max=3600, metavar="SECONDS", help="For replies, after the last packet.")
    ] = 2.0,
    size: Annotated[
        int | None,
        typer.Option(
            min=44, max=9000, metavar="OCTETS", help="Of a test packet, without UDP's header.  (default: the least)"
        ),
    ] = None,
    reply_dscp: Annotated[
        str | None,
        typer.Option(
            metavar="DSCP",
            help="Ask for replies of this DSCP, and what requests arrived with (RFC 8972).  (default: as requests)",
        ),
    ] = None,
    stateful: Annotated[
        bool | None,
        typer.Option(
            "--stateful/--stateless",
            help="Whether the reflector numbers packets itself, so that losses have a direction.  "
            "(default: if its numbers show it)",
        ),
    ] = None,
    key_file: KeyFile = None,
    json: Json = False,
) -> int:
    """Send test packets to a reflector; print delay, jitter and loss for each DSCP.

    Round trips and jitter need no common clock. Delays of one direction are as right as both clocks agree. Ends with
    exit code 1 if no reply came at all.
    """
    import asyncio

    from phb.errors import InputError, SwitchError
    from phb.origin import Origin
    from phb.stamp.packets import length
    from phb.stamp.sending import Plan, measure
    from phb.stamp.tlvs import HEAD, ask_class

    host, port = _host_and_port(address, Origin("HOST"))
    key = _key(key_file)
    if key is not None and reply_dscp is not None:
        raise InputError(Origin("--reply-dscp"), "--key-file, too", "one of them: what asks for it isn't authenticated")
    least = length(key) + (0 if reply_dscp is None else len(ask_class(0)))
    size = least if size is None else size
    if size != least and size < least + HEAD:
        raise InputError(Origin("--size"), f"{size}", f"{least}, or at least {least + HEAD}")
    dscps = tuple(dict.fromkeys(_dscp(each, "--dscp") for each in dscp or ["0"]))
    asked = None if reply_dscp is None else _dscp(reply_dscp, "--reply-dscp")
    plan = Plan(host, port, dscps, count, interval, wait, size, asked, key, stateful)
    with progress("sent", count * len(dscps)) as advance:
        try:
            sessions = asyncio.run(measure(plan, advance))
        except OSError as error:
            raise SwitchError(address, error.strerror or str(error)) from None
    if json:
        about = {"reflector": address, "size": size, "interval_s": interval}
        print_json({**about, "sessions": [each.as_json() for each in sessions]})
    answered = [each for each in sessions if each.figures().replies]
    if answered and not json:
        _print(answered)
    for session in sessions:
        if session not in answered:
            why = f" ({session.trouble})" if session.trouble else ""
            print_error(f"phb: {address}: DSCP {_name(session.dscp)}: no reply to {session.sent} packets{why}")
    return OK if answered else REFUSED


@stamp_app.command(
    epilog=epilog(
        "phb stamp reflect",
        "phb stamp reflect --bind 192.0.2.1:8620 --allow 192.0.2.0/24 --allow 198.51.100.7",
        "phb stamp reflect --bind [::]:862 --key-file stamp.key --json",
    )
)
def reflect(
    bind: Annotated[
        str,
        typer.Option(
            metavar="HOST[:PORT]", help="Where it listens; a port below 1024 needs root or CAP_NET_BIND_SERVICE."
        ),
    ] = "0.0.0.0",
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="NETWORK", help="Answer only these; repeatable.  (default: everybody)"),
    ] = None,
    rate: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Packets that are answered each second; others aren't.")
    ] = 10_000,
    stateless: Annotated[
        bool, typer.Option("--stateless", help="Copy the sender's numbers: senders can't tell where packets were lost.")
    ] = False,
    key_file: KeyFile = None,
    json: Json = False,
) -> int:
    """Send test packets back until SIGTERM or Ctrl-C, then tell how many.

    A reply is as long as its request and has the same DSCP, unless the request asks for another.
    """
    from phb.errors import InputError
    from phb.origin import Origin
    from phb.stamp.reflecting import Reflector, serve

    host, port = _host_and_port(bind, Origin("--bind"))
    networks = tuple(_network(each) for each in allow or ())
    reflector = Reflector(key=_key(key_file), stateless=stateless, allowed=networks, rate=rate)

    def ready(where: str) -> None:
        if json:
            print_json({"event": "reflecting", "address": where}, indent=None)
        else:
            print_line(f"reflecting at {where}")

    async def work() -> None:
        try:
            await serve(reflector, host, port, ready)
        except OSError as error:
            found = f"'{bind}' ({error.strerror or error})"
            raise InputError(Origin("--bind"), found, "a free address of this machine") from None

    code = run_until_signal(work())
    refused = {str(why): count for why, count in sorted(reflector.refused.items())}
    if json:
        print_json({"event": "ended", "answered": reflector.answered, "refused": refused}, indent=None)
    else:
        others = "".join(f", {why} {count}" for why, count in refused.items())
        print_line(f"answered {reflector.answered}; not answered: {others[2:] or 'none'}")
    return code


def _host_and_port(text: str, origin: Any) -> tuple[str, int]:
    from phb.errors import InputError
    from phb.stamp.places import EXPECTED, parse_place

    try:
        return parse_place(text)
    except ValueError:
        raise InputError(origin, f"'{text}'", EXPECTED) from None


def _dscp(text: str, option: str) -> int:
    from phb.errors import InputError
    from phb.origin import Origin
    from phb.values import parse_code_point

    try:
        return parse_code_point(int(text) if text.isascii() and text.isdigit() else text)
    except ValueError:
        raise InputError(Origin(option), f"'{text}'", "a DSCP from 0 to 63 or a name such as EF, AF41, CS6") from None


def _network(text: str) -> IPv4Network | IPv6Network:
    import ipaddress

    from phb.errors import InputError
    from phb.origin import Origin

    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise InputError(Origin("--allow"), f"'{text}' ({error})", "a network such as 192.0.2.0/24") from None


def _key(path: Path | None) -> bytes | None:
    from phb.stamp.places import read_key

    return None if path is None else read_key(path)


def _name(dscp: int) -> str:
    from phb.values import CODE_POINTS

    names = [name for name, number in CODE_POINTS.items() if number == dscp]
    return names[0] if names else str(dscp)


def _print(sessions: list[Session]) -> None:
    from phb.stamp.sending import synchronised

    shown = table("DSCP", "sent", "lost", "there", "back", "ms", "min", "mean", "p50", "p95", "p99", "max")
    for session in sessions:
        figures = session.figures()
        lost = figures.lost
        known = ["?" if part is None else str(part) for part in (lost.there, lost.back)]
        first = [_name(session.dscp), str(figures.sent), str(figures.sent - figures.replies), *known]
        for words, spread in (
            ("round trip", figures.round_trip),
            ("there", figures.there),
            ("back", figures.back),
            ("jitter there", figures.jitter_there),
            ("jitter back", figures.jitter_back),
        ):
            shown.add_row(*first, words, *_milliseconds(spread))
            first = [""] * 5
    print_table(console(), shown)
    if not synchronised(sessions):
        print_line("there and back are wrong by what the two clocks differ: not both say that they are synchronised")
    for session in sessions:
        others = {dscp: count for dscp, count in session.came.items() if dscp != session.dscp}
        for dscp, count in sorted(others.items()):
            print_line(f"{count} packets sent as {_name(session.dscp)} came to the reflector as {_name(dscp)}")


def _milliseconds(spread: Spread | None) -> list[str]:
    if spread is None:
        return ["-"] * 6
    values = (spread.least, spread.mean, *spread.percentiles, spread.most)
    return [f"{value / 1e6:.3f}" for value in values]
