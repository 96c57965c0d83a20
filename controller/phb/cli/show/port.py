"""``phb show port``: what ports have sent, and what waits there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from phb.cli.application import epilog
from phb.cli.options import grouped
from phb.cli.output import table
from phb.cli.show.application import show_app
from phb.cli.show.live import Look, Manner, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from phb.show.interfaces import InterfaceStatus
    from phb.show.ports import PortRow, PortTable


@show_app.command("port", epilog=epilog("phb show port c7513.yaml c7513-wfq.yaml", "phb show port --watch 2"))
@grouped
def show_port(look: Look, manner: Manner) -> None:
    """Show ports: what the scheduler sent, what is queued and dropped for want of room, and their interfaces.

    Interfaces and shapers are asked by gNMI; a switch that doesn't speak it (bmv2) doesn't tell them.
    """
    from phb.show.ports import read_ports

    show(look, manner, read_ports, _as_json, _render)


def _as_json(ports: PortTable) -> list[dict[str, Any]]:
    return [
        {
            "port": row.number,
            "name": row.name,
            "strategy": row.strategy,
            "packets": row.sent.packets,
            "bytes": row.sent.bytes,
            "queued": row.queued,
            "hold_queue": row.hold_queue,
            "drops": row.drops,
            "interface": None if row.interface is None else _interface_as_json(row.interface),
        }
        for row in ports.rows
    ]


def _interface_as_json(interface: InterfaceStatus) -> dict[str, Any]:
    return {
        "name": interface.name,
        "status": interface.status,
        "rate_bps": interface.rate_bps,
        "shaped": interface.shaped,
        "queueing_discipline": interface.discipline,
        "held_back": interface.held_back,
        "counters": dict(interface.counters),
        "queues": {name: dict(counters) for name, counters in interface.queues.items()},
    }


def _render(ports: PortTable) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    shown = table("port", "name", "scheduler", "packets", "bytes", "queued", "hold queue", "dropped")
    for row in ports.rows:
        shown.add_row(
            str(row.number),
            row.name,
            row.strategy or "fifo (default)",
            *map(str, (row.sent.packets, row.sent.bytes, row.queued)),
            str(row.hold_queue or "-"),
            str(row.drops),
        )
    if not ports.speaks_gnmi:
        words = "the switch doesn't speak gNMI: interfaces and shapers are not known"
        return Group(shown, Text(words))
    each = "packets/ discards/ errors"
    interfaces = table("port", "interface", "status", "rate", f"in {each}", f"out {each}", "queue drops", "held back")
    for row in ports.rows:
        if row.interface is not None:
            interfaces.add_row(str(row.number), *_interface(row))
    return Group(shown, interfaces)


def _interface(row: PortRow) -> tuple[str, ...]:
    interface = row.interface
    assert interface is not None
    rate = "unshaped" if interface.rate_bps is None else f"{interface.rate_bps} bit/s"
    counters: Mapping[str, int] = interface.counters
    counted = (
        "/".join(str(counters.get(f"{way}-{what}", "-")) for what in ("pkts", "discards", "errors"))
        for way in ("in", "out")
    )
    dropped = sum(queue.get("dropped-pkts", 0) for queue in interface.queues.values())
    return (
        interface.name,
        interface.status,
        f"{rate} (shaper)" if interface.shaped else rate,
        *counted,
        str(dropped),
        _held_back(interface),
    )


def _held_back(interface: InterfaceStatus) -> str:
    """By the kernel's queueing discipline, where somebody has set one."""
    if interface.discipline in (None, "none"):
        return "-"
    return f"{interface.held_back} ({interface.discipline})"
