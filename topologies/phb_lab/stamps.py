"""``--stamp``: test packets that measure a network's classes beside its traffic, and what they tell."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.table import Table

from phb.stamp.figures import PERCENTILES, Spread
from phb.values import CODE_POINTS, parse_code_point
from phb_lab.description import Host, Network, Stamp
from phb_lab.errors import UsageError
from phb_lab.study import Run
from phb_lab.tables import plain

INTERVAL_NS = 100_000_000
"""Between two test packets of a session: 86 bytes on Ethernet, 6.9 kbit/s."""


@dataclass(frozen=True)
class Asked:
    """Sessions from one host to another, one for each DSCP; `text` is what the user wrote."""

    text: str
    client: str
    server: str
    dscps: tuple[int, ...]


def parse_stamp(text: str) -> Asked:
    """Read ``CLIENT>SERVER=DSCP[,DSCP]``, hosts by name, DSCPs by name or number.

    Raises:
        UsageError: it is something else.
    """
    found = re.fullmatch(r"\s*([^>=\s]+)\s*>\s*([^>=\s]+)\s*=\s*(\S+)\s*", text)
    if found is None:
        raise UsageError(f"--stamp {text}: expected CLIENT>SERVER=DSCP[,DSCP], such as 'branch>os390=EF,0'")
    dscps = []
    for word in found[3].split(","):
        try:
            dscps.append(parse_code_point(int(word) if word.isascii() and word.isdigit() else word))
        except ValueError:
            message = f"found '{word}', expected a DSCP from 0 to 63 or a name such as EF, AF41, CS6"
            raise UsageError(f"--stamp {text}: {message}") from None
    if len(set(dscps)) < len(dscps):
        raise UsageError(f"--stamp {text}: found a DSCP twice, expected each once")
    return Asked(text, found[1], found[2], tuple(dscps))


def with_stamps(network: Network, asked: Sequence[Asked]) -> Network:
    """Give the network with these sessions; they begin spread over the interval.

    Raises:
        UsageError: it has no such host.
    """
    count = sum(len(each.dscps) for each in asked)
    stamps: list[Stamp] = list(network.stamps)
    for each in asked:
        client, server = (_host(network, each, name) for name in (each.client, each.server))
        for dscp in each.dscps:
            name = f"stamp {client.name} > {server.name} {dscp}"
            if any(other.name == name for other in stamps):
                raise UsageError(f"--stamp {each.text}: found {name} again, expected each session once")
            stamps.append(
                Stamp(
                    name=name,
                    group="stamp",
                    client=client.name,
                    client_address=client.addresses[0],
                    server=server.name,
                    server_address=server.addresses[0],
                    interval_ns=INTERVAL_NS,
                    start_ns=INTERVAL_NS * (len(stamps) - len(network.stamps)) // count,
                    tos=dscp << 2,
                )
            )
    return replace(network, stamps=tuple(stamps))


def _host(network: Network, asked: Asked, name: str) -> Host:
    for host in network.hosts:
        if host.name == name:
            return host
    known = ", ".join(host.name for host in network.hosts)
    raise UsageError(f"--stamp {asked.text}: found '{name}', expected a host of {network.name}: {known}")


def as_json(runs: Sequence[Run[Any]]) -> dict[str, Any]:
    """For the results file: by test, a figure set for each session; empty where nobody measured."""
    return {
        run.test.name: [
            {
                "client": each.session.client,
                "server": each.session.server,
                "dscp": each.session.tos >> 2,
                **each.figures.as_json(),
            }
            for each in run.outcome.stamps
        ]
        for run in runs
        if run.outcome.stamps
    }


def table(run: Run[Any]) -> Table:
    """Give the figures of a run's sessions; times in milliseconds."""
    shown = plain(run.test.name)
    for column in ("DSCP", "sent", "lost there", "back"):
        shown.add_column(column)
    shown.add_column("ms", no_wrap=True)
    for column in ("min", "mean", *(f"p{percent}" for percent in PERCENTILES), "max"):
        shown.add_column(column, justify="right")
    for each in run.outcome.stamps:
        figures, lost = each.figures, each.figures.lost
        parts = ["?" if part is None else str(part) for part in (lost.there, lost.back)]
        way = f"{each.session.client} > {each.session.server}"
        first = [way, _name(each.session.tos >> 2), str(figures.sent), *parts]
        for words, spread in (("there", figures.there), ("back", figures.back), ("round trip", figures.round_trip)):
            shown.add_row(*first, words, *_milliseconds(spread))
            first = [""] * len(first)
    return shown


def _name(dscp: int) -> str:
    return next((name for name, number in CODE_POINTS.items() if number == dscp), str(dscp))


def _milliseconds(spread: Spread | None) -> list[str]:
    if spread is None:
        return ["-"] * (3 + len(PERCENTILES))
    values = (spread.least, spread.mean, *spread.percentiles, spread.most)
    return [f"{value / 1e6:.3f}" for value in values]
