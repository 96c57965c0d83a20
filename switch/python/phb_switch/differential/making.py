"""Random entries and frames for a program: frames that its parser knows, entries that such frames meet."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from finsy.proto import p4i

from phb_switch._native import Table
from phb_switch.stf.statements import Add, Call, Command, Key, SendPacket, SetDefault, Statement

# Ports of frames, and of what actions say.
_PORTS = 8
_PORT_BITS = 9
_STATES = 24
_ENTRIES = 8
_PAYLOAD_BYTES = 40
_GROUPS = 2
_CLONES = re.compile("clone")
# What a field or parameter is, where nothing else is wanted of it.
_SMALL = 4


def made(
    artifact: Any, tables: Sequence[Table], info: p4i.P4Info | None, frames: int, random: Random
) -> list[Statement]:
    """Statements for a program: groups and sessions, entries, then frames."""
    maker = _Frames(artifact, random)
    packets = [(random.randrange(_PORTS), maker.frame()) for _ in range(frames)]
    commands = [*_replication(artifact, random), *_entries(artifact, tables, info, maker.values, random)]
    lines = iter(range(1, len(commands) + frames + 1))
    statements: list[Statement] = []
    for kind, arguments in commands:
        statements.append(kind(next(lines), *arguments))
    return [*statements, *(SendPacket(next(lines), port, frame) for port, frame in packets)]


def _number(bits: int, random: Random) -> int:
    full = (1 << bits) - 1
    return random.choice([min(random.randrange(_SMALL), full), random.getrandbits(bits) if bits else 0, full])


class _Frames:
    """Walks of a parser: each transition that it takes, the frame's bits are made to take."""

    def __init__(self, artifact: Any, random: Random) -> None:
        self._random = random
        self._types = {each["name"]: each["fields"] for each in artifact["header_types"]}
        self._header_types = {each["name"]: each["header_type"] for each in artifact["headers"]}
        names = {each["id"]: each["name"] for each in artifact["headers"]}
        stacks = artifact.get("header_stacks", [])
        self._stacks: dict[str, list[str]] = {
            each["name"]: [names[number] for number in each["header_ids"]] for each in stacks
        }
        parser = artifact["parsers"][0] if artifact["parsers"] else {"init_state": None, "parse_states": []}
        self._first = parser["init_state"]
        self._states = {each["name"]: each for each in parser["parse_states"]}
        self.values: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._compared = _compared(artifact)
        self._sums = _sums(artifact)

    def frame(self) -> bytes:
        """A frame of at least one byte."""
        random = self._random
        self._bits, self._length, self._places = 0, 0, dict[tuple[str, str], tuple[int, int]]()
        self._wanted: list[tuple[int, int, int]] = []
        self._used: dict[str, int] = defaultdict(int)
        if random.randrange(20):
            self._walk()
        self._append(8 * random.randrange(_PAYLOAD_BYTES) + -self._length % 8, None)
        for place, bits, value in self._wanted:
            self._put(place, bits, value)
        if random.randrange(8):
            self._set_sums()
        for key in self._places:
            self.values[key].append(self._field(key))
        frame = self._bits.to_bytes(max(1, self._length // 8), "big")
        return frame if random.randrange(10) else frame[: random.randrange(1, len(frame) + 1)]

    def _walk(self) -> None:
        state = self._first
        for _ in range(_STATES):
            if state is None:
                return
            one = self._states[state]
            for operation in one["parser_ops"]:
                self._operation(operation["op"], operation["parameters"])
            if not one["transitions"]:
                return
            transition = self._random.choice(one["transitions"])
            self._take(one.get("transition_key", []), transition)
            state = transition["next_state"]

    def _operation(self, name: str, parameters: Sequence[Any]) -> None:
        if name in ("extract", "extract_VL"):
            header = self._header(parameters[0])
            if header is not None:
                for field, bits, *_ in self._types[self._header_types[header]]:
                    width = 8 * self._random.choice([0, 4, 8]) if bits == "*" else bits
                    self._append(width, (header, field))
        elif name == "advance" and parameters[0]["type"] == "hexstr":
            self._append(int(parameters[0]["value"], 16), None)
        elif name == "shift":
            self._append(8 * int(parameters[0]), None)

    def _header(self, target: Any) -> str | None:
        value = target["value"]
        if target["type"] == "regular":
            return str(value) if value in self._header_types else None
        headers: Sequence[str] = self._stacks.get(value, ()) if isinstance(value, str) else ()
        if not isinstance(value, str) or self._used[value] >= len(headers):
            return None
        self._used[value] += 1
        return headers[self._used[value] - 1]

    def _append(self, bits: int, key: tuple[str, str] | None) -> None:
        known = self._compared.get(key, ()) if key else ()
        if known and self._random.randrange(4):
            value = self._random.choice(known) & ((1 << bits) - 1)
        else:
            value = _number(bits, self._random) if key else self._random.getrandbits(bits) if bits else 0
        if key is not None:
            self._places[key] = self._length, bits
        self._bits, self._length = self._bits << bits | value, self._length + bits

    def _field(self, key: tuple[str, str]) -> int:
        place, bits = self._places[key]
        return self._bits >> (self._length - place - bits) & ((1 << bits) - 1)

    def _set_sums(self) -> None:
        """Makes Internet checksums right whose fields are all there."""
        for target, fields in self._sums:
            if target in self._places and all(field in self._places for field in fields):
                value = length = 0
                for field in fields:
                    bits = self._places[field][1]
                    value, length = value << bits | self._field(field), length + bits
                value <<= -length % 16
                # Ones' complement: the remainder by 2^16 - 1.
                self._put(*self._places[target], 0xFFFF ^ (value % 0xFFFF or (0xFFFF if value else 0)))

    def _put(self, place: int, bits: int, value: int) -> None:
        if place + bits > self._length:
            self._append(place + bits - self._length + -(place + bits) % 8, None)
        low = self._length - place - bits
        self._bits = self._bits & ~(((1 << bits) - 1) << low) | value << low

    def _take(self, keys: Sequence[Any], transition: Any) -> None:
        """Has the frame take a transition, if that is up to the frame."""
        value = transition.get("value")
        places = [self._place(key) for key in keys]
        is_number = isinstance(value, str) and value.startswith("0x")
        if transition.get("type", "hexstr") != "hexstr" or not is_number or None in places:
            return
        wanted, mask = int(value, 16), transition.get("mask")
        fixed = -1 if mask is None else int(mask, 16)
        for start, bits in filter(None, reversed(places)):
            # Each key has whole bytes in the values.
            size, full = 8 * ((bits + 7) // 8), (1 << bits) - 1
            free = self._random.getrandbits(bits) & ~fixed
            self._wanted.append((start, bits, (wanted & fixed | free) & full))
            wanted, fixed = wanted >> size, fixed >> size

    def _place(self, key: Any) -> tuple[int, int] | None:
        match key["type"], key["value"]:
            case "lookahead", [offset, bits]:
                return self._length + offset, bits
            case "stack_field", [stack, field]:
                used = self._used.get(stack, 0)
                return self._places.get((self._stacks[stack][used - 1], field)) if used else None
            case "field", [header, field]:
                return self._places.get((header, field))
        return None


def _compared(artifact: Any) -> dict[tuple[str, str], list[int]]:
    """Numbers that a program compares fields with, by field, and their neighbours."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    waiting = [artifact["pipelines"], artifact["actions"], artifact["parsers"]]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            sides = [_bare(part[side]) for side in ("left", "right")] if part.get("left") and part.get("right") else []
            for one, other in (sides, sides[::-1]) if sides else ():
                if one.get("type") == "field" and other.get("type") == "hexstr":
                    number = int(other["value"], 16)
                    found[one["value"][0], one["value"][1]] += [number, number, number + 1, max(number - 1, 0)]
        if isinstance(part, dict | list):
            waiting += part.values() if isinstance(part, dict) else part
    return found


def _bare(expression: Any) -> Any:
    while isinstance(expression, dict) and expression.get("type") == "expression":
        expression = expression["value"]
    return expression if isinstance(expression, dict) else {}


def _sums(artifact: Any) -> list[tuple[tuple[str, str], list[tuple[str, str]]]]:
    """Internet checksums of fields alone: target and fields."""
    fields = {
        each["name"]: [tuple(part["value"]) for part in each["input"]]
        for each in artifact["calculations"]
        if each["algo"] == "csum16" and all(part["type"] == "field" for part in each["input"])
    }
    sums = artifact.get("checksums", [])
    return [(tuple(each["target"]), fields[each["calculation"]]) for each in sums if each.get("calculation") in fields]


def _replication(artifact: Any, random: Random) -> Iterator[tuple[type[Command], tuple[Any, ...]]]:
    """Groups, and the clone sessions whose numbers the program has."""
    for number in range(1, _GROUPS + 1):
        ports = sorted(random.sample(range(_PORTS), random.randrange(1, 4)))
        yield Command, ("mc_mgrp_create", (str(number),))
        yield Command, ("mc_node_create", (str(number), *map(str, ports)))
        yield Command, ("mc_node_associate", (str(number), str(number - 1)))
    sessions = {
        int(each["value"], 16)
        for action in artifact["actions"]
        for primitive in action["primitives"]
        if _CLONES.match(primitive["op"])
        for each in primitive["parameters"]
        if each["type"] == "hexstr"
    }
    for session in sorted(sessions):
        if session < 1 << 15:
            yield Command, ("mirroring_add", (str(session), str(random.randrange(_PORTS))))


def _entries(
    artifact: Any,
    tables: Sequence[Table],
    info: p4i.P4Info | None,
    values: dict[tuple[str, str], list[int]],
    random: Random,
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    of_artifact = {table["name"]: table for pipeline in artifact["pipelines"] for table in pipeline["tables"]}
    default_only, known = set[tuple[str, str]](), None if info is None else {each.preamble.name for each in info.tables}
    if info is not None:
        actions = {each.preamble.id: each.preamble.name for each in info.actions}
        default_only = {
            (table.preamble.name, actions[each.id])
            for table in info.tables
            for each in table.action_refs
            if each.scope == p4i.ActionRef.DEFAULT_ONLY
        }
    optional = {
        (table.preamble.name, place)
        for table in ([] if info is None else info.tables)
        for place, field in enumerate(table.match_fields)
        if field.match_type == p4i.MatchField.OPTIONAL
    }
    priority = 0
    for table in tables:
        if (known is not None and table.name not in known) or table.is_const or not table.keys:
            continue
        targets = [key["target"] for key in of_artifact[table.name]["key"]]
        actions_here = [each for each in table.actions if (table.name, each[0]) not in default_only]
        used: set[tuple[Key, ...]] = set()
        for _ in range(random.randrange(_ENTRIES + 1) if actions_here else 0):
            keys = []
            for place, ((name, kind, bits), target) in enumerate(zip(table.keys, targets, strict=True)):
                # An artifact has a ternary one in its place.
                kind = "optional" if (table.name, place) in optional else kind
                seen = values.get(tuple(target), []) if isinstance(target, list) else []
                key = _key(name, kind, bits, seen, random)
                if key is not None:
                    keys.append(key)
            if tuple(keys) not in used:
                used.add(tuple(keys))
                priority += 1
                yield Add, (table.name, priority, tuple(keys), _call(random.choice(actions_here), random), None)
        # A table with an action profile has none of its own.
        if of_artifact[table.name].get("type", "simple") == "simple" and not random.randrange(4):
            default = of_artifact[table.name].get("default_entry", {})
            if not default.get("action_const") and actions_here:
                yield SetDefault, (table.name, _call(random.choice(actions_here), random))


def _key(name: str, kind: str, bits: int, values: Sequence[int], random: Random) -> Key | None:
    value = random.choice(values) if values and random.randrange(4) else _number(bits, random)
    value &= (1 << bits) - 1
    match kind:
        case "exact":
            return Key(name, str(value))
        case "lpm":
            return Key(name, f"{value}/{random.choice([bits, bits, random.randrange(bits + 1), bits // 2])}")
        case "range":
            other = _number(bits, random)
            return Key(name, f"{min(value, other)}->{max(value, other)}")
        case "ternary":
            mask = random.choice([(1 << bits) - 1, random.getrandbits(bits), 0])
            return Key(name, f"{value}&&&{mask}") if mask else None
    return Key(name, str(value)) if random.randrange(4) else None


def _call(action: tuple[str, Sequence[tuple[str, int]]], random: Random) -> Call:
    name, parameters = action
    arguments = []
    for parameter, bits in parameters:
        is_port = bits == _PORT_BITS and random.randrange(8)
        arguments.append((parameter, str(random.randrange(_PORTS) if is_port else _number(bits, random))))
    return Call(name, tuple(arguments))
