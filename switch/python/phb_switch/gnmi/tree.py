"""The tree that clients see: the settings, and what is in force and counted."""

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from finsy.proto import gnmi

from phb_switch._native import Switch
from phb_switch.gnmi import schema, settings
from phb_switch.gnmi.encoding import Datum, Value
from phb_switch.gnmi.paths import Element, Path

_OPER_STATUS = {"up": "UP", "down": "DOWN", "absent": "NOT_PRESENT"}

_OUTGOING_REASONS = ("buffer", "queue", "priority", "egress", "reloaded", "cpu_buffer")
"""Counted at the port a packet was to leave by; all others at the one it came in by. See `Switch.statistics`."""

Counters = Callable[[], Mapping[int, Mapping[str, Any]]]


class Tree:
    """The data of one switch."""

    def __init__(self, switch: Switch, names: Mapping[int, str], attachments: Counters) -> None:
        """Reads the ports once; from then on their rates and limits are set through this tree.

        Args:
            switch: whose data it is.
            names: of the interfaces, by port number. Other ports are called by their number.
            attachments: what a runner counts at each port, see `RealTime.statistics`; empty without one.

        """
        self._switch = switch
        self._numbers = {names.get(number, str(number)): number for number in switch.ports()}
        self._attachments = attachments
        self._lock = threading.Lock()
        self._started = self._ports()
        self._settings = settings.initial(self._started)
        self.changed = threading.Condition()
        """Notified after each change of the settings."""
        self.changes = 0
        """How many there were."""

    def _ports(self) -> dict[str, Any]:
        ports = self._switch.ports()
        return {name: ports[number] for name, number in self._numbers.items()}

    def set(self, request: gnmi.SetRequest) -> None:
        """Applies a request, all of it or nothing.

        Raises:
            StatusError: it is refused.

        """
        with self._lock:
            wanted = settings.changed(self._settings, request, self._numbers)
            before = self._switch.ports()
            for name, config in settings.port_configs(wanted, self._ports(), self._started).items():
                if config != before[self._numbers[name]]:
                    self._switch.set_port(self._numbers[name], config)
            self._settings = wanted
        with self.changed:
            self.changes += 1
            self.changed.notify_all()

    def configuration(self) -> list[Datum]:
        """The leaves that can be set."""
        with self._lock:
            present = dict(self._settings)
        return [(path, schema.LEAVES[schema.names(path)], value) for path, value in present.items()]

    def state(self) -> list[Datum]:
        """The leaves that tell what is in force, and counters."""
        found: list[Datum] = []
        for setting, _, value in self.configuration():
            applied = _applied(setting)
            leaf = None if applied is None else schema.LEAVES.get(schema.names(applied))
            if applied is not None and leaf is not None:
                found.append((applied, leaf, value))
        counted = self._switch.statistics()["ports"]
        attachments = self._attachments()
        for name, number in self._numbers.items():
            for path, value in _of_port(name, number, counted.get(number, {}), attachments.get(number)):
                found.append((path, schema.LEAVES[schema.names(path)], value))
        return found

    def everything(self) -> list[Datum]:
        """All leaves; those that belong together stand together."""
        return sorted(self.configuration() + self.state(), key=lambda datum: [str(element) for element in datum[0]])


def _applied(path: Path) -> Path | None:
    """Where it says that a setting is in force."""
    if len(path) < 2 or path[-2].name != "config":
        return None
    return (*path[:-2], Element("state"), path[-1])


def _of_port(
    name: str, number: int, counted: Mapping[str, Any], attachment: Mapping[str, Any] | None
) -> Iterator[tuple[Path, Value]]:
    state = settings.below(settings.interface_path(name), "state")
    drops: Mapping[str, int] = counted.get("dropped", {})
    outgoing = sum(drops.get(reason, 0) for reason in _OUTGOING_REASONS)
    link = "UNKNOWN" if attachment is None else _OPER_STATUS[attachment["link"]]
    at_interface: Mapping[str, Any] = attachment or {}
    values: dict[str, Value] = {
        "id": number,
        "admin-status": "UP",
        "oper-status": link,
        "counters/in-octets": counted.get("received_bytes", 0),
        "counters/in-pkts": counted.get("received_packets", 0),
        "counters/in-discards": at_interface.get("missed", 0)
        + at_interface.get("refused", 0)
        + sum(drops.values())
        - outgoing,
        "counters/in-errors": at_interface.get("receive_errors", 0),
        "counters/out-octets": counted.get("transmitted_bytes", 0),
        "counters/out-pkts": counted.get("transmitted_packets", 0),
        "counters/out-discards": outgoing,
        "counters/out-errors": at_interface.get("send_errors", 0),
    }
    for names, value in values.items():
        yield settings.below(state, names), value
    queues = settings.below(settings.qos_interface_path(name), "output/queues")
    for priority, of_queue in enumerate(counted.get("queues", ())):
        queue = (*queues, Element("queue", (("name", str(priority)),)))
        yield settings.below(queue, "name"), str(priority)
        yield settings.below(queue, "state/name"), str(priority)
        yield settings.below(queue, "state/transmit-pkts"), of_queue["passed_packets"]
        yield settings.below(queue, "state/transmit-octets"), of_queue["passed_bytes"]
        yield settings.below(queue, "state/dropped-pkts"), of_queue["dropped_packets"]
