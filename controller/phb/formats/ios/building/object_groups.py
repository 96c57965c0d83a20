"""Object groups in the entries of access lists, unfolded into boxes."""

from __future__ import annotations

from dataclasses import replace

from phb.errors import InputError
from phb.formats.ios.boxes import IosBox
from phb.formats.ios.configuration import AccessEntry, Configuration
from phb.origin import Origin

# The most conditions of an unfolded entry: the room in the switch's table.
MOST_CONDITIONS = 65_536


def unfold(configuration: Configuration, entry: AccessEntry) -> tuple[IosBox, ...]:
    """Give the boxes of an entry, with the members of its object groups in the groups' places.

    Raises:
        InputError: A group that isn't there, is of the other kind, has no members or contains itself; or more
            conditions than the switch has room for.
    """
    boxes = entry.boxes
    for place, name in entry.groups:
        kind = "services" if place == "service" else "networks"
        members = _members(configuration, name, kind, entry.origin, {})
        if place == "destination":
            members = tuple(replace(box, source=None, destination=box.source) for box in members)
        if len(boxes) * len(members) > MOST_CONDITIONS:
            raise InputError(
                entry.origin,
                f"an entry whose object groups stand for more than {MOST_CONDITIONS} conditions",
                "fewer members, or address ranges instead of hosts",
            )
        met = (box.intersect(member) for box in boxes for member in members)
        boxes = tuple(dict.fromkeys(box for box in met if box is not None))
    return boxes


def _members(
    configuration: Configuration,
    name: str,
    kind: str,
    origin: Origin,
    known: dict[str, tuple[IosBox, ...] | None],
) -> tuple[IosBox, ...]:
    """Give the boxes of a group and of those in it; `known` has earlier results, None for groups being unfolded."""
    group = configuration.object_groups.get(name)
    if group is None or group.kind != kind:
        others = ", ".join(sorted(each.name for each in configuration.object_groups.values() if each.kind == kind))
        found = f"object group '{name}'" + ("" if group is None else f" of {group.kind} ({group.origin})")
        raise InputError(origin, found, f"one of {kind}: {others}" if others else f"one of {kind}; the file has none")
    if name not in known:
        known[name] = None
        boxes = dict.fromkeys(group.boxes)
        for inner, place in group.groups:
            boxes |= dict.fromkeys(_members(configuration, inner, kind, place, known))
        known[name] = tuple(boxes)
    found_boxes = known[name]
    if found_boxes is None:
        raise InputError(origin, f"object group '{name}' within itself", "object groups without a circle")
    if not found_boxes and not group.errors:
        raise InputError(origin, f"object group '{name}' without members ({group.origin})", "one that has some")
    return found_boxes
