"""Which switches come in which wave."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Final

from phb.errors import InputError
from phb.inventory import Switch
from phb.origin import Origin

_SIZE: Final = re.compile(r"(\d+)(%?)", re.ASCII)


def waves_of(switches: Sequence[Switch], canary: str | None, sizes: Sequence[str]) -> list[list[Switch]]:
    """Divide switches into waves, the canaries first.

    `canary` is how many canaries there are, ``3`` or ``1%``, or which, ``edge1,edge2``, by names of switches or groups;
    None is none. A number of them is spread over the groups, of each the first in the inventory's order. `sizes` are
    those of the waves after them, in the inventory's order; the last one says how large all others are, and without
    any the rest is one wave. Percents are of all switches, rounded up.

    Raises:
        InputError: A size or a name is wrong.
    """
    first = [] if canary is None else _canaries(switches, canary)
    names = {switch.name for switch in first}
    rest = [switch for switch in switches if switch.name not in names]
    counts = [_size(size, len(switches), "--wave") for size in sizes] or [len(switches)]
    waves = [first] if first else []
    while rest:
        count = counts.pop(0) if len(counts) > 1 else counts[0]
        waves.append(rest[:count])
        rest = rest[count:]
    return waves


def _canaries(switches: Sequence[Switch], canary: str) -> list[Switch]:
    if _SIZE.fullmatch(canary):
        return _spread(switches)[: _size(canary, len(switches), "--canary")]
    names = [name.strip() for name in canary.split(",")]
    for name in names:
        if not any(name == switch.name or name in switch.groups for switch in switches):
            expected = "a number such as 3 or 1%, or names of switches and groups that the push is for, with commas"
            raise InputError(Origin("--canary"), f"'{name}'", expected)
    return [switch for switch in switches if switch.name in names or not set(names).isdisjoint(switch.groups)]


def _spread(switches: Sequence[Switch]) -> list[Switch]:
    """Give the first of each group, then the second of each, and so on; a switch counts for its first group."""
    groups: dict[str | None, list[Switch]] = {}
    for switch in switches:
        groups.setdefault(switch.groups[0] if switch.groups else None, []).append(switch)
    rounds = zip_longest(*groups.values())
    return [switch for switch in chain.from_iterable(rounds) if switch is not None]


def _size(size: str, total: int, option: str) -> int:
    match = _SIZE.fullmatch(size)
    number = int(match[1]) if match else 0
    if match is None or not number or (match[2] and number > 100):
        raise InputError(Origin(option), f"'{size}'", "a number of switches such as 20, or 1% to 100%")
    return -(-number * total // 100) if match[2] else number
