"""Stages conversation, buffer, wred and schedule: how the packets of a class are queued and served at a port."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Final

from phb.behaviour.behaviour import Fact, Service
from phb.behaviour.facts import CLASSES, FIRST_IN, FLOWS, Flows, Shaper, parts_of_whole, service
from phb.intent import Entry, Exact, PortShaper
from phb.origin import UNKNOWN
from phb.proving.tables.buffering import buffers
from phb.proving.tables.detecting import Detection
from phb.proving.tables.rows import TableFaultError, Tables, number, signed

_CLASS_QUEUE: Final = "conversation.class_queue"
_PRECEDENCES: Final = range(8)
_DEFAULT_WEIGHT: Final = 4096
_SLOTS: Final = 1 << 16


class Queues:
    """The services and buffers of all ports."""

    def __init__(self, tables: Tables, shapers: Iterable[PortShaper]) -> None:
        self._schedulers = tables.by_number("conversation.port_scheduler", "egress_port")
        self._limits = tables.by_number("buffer.port_limit", "profile")
        self._weights = tables.by_key("schedule.weight", "profile", "precedence")
        self._class_shapers = tables.by_key("schedule.shaper", "profile", "traffic_class")
        self._rows: dict[int, list[Entry]] = {}
        for entry in tables.of(_CLASS_QUEUE):
            self._rows.setdefault(number(entry, "profile"), []).append(entry)
        self._detection = Detection(tables)
        self._shapers = {each.port: Shaper(each.rate_bps, each.burst_bytes, each.overhead_bytes) for each in shapers}
        ports = sorted({*self._schedulers, *self._shapers})
        profiles = {port: self._profile(port) for port in ports}
        self.services: dict[int, dict[Hashable, Service]] = {port: self._port(port) for port in ports}
        self.buffers: dict[tuple[int, Hashable], tuple[Fact, ...]] = buffers(tables, profiles)
        self._check_slots()

    def _profile(self, port: int) -> int:
        scheduler = self._schedulers.get(port)
        return 0 if scheduler is None else scheduler.parameters["profile"]

    def _port(self, port: int) -> dict[Hashable, Service]:
        scheduler, profile = self._schedulers.get(port), self._profile(port)
        limit = self._limits.get(profile)
        given = {"hold_queue_packets": 0, "conversation_packets": 0} if limit is None else limit.parameters
        served = partial(
            service,
            hold_queue=given["hold_queue_packets"],
            push_out=limit is not None and limit.action == "set_limits_push_out",
            port_shaper=self._shapers.get(port),
        )
        if scheduler is None or scheduler.action == "fifo":
            early = self._detection.of(profile, 0)
            origin = UNKNOWN if scheduler is None else scheduler.origin
            return {None: Service(("port", port), served(FIRST_IN), early, origin)}
        overhead = signed(scheduler.parameters["overhead"])
        if scheduler.action == "flow_wfq":
            _, weights = self._by_precedence(profile, scheduler)
            flows = Flows(scheduler.parameters["conversations"], given["conversation_packets"], weights)
            facts = served(FLOWS, flows=flows, overhead=overhead)
            return {None: Service(("port", port), facts, self._detection.of(profile, 0), scheduler.origin)}
        return dict(self._classes(port, profile, scheduler, partial(served, CLASSES, overhead=overhead)))

    def _classes(
        self, port: int, profile: int, scheduler: Entry, served: partial[tuple[Fact, ...]]
    ) -> Iterator[tuple[Hashable, Service]]:
        rows = self._by_class(profile, scheduler)
        sharing = {number: row for number, row in rows.items() if row.parameters["weight"]}
        flowing = [row for row in rows.values() if row.action == "flows" and not row.parameters["shared"]]
        self._check_levels(profile, rows.values(), sharing.values(), flowing)
        shares: dict[int | None, Fraction] = {}
        times: dict[int | None, Fraction] = {}
        if flowing:
            weight = self._by_precedence(profile, scheduler)[1][0]
            times = {number: Fraction(weight, row.parameters["weight"]) for number, row in sharing.items()}
        elif sharing:
            parts = [Fraction(1, row.parameters["weight"]) for row in sharing.values()]
            shares = dict(zip(sharing, parts_of_whole(parts), strict=True))
        for traffic_class, row in rows.items():
            given = row.parameters
            shaper = self._class_shapers.get((profile, given["traffic_class"]))
            facts = served(
                alone=len(rows) == 1,
                level=None if traffic_class in sharing or row in flowing else given["level"],
                share=shares.get(traffic_class),
                times_a_flow=times.get(traffic_class),
                flows=self._flows(profile, row),
                queue_limit=given["limit_packets"],
                shaper=None if shaper is None else _shaper(shaper),
            )
            early = self._detection.of(profile, given["traffic_class"])
            yield traffic_class, Service(("slot", _slots(row).start, port), facts, early, row.origin)

    def _by_class(self, profile: int, scheduler: Entry) -> dict[int | None, Entry]:
        rows: dict[int | None, Entry] = {}
        for row in self._rows.get(profile, ()):
            asked = row.match.get("traffic_class")
            traffic_class = asked.value if isinstance(asked, Exact) else None
            if traffic_class in rows:
                raise TableFaultError("two queues for one class", rows[traffic_class], row)
            if row.parameters["traffic_class"] != (traffic_class or 0):
                raise TableFaultError("a queue of another class", row)
            if None in rows and rows[None].priority >= row.priority:
                raise TableFaultError("a queue of a class behind that of all others", row)
            rows[traffic_class] = row
        if None not in rows:
            raise TableFaultError("a port of classes without a queue for those that have none", scheduler)
        return rows

    def _check_levels(
        self, profile: int, rows: Iterable[Entry], sharing: Iterable[Entry], flowing: Iterable[Entry]
    ) -> None:
        """Refuse queues that share the port at several levels, or above one that is strict."""
        shared = {row.parameters["level"] for row in sharing}
        shared |= {self._by_precedence(profile, row)[0] for row in flowing}
        strict = [row for row in rows if row not in (*sharing, *flowing)]
        for row in (*sharing, *flowing):
            if len(shared) > 1 or any(each.parameters["level"] >= min(shared) for each in strict):
                raise TableFaultError("queues that share a port at other levels than below all that are strict", row)

    def _flows(self, profile: int, row: Entry) -> Flows | None:
        if row.action != "flows":
            return None
        given = row.parameters
        weights = (1,) * len(_PRECEDENCES) if given["shared"] else self._by_precedence(profile, row)[1]
        return Flows(given["conversations"], given["threshold_packets"], weights)

    def _by_precedence(self, profile: int, of: Entry) -> tuple[int, tuple[int, ...]]:
        """Give the level of flows, and their weights."""
        found = []
        for precedence in _PRECEDENCES:
            row = self._weights.get((profile, precedence))
            given = {"level": 0, "weight": _DEFAULT_WEIGHT} if row is None else row.parameters
            found.append((given["level"], given["weight"]))
        if len({level for level, _ in found}) > 1:
            raise TableFaultError("flows at several levels", of)
        return found[0][0], tuple(weight for _, weight in found)

    def _check_slots(self) -> None:
        """Refuse two queues that have a conversation in common."""
        found = [row for rows in self._rows.values() for row in rows]
        found += [entry for entry in self._schedulers.values() if entry.action == "flow_wfq"]
        found.sort(key=lambda row: _slots(row).start)
        starts = [*(_slots(row).start for row in found[1:]), _SLOTS]
        for row, start in zip(found, starts[: len(found)], strict=True):
            if _slots(row).stop > start:
                raise TableFaultError("a queue with conversations of another one", row)
        profiles: dict[int, Entry] = {}
        for entry in self._schedulers.values():
            if entry.parameters["profile"] and profiles.setdefault(entry.parameters["profile"], entry) is not entry:
                raise TableFaultError("two ports of one profile", entry)


def _slots(row: Entry) -> range:
    given = row.parameters
    first = given["slot"] if row.action == "single" else given["base"]
    return range(first, first + given.get("conversations", 1))


def _shaper(row: Entry) -> Shaper:
    given = row.parameters
    return Shaper(given["rate"], given["burst"], signed(given["overhead"]))
