"""``phb show``: look at live switches. One module per thing to show; importing it registers its command."""

from __future__ import annotations

from phb.cli.show import applicability, counters, entries, meter, policy, port, queue, switch, traffic_class
from phb.cli.show.application import show_app

__all__ = [
    "applicability",
    "counters",
    "entries",
    "meter",
    "policy",
    "port",
    "queue",
    "show_app",
    "switch",
    "traffic_class",
]
