"""A program small enough to be a model: classification, marks, meters and queues, and what a packet meets in them."""

from dataclasses import dataclass

from finsy.proto import p4i

from phb import Artifact
from phb.device.references import VERSION_TABLE
from phb.intent import Entry, Exact, Prefix, Range
from phb.origin import Origin

KINDS = p4i.MatchField
CLASSIFY, REMARK, METER = "Small.classify", "Small.remark", "Small.stream_meter"
SCHEDULER, QUEUE, ROUTE = "Small.port_scheduler", "Small.class_queue", "Small.route"
PORTS, EGRESS = range(8), range(2)

TABLES = {
    VERSION_TABLE: ([], {"set_version": {"version": 1, "track_connections": 1}}),
    CLASSIFY: (
        [("version", 1, KINDS.TERNARY), ("port", 8, KINDS.RANGE)],
        {"set_class": {"policy": 8, "stream": 6, "traffic_class": 4}},
    ),
    REMARK: ([("policy", 8, KINDS.EXACT)], {"set_tos": {"value": 8}}),
    METER: ([("stream", 6, KINDS.EXACT)], {"rate": {"bits": 16}}),
    SCHEDULER: ([("version", 1, KINDS.TERNARY), ("egress_port", 8, KINDS.EXACT)], {"classes": {"profile": 6}}),
    QUEUE: (
        [("profile", 6, KINDS.EXACT), ("traffic_class", 4, KINDS.EXACT)],
        {"single": {"slot": 16, "weight": 8}, "flows": {"base": 16, "conversations": 16, "weight": 8}},
    ),
    ROUTE: ([("destination", 8, KINDS.LPM)], {"to": {"port": 8}}),
}


def artifact(size=1024, conversations=64):
    info = p4i.P4Info()
    register = info.registers.add(size=conversations)
    register.preamble.id, register.preamble.name, register.preamble.alias = (
        300,
        "conversation_finish",
        "conversation_finish",
    )
    number = 100
    for place, (name, (fields, actions)) in enumerate(TABLES.items(), start=1):
        table = info.tables.add(size=size)
        table.preamble.id, table.preamble.name, table.preamble.alias = place, name, name
        for index, (field, bits, kind) in enumerate(fields, start=1):
            table.match_fields.add(id=index, name=field, bitwidth=bits, match_type=kind)
        for action, parameters in actions.items():
            number += 1
            entry = info.actions.add()
            entry.preamble.id, entry.preamble.name, entry.preamble.alias = number, action, action
            for index, (parameter, bits) in enumerate(parameters.items(), start=1):
                entry.params.add(id=index, name=parameter, bitwidth=bits)
            table.action_refs.add(id=number)
    return Artifact(info, b"small")


SMALL = artifact()


@dataclass(frozen=True)
class Rule:
    """Packets of these ports get a mark, perhaps a rate, and a class."""

    low: int
    high: int
    mark: int
    rate: int | None = None
    traffic_class: str = "default"


@dataclass(frozen=True)
class Policy:
    """Rules in order; for each egress port the weight and the number of slots of each class; routes."""

    rules: tuple[Rule, ...] = ()
    queues: tuple[tuple[tuple[str, int, int], ...], ...] = ()
    routes: tuple[tuple[int, int], ...] = ()


def compiled(policy, program=SMALL):
    """Rows in the compiler's way: stateless, numbered in order."""
    origin = Origin("small")
    names = ["default", *dict.fromkeys(name for queue in policy.queues for name, _, _ in queue if name != "default")]
    names += [rule.traffic_class for rule in policy.rules if rule.traffic_class not in names]
    entries = []
    stream = 0
    for place, rule in enumerate(policy.rules, start=1):
        stream += rule.rate is not None
        parameters = {
            "policy": place,
            "stream": stream if rule.rate is not None else 0,
            "traffic_class": names.index(rule.traffic_class),
        }
        match = {} if (rule.low, rule.high) == (0, 255) else {"port": Range(rule.low, rule.high)}
        entries.append(Entry(CLASSIFY, match, "set_class", parameters, 1000 - place, origin))
        entries.append(Entry(REMARK, {"policy": Exact(place)}, "set_tos", {"value": rule.mark}, 0, origin))
        if rule.rate is not None:
            entries.append(Entry(METER, {"stream": Exact(stream)}, "rate", {"bits": rule.rate}, 0, origin))
    slot = 0
    for port, queue in enumerate(policy.queues):
        profile = port + 1
        entries.append(Entry(SCHEDULER, {"egress_port": Exact(port)}, "classes", {"profile": profile}, 1, origin))
        for name, weight, slots in queue:
            key = {"profile": Exact(profile), "traffic_class": Exact(names.index(name))}
            if slots == 1:
                entries.append(Entry(QUEUE, key, "single", {"slot": slot, "weight": weight}, 0, origin))
            else:
                flows = {"base": slot, "conversations": slots, "weight": weight}
                entries.append(Entry(QUEUE, key, "flows", flows, 0, origin))
            slot += slots
    for destination, port in policy.routes:
        entries.append(Entry(ROUTE, {"destination": Prefix(destination, 8)}, "to", {"port": port}, 0, origin))
    return [program.encode(entry) for entry in entries]


def active(version=0, tracking=0, program=SMALL):
    """The default entry that says which version packets meet."""
    entry = Entry(
        VERSION_TABLE, {}, "set_version", {"version": version, "track_connections": tracking}, 0, Origin("small")
    )
    return program.encode(entry)._replace(default=True)


def met(rows, version=0, program=SMALL):
    """What every packet of a version meets: mark, rate and weight, without any number."""
    by_table = {name: [] for name in TABLES}
    for row in rows:
        by_table[program.table_names[row.table]].append(row)
    result = {}
    for port in PORTS:
        policy, stream, traffic_class = _first(by_table[CLASSIFY], version, port, 2) or (0, 0, 0)
        mark = _under(by_table[REMARK], policy)
        rate = _under(by_table[METER], stream)
        result[port] = mark, rate
        for egress in EGRESS:
            (profile,) = _first(by_table[SCHEDULER], version, egress, 2) or (0,)
            queue = _under(by_table[QUEUE], profile, traffic_class)
            result[port, egress] = queue and (queue[-1], 1 if len(queue) == 2 else queue[1])
    return result


def _first(rows, version, value, field):
    best = []
    for row in rows:
        fields = {number: values for number, *values in row.match}
        if 1 in fields and fields[1][0] != version:
            continue
        low, high = fields.get(field, (0, 255))
        if row.table == SMALL.tables[SCHEDULER].number:
            high = low
        if low <= value <= high:
            best.append((row.priority, row.parameters))
    if not best:
        return None
    highest = max(priority for priority, _ in best)
    found = {parameters for priority, parameters in best if priority == highest}
    assert len(found) == 1, "two entries of one priority take a packet and say different things"
    return found.pop()


def _under(rows, *numbers):
    found = [row.parameters for row in rows if tuple(value for _, value, _ in row.match) == numbers]
    assert len(found) <= 1
    return found[0] if found else None
