"""Whether a policy that was written in another format does what it did.

The text is read back, and both policies are compared in one node: what the format leaves to other files (numbers of
ports, routes, ...) is that of the source, and so is what no file says (phb.comparing.fragments).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from phb.formats import Converted, Loss, read_content
from phb.model import CrossConnect, Item, PolicySet, Port, PortReference, Queueing, Route


def read_back(source: PolicySet, converted: Converted, to: str, name: str) -> PolicySet:
    """Give the policy that was written, with what the format leaves to other files; `name` stands in its origins.

    Raises:
        InputError: The text can't be read: a mistake of the writer.
    """
    written = read_content(converted.text.encode(), name, to)
    return _with_other_files(written, source, converted)


def listed(places: Iterable[tuple[str, int]], losses: Iterable[Loss]) -> bool:
    """Whether one of these places, by file and line, is of something that a loss concerns."""
    known = {(origin.file, origin.line) for loss in losses for origin in _origins(loss)}
    return not known.isdisjoint(places)


def _origins(loss: Loss) -> list[Any]:
    return [loss.origin, *(origin for item in loss.concerned for origin in (item.origin(), *item.origins().values()))]


def _with_other_files(written: PolicySet, source: PolicySet, converted: Converted) -> PolicySet:
    lost = [(loss.item, loss.key) for loss in converted.losses if loss.item is not None and not loss.packets]
    whole = {id(item) for item, key in lost if not key}
    updates: dict[str, Any] = {"ports": _ports(written, source, converted.ports, lost)}
    if any(item is source and key == "time_zone" for item, key in lost):
        updates["time_zone"] = source.time_zone

    def renamed(reference: PortReference) -> PortReference:
        return converted.ports.get(reference, reference) if isinstance(reference, str) else reference

    for field in ("cross_connects", "routes", "classes", "queueing"):
        added = [_renamed(item, renamed) for item in getattr(source, field) if id(item) in whole]
        updates[field] = (*getattr(written, field), *added)
    return written.model_copy(update=updates)


def _ports(
    written: PolicySet, source: PolicySet, names: Mapping[str, str], lost: Sequence[tuple[Item | None, str]]
) -> tuple[Port, ...]:
    ports = {port.name: port for port in written.ports}
    for port in source.ports:
        name = names.get(port.name, port.name)
        fields = {key for item, key in lost if item is port and key not in ("", "name")}
        if name in ports:
            ports[name] = ports[name].model_copy(update={key: getattr(port, key) for key in fields})
        else:
            ports[name] = port.model_copy(update={"name": name})
    return tuple(ports.values())


def _renamed(item: Item, renamed: Any) -> Item:
    match item:
        case CrossConnect():
            return item.model_copy(update={"between": tuple(map(renamed, item.between))})
        case Route():
            return item.model_copy(update={"port": None if item.port is None else renamed(item.port)})
        case Queueing():
            return item.model_copy(update={"port": renamed(item.port)})
        case _:
            return item
