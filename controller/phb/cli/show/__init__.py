"""``phb show``: look at live switches. One module per thing to show; importing it registers its command."""

from __future__ import annotations

from phb.cli.show import counters, entries, policy
from phb.cli.show.application import show_app

__all__ = ["counters", "entries", "policy", "show_app"]
