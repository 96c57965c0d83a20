"""Packets and bytes in one cell, with a meter's yellow and red where there are any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from phb.cli.output import lines

if TYPE_CHECKING:
    from rich.text import Text

    from phb.device.session import CounterValue


def by_colour(colours: Mapping[str, CounterValue]) -> Text:
    """Show all packets and bytes, and of them the yellow and the red ones."""
    from phb.show.reading import add

    total = add(colours.values())
    others = [(f"{name} ", value) for name, value in colours.items() if name != "green" and value.packets]
    return lines(f"{name}{value.packets}/{value.bytes}" for name, value in (("", total), *others))
