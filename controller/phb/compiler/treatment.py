"""Stages admit, police and mark: the treatment of the packets of a policy number."""

from __future__ import annotations

from phb.compiler.directions import Leg
from phb.compiler.marking import marks_entry
from phb.compiler.policing import meter_entry
from phb.compiler.window import clamp_parameters
from phb.errors import InputError
from phb.intent import Entry, Exact, Hook, Stream
from phb.model import DEFAULT_CLASS, Action, BehaviourAggregate, Marking, Permission, PolicySet, Rule
from phb.pipeline_names import COLOURS

PERMISSION = {Hook.INPUT: "PhbIngress.admit.permission", Hook.OUTPUT: "PhbIngress.output.permission"}
POLICE = {Hook.INPUT: "PhbIngress.police", Hook.OUTPUT: "PhbIngress.output_police"}
MARK = {Hook.INPUT: "PhbIngress.mark", Hook.OUTPUT: "PhbIngress.output_mark"}
CONNECTION_LIMIT = "PhbIngress.admit.connection_limit"

# Stream numbers have 12 bits (stream_t in p4src/headers.p4); 0 is no stream.
LAST_STREAM = 4095

_NO_MARKS = Marking()


class Treatments:
    """Entries of the stages that match policy or stream, put together rule by rule."""

    def __init__(self, policy: PolicySet) -> None:
        self._classes = {DEFAULT_CLASS: 0}
        for traffic_class in policy.classes:
            self._classes.setdefault(traffic_class.name, len(self._classes))
        self._buffered = {
            private.action
            for queueing in policy.queueing
            if queueing.buffers is not None
            for private in queueing.buffers.private
        }
        self._streams: dict[tuple[str, Hook, bool], Stream] = {}
        self._admit: list[Entry] = []
        self._police: list[Entry] = []
        self._mark: list[Entry] = []
        self.track_connections = False

    @property
    def classes(self) -> dict[str, int]:
        """Numbers of the traffic classes."""
        return self._classes

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, in the order of the stages."""
        return (*self._admit, *self._police, *self._mark)

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The numbered streams."""
        return tuple(self._streams.values())

    def traffic_class(self, action: Action | None) -> int:
        """Give the number of the action's class; refuse an unknown class."""
        if action is None or action.traffic_class is None:
            return 0
        if action.traffic_class not in self._classes:
            known = ", ".join(self._classes)
            raise InputError(action.origin("traffic_class"), f"class '{action.traffic_class}'", f"one of {known}")
        return self._classes[action.traffic_class]

    def stream(self, action: Action | None, hook: Hook, *, metered: bool = True) -> int:
        """Give the number of the action's stream, which it has if it has a meter or a buffer of its own.

        Packets that are not `metered` use the action's buffer, and don't count for its meter.

        Raises:
            InputError: The meter can't be kept, or there are too many streams.
        """
        if action is None:
            return 0
        metered = metered and action.meter is not None
        if not metered and action.name not in self._buffered:
            return 0
        known = self._streams.get((action.name, hook, metered))
        if known is not None:
            return known.number
        number = len(self._streams) + 1
        if number > LAST_STREAM:
            raise InputError(action.origin(), f"action '{action.name}' as stream {number}", f"at most {LAST_STREAM}")
        self._streams[action.name, hook, metered] = Stream(number, action.name, hook, action.origin())
        if metered and action.meter is not None:
            self._police.append(meter_entry(f"{POLICE[hook]}.stream_meter", number, action.meter))
        return number

    def add(
        self,
        item: Rule | BehaviourAggregate,
        action: Action | None,
        hook: Hook,
        *,
        policy: int,
        counted_as: int,
        leg: Leg | None,
    ) -> None:
        """Add the entries under one policy number.

        Args:
            item: The number's rule or aggregate.
            action: Its treatment.
            hook: Input or output policy.
            policy: The number.
            counted_as: The number by which connections of the whole rule are counted.
            leg: The direction of a rule.
        """
        key = {"policy": Exact(policy)}
        if isinstance(item, Rule) and item.permission is Permission.BLOCKED:
            self._admit.append(Entry(PERMISSION[hook], key, "block", {}, 0, item.origin("permission")))
            return
        if action is None:
            return
        if action.max_connections is not None:
            self._limit(action, hook, key, counted_as)
        conditions = leg is None or leg.conditions
        if conditions and not (action.meter is not None and self._colours(action, hook, policy)):
            self._mark += marks_entry(f"{MARK[hook]}.remark", key, action, _NO_MARKS, action)
        if action.max_rate is not None and not (leg is not None and leg.answers):
            parameters = clamp_parameters(action.max_rate, action.min_rate)
            table = f"{MARK[hook]}.window_clamp"
            self._mark.append(Entry(table, key, "clamp", parameters, 0, action.origin("max_rate")))
            self.track_connections = True

    def _limit(self, action: Action, hook: Hook, key: dict[str, Exact], counted_as: int) -> None:
        if hook is Hook.OUTPUT:
            raise InputError(
                action.origin("max_connections"),
                f"a limit of connections in '{action.name}', which a rule with an egress port uses",
                "it in an action of rules without 'egress-port': connections are counted where they enter",
            )
        parameters = {"policy": counted_as, "maximum_connections": action.max_connections or 0}
        origin = action.origin("max_connections")
        self._admit.append(Entry(CONNECTION_LIMIT, key, "limit_connections", parameters, 0, origin))
        self.track_connections = True

    def _colours(self, action: Action, hook: Hook, policy: int) -> bool:
        """Compile the treatment by colour; tell whether it includes the action's own marks.

        A colour's marks win over those of the action, so where some colour marks, each colour gets both.
        """
        assert action.meter is not None
        treatments = [getattr(action.meter, name) for name in COLOURS.values()]
        marked = any(each.marks for each in treatments)
        table = f"{POLICE[hook]}.colour_action"
        for colour, treatment in zip(COLOURS, treatments, strict=True):
            key = {"policy": Exact(policy), "colour": Exact(colour)}
            if treatment.drop:
                self._police.append(Entry(table, key, "drop", {}, 0, treatment.origin()))
            elif marked:
                self._police += marks_entry(table, key, action, treatment, treatment)
        return marked
