"""The 7513's ``show queue`` during the WFQ tests, beside the display that the source prints (appendix E)."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from rich.table import Table

from phb_lab.figures import Figure, read_published
from phb_lab.study import Run
from phb_lab.tables import plain

from .tests import Setting

PUBLISHED = read_published(__file__)

# A conversation as `phb show queue` prints it, which is how the source's router printed it.
_CONVERSATION = re.compile(
    r"\(depth/weight/discards/tail drops/interleaves\) (?P<depth>\d+)/(?P<weight>\d+)/(?P<discards>\d+)/"
    r"(?P<tail_drops>\d+)/(?P<interleaves>\d+).*\n"
    r" +Conversation (?P<number>\d+), linktype: ip, length: (?P<length>\d+)\n"
    r" +source: (?P<source>[\d.]+), destination: (?P<destination>[\d.]+),\s+TOS: (?P<tos>\d+) prot: \d+, "
    r"source port (?P<source_port>\d+), destination port (?P<destination_port>\d+)"
)


@dataclass(frozen=True)
class Conversation:
    """One conversation of a display; the fields are the display's own."""

    depth: int
    weight: int
    discards: int
    tail_drops: int
    interleaves: int
    length: int
    tos: int
    source: str
    source_port: int


# Figure E-1 of the source, by marking. It does not print the transfers that wait beside these.
PRINTED = {
    marking: tuple(
        Conversation(depth, weight, 0, 0, 0, 1444, tos, "133.10.30.1", source_port)
        for depth, source_port in zip(depths, (700, 701, 702), strict=True)
    )
    for marking, weight, tos, depths in (("diffserv", 512, 252, (1, 1, 2)), ("ipprec", 585, 192, (2, 2, 1)))
}


def conversations(display: str) -> list[Conversation]:
    """The conversations of a display."""
    found = []
    for match in _CONVERSATION.finditer(display):
        told = match.groupdict()
        found.append(
            Conversation(
                **{
                    name: int(told[name])
                    for name in ("depth", "weight", "discards", "tail_drops", "interleaves", "length", "tos")
                },
                source=told["source"],
                source_port=int(told["source_port"]),
            )
        )
    return found


def interactive(displays: Iterable[str]) -> list[Conversation]:
    """Those of the interactive traffic, from several displays, in the order of their server's port."""
    first, last = map(int, PUBLISHED["traffic"]["interactive"]["server_ports"].split("-"))
    shown = chain.from_iterable(map(conversations, displays))
    return sorted(
        (each for each in shown if first <= each.source_port <= last), key=lambda each: (each.source_port, each.depth)
    )


def figures(test: str, snapshots: Mapping[str, str]) -> list[Figure]:
    """Weight, type of service and length of the interactive conversations; none where no display shows one."""
    shown = interactive(snapshots.values())
    if not shown:
        return []
    marking = PUBLISHED["marking"][{"diffserv": "diffserv", "ipprec": "ip_precedence"}[test.split("-")[0]]]
    found = []
    for quantity, published in {"weight": marking["wfq_weight"], "tos": marking["tos"]}.items():
        furthest = max((getattr(each, quantity) for each in shown), key=lambda value: abs(value - published))
        found.append(Figure(test, f"show_queue.{quantity}", "", furthest, published, low=published, high=published))
    # The most frequent one: a reply that TCP sends again may come in two pieces.
    (length, _), *_ = Counter(each.length for each in shown).most_common()
    whole = PUBLISHED["display"]["interactive_packet_length"]
    found.append(Figure(test, "show_queue.length", "bytes", length, whole, low=whole, high=whole))
    return found


def display_table(runs: Sequence[Run[Setting]]) -> Table:
    """The interactive conversations of our displays beside the printed ones, a row per test and server port."""
    table = plain(
        "test, port",
        *("shown", "depth", "weight", "ToS", "length", "drops"),
        title="show queue of Serial5/0/0 while the WFQ tests run: interactive conversations, ours beside appendix E",
        caption="drops: discards, tail drops and interleaves. depth: packets that wait; of our displays the least and "
        "the most. The source prints one display per marking, by OSA-2.",
    )
    for run in runs:
        if not run.outcome.snapshots:
            continue
        table.add_row(f"{run.test.name} ({len(run.outcome.snapshots)} displays)")
        by_port: dict[int, list[Conversation]] = {}
        for each in interactive(run.outcome.snapshots.values()):
            by_port.setdefault(each.source_port, []).append(each)
        for port, shown in by_port.items():
            table.add_row(f"  {port}", str(len(shown)), *_cells(shown))
        table.add_section()
    for marking, printed in PRINTED.items():
        table.add_row(f"appendix E, {marking}")
        for each in printed:
            table.add_row(f"  {each.source_port}", "1", *_cells([each]))
        table.add_section()
    return table


def _cells(shown: Sequence[Conversation]) -> list[str]:
    return [
        _range(each.depth for each in shown),
        _range(each.weight for each in shown),
        _range(each.tos for each in shown),
        _range(each.length for each in shown),
        "/".join(_range(getattr(each, name) for each in shown) for name in ("discards", "tail_drops", "interleaves")),
    ]


def _range(values: Iterable[int]) -> str:
    found = sorted(values)
    return f"{found[0]}" if found[0] == found[-1] else f"{found[0]}-{found[-1]}"
