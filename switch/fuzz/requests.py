"""Seeds of the fuzz target `rpc`: every committed p4info, serialized, and valid requests for each.

`python switch/fuzz/requests.py INFOS SEEDS` writes INFOS/NAME.bin, and into SEEDS inputs of the target: the number of
the p4info in the order of the names, what to do (see fuzz_targets/rpc.rs), the request.
"""

import sys
from pathlib import Path

from finsy.proto import p4i, p4r
from google.protobuf import text_format

ROOT = Path(__file__).parents[2]
FOLDERS = ("p4src/build", *(f"switch/programs/{each}build" for each in ("", "pna/", "psa/")))
READ, WRITE = 0, 1


def field_match(field: p4i.MatchField) -> p4r.FieldMatch | None:
    """A match of a key field; None where leaving it out is what matches anything."""
    match field.match_type:
        case p4i.MatchField.EXACT:
            return p4r.FieldMatch(field_id=field.id, exact=p4r.FieldMatch.Exact(value=b"\x01"))
        case p4i.MatchField.LPM:
            return p4r.FieldMatch(field_id=field.id, lpm=p4r.FieldMatch.LPM(value=b"\x00", prefix_len=1))
        case p4i.MatchField.TERNARY:
            return p4r.FieldMatch(field_id=field.id, ternary=p4r.FieldMatch.Ternary(value=b"\x01", mask=b"\x01"))
        case p4i.MatchField.RANGE:
            return p4r.FieldMatch(field_id=field.id, range=p4r.FieldMatch.Range(low=b"\x00", high=b"\x01"))
    return None


def entries(info: p4i.P4Info) -> list[p4r.Entity]:
    """One entity of each kind that the program has; of tables, one per action."""
    made = []
    actions = {action.preamble.id: action for action in info.actions}
    for table in info.tables:
        matches = [match for field in table.match_fields if (match := field_match(field)) is not None]
        kinds = {field.match_type for field in table.match_fields}
        priority = 1 if kinds & {p4i.MatchField.TERNARY, p4i.MatchField.RANGE, p4i.MatchField.OPTIONAL} else 0
        for reference in table.action_refs:
            params = [p4r.Action.Param(param_id=param.id, value=b"\x01") for param in actions[reference.id].params]
            action = p4r.TableAction(action=p4r.Action(action_id=reference.id, params=params))
            entry = p4r.TableEntry(table_id=table.preamble.id, match=matches, priority=priority, action=action)
            made.append(p4r.Entity(table_entry=entry))
    index = p4r.Index(index=0)
    for profile in info.action_profiles:
        made += [
            p4r.Entity(
                action_profile_member=p4r.ActionProfileMember(
                    action_profile_id=profile.preamble.id, member_id=1, action=entry.table_entry.action.action
                )
            )
            for entry in made[:1]
        ]
    for counter in info.counters:
        data = p4r.CounterData(packet_count=1, byte_count=2)
        made.append(p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=counter.preamble.id, index=index, data=data)))
    for meter in info.meters:
        config = p4r.MeterConfig(cir=1, cburst=2, pir=3, pburst=4)
        made.append(p4r.Entity(meter_entry=p4r.MeterEntry(meter_id=meter.preamble.id, index=index, config=config)))
    for register in info.registers:
        entry = p4r.RegisterEntry(register_id=register.preamble.id, index=index)
        made.append(p4r.Entity(register_entry=entry))
    group = p4r.MulticastGroupEntry(multicast_group_id=1, replicas=[p4r.Replica(egress_port=1, instance=1)])
    session = p4r.CloneSessionEntry(session_id=1, replicas=[p4r.Replica(egress_port=1, instance=1)])
    engine = p4r.PacketReplicationEngineEntry
    made.append(p4r.Entity(packet_replication_engine_entry=engine(multicast_group_entry=group)))
    made.append(p4r.Entity(packet_replication_engine_entry=engine(clone_session_entry=session)))
    return made


def main(infos: Path, seeds: Path) -> None:
    """Write both folders."""
    infos.mkdir(parents=True, exist_ok=True)
    seeds.mkdir(parents=True, exist_ok=True)
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*.p4info.txtpb"))
    names = sorted(path.name.removesuffix(".p4info.txtpb") for path in paths)
    for path in paths:
        name = path.name.removesuffix(".p4info.txtpb")
        info = text_format.Parse(path.read_text(), p4i.P4Info())
        (infos / f"{name}.bin").write_bytes(info.SerializeToString())
        inserts = [p4r.Update(type=p4r.Update.INSERT, entity=entity) for entity in entries(info)]
        modifies = [p4r.Update(type=p4r.Update.MODIFY, entity=update.entity) for update in inserts]
        writes = [
            p4r.WriteRequest(updates=[update], atomicity=atomicity)
            for update in (*inserts, *modifies)
            for atomicity in (0, 1)
        ]
        reads = [p4r.ReadRequest(entities=[update.entity]) for update in inserts]
        for kind, requests in ((WRITE, writes), (READ, reads)):
            for number, request in enumerate(requests):
                seed = bytes((names.index(name), kind)) + request.SerializeToString()
                (seeds / f"{name}-{kind}-{number}").write_bytes(seed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
