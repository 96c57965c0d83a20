"""Programs for PSA (`switch/programs/psa`) over P4Runtime: what clients write and read, and what packets do by it."""

from pathlib import Path

import grpc
import pytest
from finsy.proto import p4d, p4i, p4r
from google.protobuf import text_format

from phb_switch import Switch

from .support import Client, Names, Stream, artifact, delete, entity, errors, insert, modify, p4info, update
from .test_features import clone_session, multicast

BUILT = Path(__file__).parents[2] / "programs" / "psa" / "build"
PSA_PORT_CPU = "fffffffd"
INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
UNIMPLEMENTED, INVALID = grpc.StatusCode.UNIMPLEMENTED.value[0], grpc.StatusCode.INVALID_ARGUMENT.value[0]


def info(program: str) -> p4i.P4Info:
    return text_format.Parse((BUILT / f"{program}.p4info.txtpb").read_text(), p4i.P4Info())


TABLES, EXTERNS, HEADERS = (Names(info(f"psa_{name}")) for name in ("tables", "externs", "headers"))


def configured(client: Client, program: str) -> Stream:
    stream = client.primary()
    client.configure(info=info(program), config=(BUILT / f"{program}.json").read_bytes())
    return stream


SECOND = 1_000_000_000


def sent(switch: Switch, digits: str, port: int = 0, now_ns: int = SECOND) -> list[tuple[int, str]]:
    """Port and frame of each transmission that a frame causes."""
    done = switch.process(port, bytes.fromhex(digits), now_ns)
    return [(to, frame.hex()) for _, to, frame in done]


def outcome(client: Client, *updates: p4r.Update) -> list[tuple[int, str]]:
    with pytest.raises(grpc.RpcError) as caught:
        client.write(*updates)
    return errors(caught.value)


def called(names: Names, name: str, *values: int) -> p4r.Action:
    made = p4r.Action(action_id=names.action[name])
    for number, value in enumerate(values, start=1):
        made.params.add(param_id=number, value=value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big"))
    return made


def route(address: int, length: int, port: int) -> p4r.TableEntry:
    made = p4r.TableEntry(table_id=TABLES.table["routes"])
    made.match.add(field_id=1).lpm.CopyFrom(
        p4r.FieldMatch.LPM(value=address.to_bytes(4, "big").lstrip(b"\0"), prefix_len=length)
    )
    made.action.action.CopyFrom(called(TABLES, "route", port))
    return made


def of_kind(table: str, kind: int, action: p4r.TableAction | None = None) -> p4r.TableEntry:
    made = p4r.TableEntry(table_id=TABLES.table[table], action=action)
    made.match.add(field_id=1).exact.value = bytes([kind])
    return made


REQUEST = "01 0a000001 0007 0000"


def test_tables_and_their_direct_counters(client: Client, switch: Switch) -> None:
    configured(client, "psa_tables")
    client.write(insert(route(0x0A000000, 8, 2)))
    assert sent(switch, REQUEST) == [(2, "010a00000100070000")]
    counter = p4r.DirectCounterEntry(table_entry=route(0x0A000000, 8, 2))
    counter.table_entry.ClearField("action")
    (found,) = client.read(entity(counter))
    assert (found.direct_counter_entry.data.packet_count, found.direct_counter_entry.data.byte_count) == (1, 9)
    counter.data.packet_count = 41
    client.write(update(MODIFY, counter))
    sent(switch, REQUEST)
    wanted = route(0x0A000000, 8, 2)
    wanted.counter_data.SetInParent()
    (found,) = client.read(entity(wanted))
    assert found.table_entry.counter_data.packet_count == 42
    client.write(modify(route(0x0A000000, 8, 3)))
    assert sent(switch, REQUEST) == [(3, "010a00000100070000")]
    client.write(delete(route(0x0A000000, 8, 3)))
    assert sent(switch, REQUEST) == []
    assert client.read(entity(p4r.TableEntry(table_id=TABLES.table["routes"]))) == []


def test_an_entry_that_is_not_hit_is_told(client: Client, switch: Switch) -> None:
    stream = configured(client, "psa_tables")
    made = route(0x0A000000, 8, 2)
    made.idle_timeout_ns = SECOND
    client.write(insert(made))
    for second in (1, 3):  # from the first on it counts
        sent(switch, "00 0b000001 0007 0000", now_ns=second * SECOND)
    (told,) = stream.receive().idle_timeout_notification.table_entry
    assert (told.table_id, told.idle_timeout_ns) == (made.table_id, SECOND)


def test_action_profiles(client: Client, switch: Switch) -> None:
    configured(client, "psa_tables")
    member = p4r.ActionProfileMember(
        action_profile_id=TABLES.profile["answers"], member_id=4, action=called(TABLES, "answer", 0xA5)
    )
    by_member = of_kind("by_member", 1, p4r.TableAction(action_profile_member_id=4))
    client.write(insert(route(0x0A000000, 8, 2)), update(INSERT, member), insert(by_member))
    assert sent(switch, REQUEST) == [(2, "010a0000010007a500")]
    member.action.CopyFrom(called(TABLES, "answer", 0x5A))
    client.write(update(MODIFY, member))
    assert sent(switch, REQUEST) == [(2, "010a00000100075a00")]
    assert client.read(entity(p4r.ActionProfileMember())) == [entity(member)]
    direct = of_kind("by_member", 2, p4r.TableAction(action=called(TABLES, "answer", 1)))
    ((code, message),) = outcome(client, insert(direct))
    assert (code, message) == (
        INVALID,
        "table TablesIngress.by_member: expected a member of its action profile, got action",
    )


@pytest.mark.parametrize("one_shot", [False, True])
def test_selectors_choose_by_the_flow(client: Client, switch: Switch, one_shot: bool) -> None:
    configured(client, "psa_tables")
    client.write(insert(route(0x0A000000, 8, 2)))
    profile, values = TABLES.profile["choices"], (0x11, 0x22, 0x33)
    if one_shot:
        action = p4r.TableAction()
        for value in values:
            action.action_profile_action_set.action_profile_actions.add(
                action=called(TABLES, "choose", value), weight=1
            )
    else:
        group = p4r.ActionProfileGroup(action_profile_id=profile, group_id=7, max_size=8)
        for number, value in enumerate(values, start=1):
            member = p4r.ActionProfileMember(
                action_profile_id=profile, member_id=number, action=called(TABLES, "choose", value)
            )
            client.write(update(INSERT, member))
            group.members.add(member_id=number, weight=1)
        client.write(update(INSERT, group))
        action = p4r.TableAction(action_profile_group_id=7)
    client.write(insert(of_kind("by_flow", 1, action)))
    flows = [sent(switch, f"01 0a000001 {flow:04x} 0000") for flow in range(64)]
    chosen = {int(frame[-2:], 16) for ((_, frame),) in flows}
    assert chosen == set(values)
    assert flows == [sent(switch, f"01 0a000001 {flow:04x} 0000") for flow in range(64)]


def test_counters_meters_and_registers(client: Client, switch: Switch) -> None:
    configured(client, "psa_externs")
    at = p4r.Index(index=2)
    counter = p4r.CounterEntry(counter_id=EXTERNS.counter["arrived"], index=at)
    counter.data.packet_count, counter.data.byte_count = 10, 100
    register = p4r.RegisterEntry(register_id=EXTERNS.register["last"], index=at, data=p4d.P4Data(bitstring=b"\x01\x02"))
    meter = p4r.MeterEntry(meter_id=EXTERNS.meter["pace"], index=at)
    meter.config.CopyFrom(p4r.MeterConfig(cir=1, cburst=1, pir=1, pburst=1))
    client.write(*(update(MODIFY, each) for each in (counter, register, meter)))
    assert client.read(entity(meter)) == [entity(meter)]

    request = "0205 0000 00 0000 00 00 0000"
    ((to, first),), ((_, second),) = sent(switch, request), sent(switch, request)
    # What the register had before, and the colour: one packet is green, the next is red.
    assert (to, first[4:10], second[4:10]) == (1, "010200", "0107ee")
    (found,) = client.read(entity(counter))
    assert (found.counter_entry.data.packet_count, found.counter_entry.data.byte_count) == (12, 122)
    (found,) = client.read(entity(register))
    assert found.register_entry.data.bitstring == b"\x01\x0c"


def test_digests(client: Client, switch: Switch) -> None:
    stream = configured(client, "psa_externs")
    wanted = p4r.DigestEntry(digest_id=EXTERNS.digest["report"])
    wanted.config.max_list_size = 2
    wanted.config.max_timeout_ns = 60_000_000_000
    client.write(update(INSERT, wanted))
    for cell in (1, 2):
        sent(switch, f"{cell:02x}d0 0000 00 0000 00 00 0000", port=3)  # not asked for
        sent(switch, f"{cell:02x}d1 0000 00 0000 00 00 0000", port=3)
    told = stream.receive().digest
    fields = [[member.bitstring for member in each.struct.members] for each in told.data]
    assert told.digest_id == wanted.digest_id
    assert fields == [[b"\x03", b"\x01", b"\xd1"], [b"\x03", b"\x02", b"\xd1"]]


def test_replication(client: Client, switch: Switch) -> None:
    configured(client, "psa_paths")
    client.write(
        update(INSERT, multicast(7, (1, 40), (2, 50))), update(INSERT, clone_session(5, (3, 1), class_of_service=4))
    )
    # Path in ingress and in egress, class of service, instance, port; operation and argument.
    assert sorted(sent(switch, "0307")) == [(1, "000203002800000001" + "0307"), (2, "000203003200000002" + "0307")]
    assert sorted(sent(switch, "0105")) == [(1, "000100000000000001" + "0105"), (3, "cc0304000100000003" + "0105")]
    client.write(update(MODIFY, multicast(7, (2, 9))), update(DELETE, clone_session(5)))
    assert sent(switch, "0307") == [(2, "000203000900000002" + "0307")]
    assert sent(switch, "0105") == [(1, "000100000000000001" + "0105")]
    assert client.read(entity(multicast(0))) == [entity(multicast(7, (2, 9)))]


def test_session_0_leads_to_controllers(client: Client, switch: Switch) -> None:
    stream = configured(client, "psa_paths")
    assert sent(switch, "0200") == []
    assert stream.receive().packet.payload.hex() == "cc03000000" + PSA_PORT_CPU + "0200"


def labels(kind: int, action: str, *values: int) -> p4r.TableEntry:
    made = p4r.TableEntry(table_id=HEADERS.table["kinds"])
    made.match.add(field_id=1).exact.value = bytes([kind])
    made.action.action.CopyFrom(called(HEADERS, action, *values))
    return made


def test_a_key_that_is_a_part_of_a_field_has_the_width_of_the_p4info(client: Client, switch: Switch) -> None:
    configured(client, "psa_headers")
    client.write(insert(labels(0xFF, "pop", 2)))
    assert client.read(entity(p4r.TableEntry(table_id=HEADERS.table["kinds"]))) == [
        p4r.Entity(table_entry=labels(0xFF, "pop", 2))
    ]
    assert sent(switch, "12ff 03 aa") == [(2, "12ffaa")]
    wide = labels(0, "pop", 2)
    wide.match[0].exact.value = b"\x01\x00"
    ((code, message),) = outcome(client, insert(wide))
    assert code == INVALID
    assert "match field meta.kind" in message


def left_out() -> dict[str, tuple[p4r.Update, str]]:
    counted, aging = labels(1, "pop", 2), labels(1, "pop", 2)
    counted.counter_data.packet_count = 1
    aging.idle_timeout_ns = 1
    counter = p4r.DirectCounterEntry(table_entry=labels(1, "pop", 2))
    counter.data.packet_count = 1
    member = p4r.ActionProfileMember(
        action_profile_id=HEADERS.profile["unknown"], member_id=1, action=called(HEADERS, "mark")
    )
    of_member = p4r.TableEntry(table_id=HEADERS.table["left_out"], action=p4r.TableAction(action_profile_member_id=1))
    of_member.match.add(field_id=1).exact.value = b"\1"
    kinds, gone = "table HeadersIngress.kinds: its", "is in the p4info, but not in the artifact"
    profile = f"action profile HeadersIngress.unknown {gone}"
    return {
        "a counter with an entry": (insert(counted), f"{kinds} direct counter {gone}"),
        "a counter": (update(MODIFY, counter), f"{kinds} direct counter {gone}"),
        "an idle timeout": (insert(aging), f"{kinds} idle timeout {gone}"),
        "a member": (update(INSERT, member), profile),
        "an entry of a profile": (insert(of_member), profile),
    }


@pytest.mark.parametrize("case", left_out())
def test_what_p4c_left_out_of_the_artifact_is_refused_by_name(client: Client, case: str) -> None:
    configured(client, "psa_headers")
    written, message = left_out()[case]
    assert outcome(client, written) == [(UNIMPLEMENTED, message)]


def test_what_p4c_left_out_can_not_be_read(client: Client) -> None:
    configured(client, "psa_headers")
    client.write(insert(labels(1, "pop", 2)))
    with pytest.raises(grpc.RpcError) as caught:
        client.read(entity(p4r.DirectCounterEntry(table_entry=p4r.TableEntry(table_id=HEADERS.table["kinds"]))))
    assert "table HeadersIngress.kinds: its direct counter is in the p4info, but not in" in caught.value.details()
    # There are none, as of any profile that nobody has written to.
    assert client.read(entity(p4r.ActionProfileMember(action_profile_id=HEADERS.profile["unknown"]))) == []
    assert client.read(entity(p4r.DirectCounterEntry(table_entry=p4r.TableEntry()))) == []


def test_in_other_programs_it_is_a_disagreement(client: Client) -> None:
    client.primary()
    wrong = p4info("features")
    table = next(each for each in wrong.tables if each.idle_timeout_behavior == p4i.Table.NO_TIMEOUT)
    table.idle_timeout_behavior = p4i.Table.NOTIFY_CONTROL
    with pytest.raises(grpc.RpcError) as caught:
        client.configure(info=wrong, config=artifact("features"))
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details() == (
        f"p4info and artifact do not agree: the idle timeout of table {table.preamble.name} is in the p4info, "
        "but not in the artifact"
    )
