"""SAI P4, the programs of PINS, and entries for every table and action of them, made of their p4info.

An entry's own fields have the number of the entry, and a field or parameter that refers to another table
(``@refers_to``) has that of the other table's first entry, so that all references lead somewhere.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from finsy.proto import p4i, p4r
from google.protobuf import text_format

from phb_switch import p4c

INSTANTIATIONS = ("middleblock", "tor", "fabric_border_router", "wbb")
FOLDER = Path("sai_p4/instantiations/google")
# With the first one their strings are 256-bit numbers, with the second one strings of translated types.
PLATFORMS = ("PLATFORM_BMV2", "PLATFORM_P4SYMBOLIC")
PORTS = range(1, 9)
CPU_PORT = 510
PACKET_IN_SESSION = 255

_REFERENCE = re.compile(r"@refers_to\(")
_MATCH = p4i.MatchField.MatchType
# Types that a translated string has, and the width of what is a string with PLATFORM_BMV2.
_PORT = "port_id_t"
_STRING_BITS = 256


def compiled(pins: Path, program: str, platform: str, into: Path) -> tuple[p4i.P4Info, bytes]:
    """P4info and artifact of an instantiation."""
    artifact, info = into / f"{program}.json", into / f"{program}.p4info.txtpb"
    p4c.compile_program(pins / FOLDER / f"{program}.p4", artifact, info, [f"-D{platform}"])
    return text_format.Parse(info.read_text(), p4i.P4Info()), artifact.read_bytes()


class Entries:
    """Makes entries by the names of a p4info.

    Values are numbers, or strings where the program means a string; ports are numbers.
    """

    def __init__(self, info: p4i.P4Info) -> None:
        self.info = info
        self._tables = {table.preamble.alias: table for table in info.tables}
        self._actions = {action.preamble.id: action for action in info.actions}
        types = info.type_info.new_types
        self._strings = {name for name, new in types.items() if new.translated_type.HasField("sdn_string")}

    def has(self, table: str) -> bool:
        return table in self._tables

    def value(
        self, of: p4i.MatchField | p4i.Action.Param | p4i.ControllerPacketMetadata.Metadata, it: int | str
    ) -> bytes:
        if of.type_name.name in self._strings:
            return str(it).encode()
        number = int.from_bytes(it.encode()) if isinstance(it, str) else it
        return number.to_bytes(max(1, (number.bit_length() + 7) // 8))

    def entry(
        self,
        table: str,
        matches: Mapping[str, int | str | tuple[int, int]],
        action: str,
        params: Mapping[str, int | str] | None = None,
        *,
        priority: int = 0,
    ) -> p4r.TableEntry:
        """An entry; a prefix is its value and length, whatever else is matched is matched whole."""
        of = self._tables[table]
        entry = p4r.TableEntry(table_id=of.preamble.id, priority=priority)
        for field in of.match_fields:
            if field.name in matches:
                self._match(entry.match.add(field_id=field.id), field, matches[field.name])
        self._call(of, action, params or {}, entry.action.action)
        return entry

    def one_shot(
        self, table: str, matches: Mapping[str, int | str], actions: list[tuple[str, Mapping[str, int | str], int, int]]
    ) -> p4r.TableEntry:
        """An entry with an action set; of each action its name, parameters, weight and watched port."""
        of = self._tables[table]
        entry = self.entry(table, matches, actions[0][0], actions[0][1])
        entry.ClearField("action")
        for name, params, weight, port in actions:
            member = entry.action.action_profile_action_set.action_profile_actions.add(
                weight=weight, watch_port=self.port(port)
            )
            self._call(of, name, params, member.action)
        return entry

    def port(self, number: int) -> bytes:
        """A port as replicas and watched ports have it."""
        as_parameter = p4i.Action.Param()
        as_parameter.type_name.name = _PORT
        return self.value(as_parameter, number)

    def packet_out(self, payload: bytes, **metadata: int) -> p4r.StreamMessageRequest:
        request = p4r.StreamMessageRequest()
        request.packet.payload = payload
        for field in self._header("packet_out").metadata:
            request.packet.metadata.add(metadata_id=field.id, value=self.value(field, metadata.get(field.name, 0)))
        return request

    def packet_in(self, packet: p4r.PacketIn) -> dict[str, int]:
        """The metadata of a packet-in, ports as numbers."""
        named = {field.id: field for field in self._header("packet_in").metadata}
        text = {field.id for field in named.values() if field.type_name.name in self._strings}
        return {
            named[given.metadata_id].name: int(given.value)
            if given.metadata_id in text
            else int.from_bytes(given.value)
            for given in packet.metadata
        }

    def _header(self, name: str) -> p4i.ControllerPacketMetadata:
        return next(each for each in self.info.controller_packet_metadata if each.preamble.alias == name)

    def _match(self, match: p4r.FieldMatch, field: p4i.MatchField, given: int | str | tuple[int, int]) -> None:
        if isinstance(given, tuple):
            match.lpm.value, match.lpm.prefix_len = self.value(field, given[0]), given[1]
            return
        value = self.value(field, given)
        match field.match_type:
            case _MATCH.EXACT:
                match.exact.value = value
            case _MATCH.OPTIONAL:
                match.optional.value = value
            case _MATCH.LPM:
                match.lpm.value, match.lpm.prefix_len = value, field.bitwidth
            case _MATCH.TERNARY:
                match.ternary.value = value
                match.ternary.mask = ((1 << field.bitwidth) - 1).to_bytes((field.bitwidth + 7) // 8)

    def _call(self, table: p4i.Table, name: str, params: Mapping[str, int | str], call: p4r.Action) -> None:
        refs = (self._actions[ref.id] for ref in table.action_refs)
        action = next(each for each in refs if each.preamble.alias == name)
        call.action_id = action.preamble.id
        for param in action.params:
            call.params.add(param_id=param.id, value=self.value(param, params[param.name]))

    def every_one(self) -> Iterator[p4r.TableEntry]:
        """An entry for every action of every table, and one for every field that may be left out."""
        for name, table in self._tables.items():
            ranked = any(each.match_type in (_MATCH.TERNARY, _MATCH.OPTIONAL) for each in table.match_fields)
            needed = {each.name: each for each in table.match_fields if each.match_type == _MATCH.EXACT}
            others = [each for each in table.match_fields if each.match_type != _MATCH.EXACT]
            actions = [self._actions[ref.id] for ref in table.action_refs if ref.scope != p4i.ActionRef.DEFAULT_ONLY]
            calls = [(action, others[-1:]) for action in actions] + [(actions[0], [field]) for field in others[:-1]]
            for number, (action, fields) in enumerate(calls):
                keys = [*needed.values(), *(field for field in fields if field.name != "dummy_match")]
                # Priorities tell entries apart, or else their numbers.
                if number and not ranked and not any(field.bitwidth != 1 and not _refers(field) for field in keys):
                    continue
                matches = {field.name: self._sample(field, number) for field in keys}
                params = {param.name: self._sample(param, 0) for param in action.params}
                priority = number + 1 if ranked else 0
                if table.implementation_id:
                    name_of = action.preamble.alias
                    yield self.one_shot(name, matches, [(name_of, params, 1, 1), (name_of, params, 3, 2)])
                else:
                    yield self.entry(name, matches, action.preamble.alias, params, priority=priority)

    def _sample(self, of: p4i.MatchField | p4i.Action.Param, number: int) -> int | str:
        type_name = of.type_name.name
        if _refers(of):
            number = 0
        if type_name == _PORT:
            return PORTS[number % len(PORTS)]
        if type_name in self._strings or of.bitwidth == _STRING_BITS:
            return f"{type_name}-{number}"
        # Not zero, which means none of many things here.
        return (number + 1) & ((1 << of.bitwidth) - 1) or 1


def _refers(of: p4i.MatchField | p4i.Action.Param) -> bool:
    return any(_REFERENCE.match(annotation) for annotation in of.annotations)
