"""``phb show queue``: what waits at a port, in the words of IOS ``show queue`` (the source's appendix E)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli.application import epilog
from phb.cli.options import grouped
from phb.cli.output import lines
from phb.cli.show.application import show_app
from phb.cli.show.live import Look, Manner, show

if TYPE_CHECKING:
    from rich.text import Text

    from phb.show.queues import Conversation, PortQueues, QueueOf
    from phb.show.reading import Reading


@show_app.command(
    "queue", epilog=epilog("phb show queue c7513.yaml c7513-wfq.yaml", "phb show queue --port Serial5/0/0 --watch 1")
)
@grouped
def show_queue(
    look: Look,
    port: Annotated[
        list[str] | None, typer.Option("--port", metavar="PORT", help="Only this port, by name or number; repeatable.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also conversations where nothing waits, if they have seen packets.")
    ] = False,
    *,
    manner: Manner,
) -> None:
    """Show queues, conversation by conversation: depth, weight, discards, tail drops, and whose it is.

    Addresses and ports are those of the packet that took the conversation; a switch whose registers can't be read
    (bmv2) doesn't tell them.
    """
    from phb.show.queues import as_json, read_queues

    async def read(looked: Reading) -> list[PortQueues]:
        return await read_queues(looked, _ports(looked, port or ()))

    show(look, manner, read, lambda ports: as_json(ports, every), lambda ports: render(ports, every))


def _ports(looked: Reading, wanted: Sequence[str]) -> frozenset[int]:
    from phb.errors import InputError
    from phb.origin import Origin

    numbers = {name: number for number, name in looked.names.ports.items()}
    found = set()
    for name in wanted:
        if name not in numbers and not name.isdigit():
            known = ", ".join(f"'{each}'" for each in numbers) or "a number; no file names ports"
            raise InputError(Origin("--port"), f"port '{name}'", f"one of {known}")
        found.add(numbers[name] if name in numbers else int(name))
    return frozenset(found)


def render(ports: Sequence[PortQueues], every: bool) -> Text:
    """Draw the output of the command."""
    said = [line for port in ports for line in _lines(port, every)]
    return lines(said or ["no port has a scheduler of its own"])


def _lines(port: PortQueues, every: bool) -> Iterator[str]:
    yield f"{port.name}: queueing strategy {port.strategy}"
    yield f"  Output queue: {port.depth}/{port.hold_queue or 'unlimited'}/{port.drops} (size/max total/drops)"
    for queue in port.queues:
        if queue.traffic_class is not None:
            level = f", strict level {queue.level}" if queue.is_strict else ""
            limit = f"/{queue.limit}" if queue.limit else ""
            yield f"  Class {queue.traffic_class}{level}: {queue.depth}{limit} queued, {queue.drops} dropped"
        if queue.slots > 1:
            active = sum(1 for each in queue.conversations if each.depth)
            yield f"    Conversations {active}/{len(queue.conversations)}/{queue.slots} (active/seen/total)"
        for conversation in queue.shown(every):
            yield from _conversation(conversation, queue)


def _conversation(conversation: Conversation, queue: QueueOf) -> Iterator[str]:
    weight = "-" if conversation.weight is None else str(conversation.weight)
    numbers = f"{conversation.depth}/{weight}/{conversation.discards}/{conversation.tail_drops}/0"
    early = f", early drops {conversation.early_drops}" if conversation.early_drops else ""
    refused = f", refused by the switch {conversation.refused}" if conversation.refused else ""
    yield f"    (depth/weight/discards/tail drops/interleaves) {numbers}{early}{refused}"
    flow = conversation.flow
    if queue.slots == 1:
        return
    if flow is None:
        yield f"    Conversation {conversation.number}"
        return
    link = "ip" if flow.source else "other than IPv4"
    length = "" if conversation.length is None else f", length: {conversation.length}"
    yield f"    Conversation {conversation.number}, linktype: {link}{length}"
    if flow.source:
        yield f"    source: {flow.source}, destination: {flow.destination},"
        yield (
            f"    TOS: {flow.tos} prot: {flow.protocol}, "
            f"source port {flow.source_port}, destination port {flow.destination_port}"
        )
