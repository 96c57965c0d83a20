"""What `phb explain` says of a packet, beside the switch's own trace of it.

Of every stage is compared what both tell:
  tables      the same are asked, with the same key, and the same entry of the policy answers
  registers   what the switch has written is what explain's state has now
  words       each line of the policy that explain names for a stage is that of an entry which the trace hit, in order
  the end     drop reason, port and frame, rank, time of waiting, policy and colour
"""

from copy import deepcopy

from phb.explain.pipeline import MODELLED, Pipeline
from phb.explain.tables import Tables
from phb.names import Names
from phb.pipeline_names import DropReason
from phb.trace.policies import Lines
from phb.trace.telling import Telling
from phb.trace.values import number as value_of

FRAME_BYTES = 10_000
"""What is kept of a frame in traces: all of it."""


ASKED_IN_VAIN = {"PhbIngress.admit.connection_limit"}
"""Tables that the switch also asks for packets to which the answer means nothing: segments that open no connection."""


class Asked(Tables):
    """Entries, and which of them have been asked for since `asked` was emptied."""

    def __init__(self, entries):
        super().__init__(entries)
        self.asked = []

    def lookup(self, table, key, bits=0):
        found = super().lookup(table, key, bits)
        self.asked.append((table, dict(key), found))
        return found


def connection(read_one):
    """A register of a connection, where one is tracked."""

    def value(state, slot):
        held = state.connections.get(slot)
        return None if held is None else read_one(held)

    return value


def side(read_one):
    """A register of one end of a connection."""
    return lambda state, at: read_one(state.windows[at >> 1, at & 1])


REGISTERS = {
    "port_occupancy": lambda state, at: state.queued[at],
    "conversation_occupancy": lambda state, at: state.conversations[at].queued,
    "conversation_owner": lambda state, at: state.conversations[at].owner,
    "conversation_guest": lambda state, at: state.conversations[at].guest,
    "conversation_finish": lambda state, at: state.conversations[at].finish,
    "class_occupancy": lambda state, at: state.queues[at].queued,
    "class_flows": lambda state, at: state.queues[at].flows,
    "stream_private": lambda state, at: state.accounts[at].private,
    "stream_shared": lambda state, at: state.accounts[at].shared,
    "stream_seen": lambda state, at: state.accounts[at].seen_us,
    "pool_shared": lambda state, at: state.pools[at],
    "queue_left": lambda state, at: state.averages[at].left_us,
    "PhbIngress.wred.queue_average": lambda state, at: state.averages[at].average,
    "virtual_time": lambda state, at: state.virtual_time[at >> 4, at & 15],
    "meter_time": lambda state, at: state.meters[at].time_us,
    "committed_used": lambda state, at: state.meters[at].committed,
    "other_used": lambda state, at: state.meters[at].other,
    "connection_count": lambda state, at: state.connections_open[at],
    "connection_policy": connection(lambda held: held.policy),
    "connection_maximum": connection(lambda held: held.maximum),
    "connection_progress": connection(lambda held: held.progress << 1 | held.side),
    "connection_finish": connection(lambda held: held.finish),
    "connection_seen": connection(lambda held: held.seen_us + 1),
    "window_smoothed_us": side(lambda end: end.smoothed_us),
    "window_least_us": side(lambda end: end.least_us),
    "window_segment": side(lambda end: end.segment),
    "window_scale": side(lambda end: end.scale),
    "allowance_used": side(lambda end: end.used),
    "allowance_time": side(lambda end: end.used_at),
}
"""What explain's state has for a register of p4src, by the register's name."""


class Said:
    """What explain says of one packet, and its state then."""

    def __init__(self, packet, asked, state):
        self.packet, self.asked, self.state = packet, asked, state

    @property
    def undetermined(self):
        """Whether chance decides what becomes of it."""
        return 0 < self.packet.early_drop < 1


class Explaining:
    """Explain, with entries that a switch has, too.

    Attributes:
        model: Explain's pipeline.
    """

    def __init__(self, intent, policy, artifact, rates=None):
        self.model = Pipeline(intent, Names.of(intent, policy), rates)
        self.model.tables = self._tables = Asked(intent.entries)
        self._artifact = artifact
        self._lines = Lines(intent, artifact)
        self._met = set()

    def process(self, now_ns, port, frame, *, later=False):
        """What explain says of a packet; with `later`, other packets come before that is compared."""
        self._tables.asked = []
        packet = self.model.process(now_ns, port, frame)
        state = self.model._state
        return Said(packet, self._tables.asked, deepcopy(state) if later else state)

    def differences(self, said, trace, tally):
        """How what explain says of a packet differs from its trace, in words; empty where they agree."""
        found = self._lines.of(trace)
        differences = [
            *_tables_differ(said, trace, found, self._artifact, tally),
            *_registers_differ(said, trace, tally),
            *_words_differ(said, trace, found, self._met, tally),
            *_ends_differ(said, trace, tally),
        ]
        if not differences:
            return ""
        words = [f"{step.stage}: {step.words}" for step in said.packet.steps]
        return "\n".join([*differences, "--- explain", *words, "--- trace", *_lines(Telling().tree(trace))])


def _lines(node, depth=0):
    yield "  " * depth + "  ".join([node.words, *node.beside])
    for each in node.below:
        yield from _lines(each, depth + 1)


def _tables_differ(said, trace, found, artifact, tally):
    told = {}
    for table in (step["table"] for step in trace["steps"] if "table" in step):
        if table["name"] in MODELLED:
            told.setdefault(table["name"], []).append((_key(table, artifact), found.get(id(table.get("hit"))), table))
    met = set()
    for name, key, entry in said.asked:
        alike = [
            (at, hit, table)
            for at, (asked, hit, table) in enumerate(told.get(name, ()))
            # Explain has one key for both tables of a hook.
            if all(asked[name] == value for name, value in key.items() if name in asked)
        ]
        if not alike:
            # Explain may ask more than the switch does: where there is no entry, or for the clamp of a connection that
            # isn't known, of which it then says no more than that.
            if entry is not None and (not name.endswith("window_clamp") or said.packet.connection.known):
                yield f"{name}: explain asks {key} and gets {entry}; the trace has {told.get(name)}"
            continue
        met.update((name, at) for at, _, _ in alike)
        if not any(_same(entry, hit, table) for _, hit, table in alike):
            yield f"{name}: for {key} explain gets {entry}, the trace {alike}"
            continue
        tally[f"table {name.partition('.')[2]}: {'none' if entry is None else entry.action}"] += 1
    for name, each in told.items():
        if name in ASKED_IN_VAIN:
            continue
        for at, (key, hit, table) in enumerate(each):
            if "hit" in table and (name, at) not in met:
                yield f"{name}: the trace has {key} and {hit or table['hit']}, which explain doesn't ask"


def _registers_differ(said, trace, tally):
    steps = trace["steps"]
    if said.packet.taken_ns != said.packet.time_ns:
        # It leaves when others have come.
        steps = [step for step in steps if step["part"] == "ingress"]
    accesses = [step["register"] for step in steps if step.get("register", {}).get("written")]
    last = {(each["name"], each.get("index", 0)): each for each in accesses}
    for (name, at), each in last.items():
        expected = REGISTERS[name](said.state, at) if name in REGISTERS else None
        if expected is None:
            continue
        if value_of(each.get("after", "0x")) != expected:
            yield f"register {name}[{at}]: explain has {expected}, the trace {each}"
        tally[f"register {name}"] += 1


def _words_differ(said, trace, found, met, tally):
    hits = [found.get(id(step["table"].get("hit"))) for step in trace["steps"] if "table" in step]
    places = [(entry.origin.file, entry.origin.line) for entry in hits if entry is not None]
    met.update(places)
    at = 0
    for step in said.packet.steps:
        tally[f"stage {step.stage}"] += 1
        place = step.origin.file, step.origin.line
        if not step.origin.line:
            continue
        if step.stage in ("window", "allowance"):
            # By rates that stage mark has found, for this packet or an earlier one of the other end. Of a connection
            # that isn't known explain names the rates that it would keep to; the switch doesn't look for them.
            if place not in met and said.packet.connection.known:
                yield f"stage {step.stage}: '{step.words}' by {place}, the traces so far have {met}"
            continue
        # Of two words for one entry the second is at the same place.
        if place not in places[max(at - 1, 0) :]:
            yield f"stage {step.stage}: '{step.words}' by {place}, the trace has {places[at:]}"
            return
        at = places.index(place, max(at - 1, 0)) + 1


def _key(table, artifact):
    """The key's values by the names of the p4info, which has the fields in the same order."""
    fields = artifact.tables[table["name"]].fields
    return {name: value_of(each.get("value", "0x")) for name, each in zip(fields, table["key"], strict=True)}


def _same(entry, hit, table):
    if entry is None:
        return "hit" not in table
    # A policy may say one thing twice.
    return hit is not None and (hit.origin, hit.action, hit.parameters) == (
        entry.origin,
        entry.action,
        entry.parameters,
    )


def _ends_differ(said, trace, tally):
    packet, steps = said.packet, trace["steps"]
    kinds = {kind: step[kind] for step in steps for kind in step}
    reasons = [DropReason(cell).name for cell in _counted(steps, "PhbIngress.drops")]
    expected = [packet.drop_reason.name] if packet.is_dropped() else []
    if reasons != expected:
        yield f"drop reason: explain {expected}, the trace {reasons}"
    tally[f"reason {packet.drop_reason.name}"] += 1
    if packet.is_dropped():
        return
    if "enqueued" in kinds:
        rank = kinds["enqueued"].get("rank")
        if rank != packet.schedule.rank:
            yield f"rank: explain {packet.schedule.rank}, the trace {rank}"
        tally["rank"] += 1
    if "dequeued" in kinds and packet.taken_ns is not None:
        waited = kinds["dequeued"].get("waited_ns", 0)
        if waited != packet.taken_ns - packet.time_ns:
            yield f"wait: explain {packet.taken_ns - packet.time_ns} ns, the trace {waited} ns"
        tally["waits"] += waited > 0
    # A packet is counted again by the output policy, whose meter may have coloured it anew.
    cells = _counted(steps, "PhbIngress.policy_traffic")
    cell = (packet.output_policy or packet.policy) << 2 | packet.colour
    if cells[-1:] != [cell]:
        yield f"policy and colour: explain {cell >> 2}, {packet.colour}, the trace {cells}"
    tally[f"colour {packet.colour}"] += 1
    if "departed" in kinds:
        left = bytes.fromhex(kinds["departed"].get("frame", ""))
        if kinds["departed"].get("port", 0) != packet.egress_port or left != packet.headers.frame:
            yield f"frame: explain {packet.egress_port} {packet.headers.frame.hex()}, the trace {kinds['departed']}"
        tally["departed"] += 1


def _counted(steps, name):
    """The cells of a counter that a packet was counted in."""
    counters = [step["counter"] for step in steps if "counter" in step]
    return [each.get("index", 0) for each in counters if each["name"] == name]
