"""Action profiles, direct meters and idle timeouts: what is written, refused, read back, and what packets meet."""

from pathlib import Path

import grpc
import pytest
from finsy.proto import p4i, p4r, rpc_code
from google.protobuf import text_format
from google.protobuf.message import Message

from phb_switch import Switch

from .support import DEVICE, Client, Names, artifact, entity, errors, p4info, update

BUILT = Path(__file__).parents[2] / "programs" / "build"
NAMES = Names(p4info("features"))
NEXT_HOPS, PATHS = NAMES.profile["next_hops"], NAMES.profile["paths"]
INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
MAC = bytes.fromhex("020000000001")


@pytest.fixture
def client(client: Client) -> Client:
    client.primary()
    client.configure(info=p4info("features"), config=artifact("features"))
    return client


def action(name: str, *values: int) -> p4r.Action:
    made = p4r.Action(action_id=NAMES.action[name])
    for number, value in enumerate(values, start=1):
        made.params.add(param_id=number, value=value.to_bytes((value.bit_length() + 7) // 8 or 1, "big"))
    return made


def member(number: int, port: int, *, profile: int = NEXT_HOPS) -> p4r.ActionProfileMember:
    return p4r.ActionProfileMember(action_profile_id=profile, member_id=number, action=action("forward", port))


def group(number: int, *members: tuple[int, int], size: int = 8) -> p4r.ActionProfileGroup:
    made = p4r.ActionProfileGroup(action_profile_id=PATHS, group_id=number, max_size=size)
    for member_id, weight in members:
        made.members.add(member_id=member_id, weight=weight)
    return made


def entry(table: str, value: bytes, given: p4r.TableAction | None = None, **fields: object) -> p4r.TableEntry:
    made = p4r.TableEntry(table_id=NAMES.table[table], action=given, **fields)
    made.match.add(field_id=1).exact.value = value
    return made


def by_profile(number: int) -> p4r.TableEntry:
    return entry("by_profile", b"\x08\x00", p4r.TableAction(action_profile_member_id=number))


def by_group(number: int) -> p4r.TableEntry:
    return entry("by_selector", MAC.lstrip(b"\0"), p4r.TableAction(action_profile_group_id=number))


def one_shot(*actions: tuple[int, int]) -> p4r.TableEntry:
    made = p4r.TableAction()
    for port, weight in actions:
        made.action_profile_action_set.action_profile_actions.add(action=action("forward", port), weight=weight)
    return entry("by_selector", MAC.lstrip(b"\0"), made)


def refused(client: Client, *updates: p4r.Update, atomicity: int = 0) -> list[tuple[int, str]]:
    with pytest.raises(grpc.RpcError) as caught:
        client.write(*updates, atomicity=atomicity)
    return errors(caught.value)


def insert(client: Client, *messages: Message) -> None:
    for message in messages:
        client.write(update(INSERT, message))


def read(client: Client, wanted: Message) -> list[Message]:
    found = client.read(entity(wanted))
    return [getattr(each, str(each.WhichOneof("entity"))) for each in found]


def sent(switch: Switch, now: int, *, source: int = 1, kind: bytes = b"\x08\x00") -> list[int]:
    frame = MAC + source.to_bytes(6, "big") + kind + bytes(46)
    return [port for _, port, _ in switch.process(0, frame, now)]


def test_members(client: Client, switch: Switch) -> None:
    insert(client, member(1, 2), member(7, 3), by_profile(7))
    assert sent(switch, 1) == [3]
    assert read(client, p4r.ActionProfileMember()) == [member(1, 2), member(7, 3)]
    assert read(client, p4r.ActionProfileMember(action_profile_id=PATHS)) == []
    assert read(client, p4r.ActionProfileMember(action_profile_id=NEXT_HOPS, member_id=7)) == [member(7, 3)]
    assert read(client, p4r.TableEntry()) == [by_profile(7)]
    client.write(update(MODIFY, member(7, 1)))
    assert sent(switch, 2) == [1]
    client.write(update(MODIFY, by_profile(1)))
    client.write(update(DELETE, p4r.ActionProfileMember(action_profile_id=NEXT_HOPS, member_id=7)))
    assert sent(switch, 3) == [2]


def test_groups(client: Client, switch: Switch) -> None:
    insert(client, *(member(number, number, profile=PATHS) for number in (1, 2)))
    insert(client, group(5, (1, 1), (2, 3)), by_group(5))
    used = {port for now in range(64) for port in sent(switch, now, source=now, kind=b"\x12\x34")}
    assert used == {1, 2}
    assert read(client, p4r.ActionProfileGroup()) == [group(5, (1, 1), (2, 3))]
    client.write(update(MODIFY, group(5, (2, 1))))
    assert {port for now in range(64, 128) for port in sent(switch, now, source=now, kind=b"\x12\x34")} == {2}
    client.write(update(DELETE, by_group(5)))
    client.write(update(DELETE, p4r.ActionProfileGroup(action_profile_id=PATHS, group_id=5)))
    assert read(client, p4r.ActionProfileGroup()) == []


def test_one_shot(client: Client, switch: Switch) -> None:
    watched = one_shot((1, 1), (2, 2))
    watched.action.action_profile_action_set.action_profile_actions[0].watch_port = b"\x01"
    insert(client, watched)
    assert {port for now in range(64) for port in sent(switch, now, source=now, kind=b"\x12\x34")} == {1, 2}
    assert read(client, p4r.TableEntry()) == [watched]
    assert read(client, p4r.ActionProfileMember()) == []
    assert read(client, p4r.ActionProfileGroup()) == []
    # One style or the other, until the last entry of the one has gone.
    assert refused(client, update(INSERT, member(1, 1, profile=PATHS)))[0][0] == rpc_code.INVALID_ARGUMENT
    client.write(update(DELETE, watched))
    insert(client, member(1, 1, profile=PATHS), group(1, (1, 1)), by_group(1))
    assert refused(client, update(MODIFY, one_shot((1, 1))))[0][0] == rpc_code.INVALID_ARGUMENT


def with_set(change: str, value: object) -> p4r.TableEntry:
    made = one_shot((1, 1))
    setattr(made.action.action_profile_action_set, change, value)
    return made


@pytest.mark.parametrize(
    ("refusal", "code", "words"),
    [
        (update(INSERT, member(1, 1)), rpc_code.ALREADY_EXISTS, "member 1"),
        (update(MODIFY, member(9, 1)), rpc_code.NOT_FOUND, "member 9"),
        (update(DELETE, member(9, 1)), rpc_code.NOT_FOUND, "member 9"),
        (update(DELETE, member(1, 1)), rpc_code.FAILED_PRECONDITION, "member 1"),
        (update(INSERT, member(0, 1)), rpc_code.INVALID_ARGUMENT, "member_id is not set"),
        (update(INSERT, member(5, 1, profile=77)), rpc_code.INVALID_ARGUMENT, "no action profile with id 77"),
        (update(INSERT, member(5, 0x200)), rpc_code.INVALID_ARGUMENT, "does not fit"),
        (
            update(INSERT, p4r.ActionProfileMember(action_profile_id=NEXT_HOPS, member_id=5)),
            rpc_code.INVALID_ARGUMENT,
            "needs an action",
        ),
        (
            update(
                INSERT,
                p4r.ActionProfileMember(action_profile_id=NEXT_HOPS, member_id=5, action=action("multicast", 1)),
            ),
            rpc_code.INVALID_ARGUMENT,
            "has no action",
        ),
        (update(INSERT, group(1, (3, 1))), rpc_code.ALREADY_EXISTS, "group 1"),
        (update(INSERT, group(2, (8, 1))), rpc_code.NOT_FOUND, "member 8"),
        (update(INSERT, group(2, (3, 0))), rpc_code.INVALID_ARGUMENT, "weight 0"),
        (update(INSERT, group(2, (3, 1), (3, 1))), rpc_code.INVALID_ARGUMENT, "member 3"),
        (update(INSERT, group(2, (3, 9))), rpc_code.RESOURCE_EXHAUSTED, "weight"),
        (update(INSERT, group(2, (3, 1), size=9)), rpc_code.INVALID_ARGUMENT, "expected 1 to 8"),
        (update(INSERT, group(2, (3, 1), size=0)), rpc_code.INVALID_ARGUMENT, "expected 1 to 8"),
        (update(MODIFY, group(1, (3, 1), size=4)), rpc_code.INVALID_ARGUMENT, "can not be changed"),
        (update(DELETE, group(1)), rpc_code.FAILED_PRECONDITION, "group 1"),
        (update(DELETE, group(2)), rpc_code.NOT_FOUND, "group 2"),
        (
            update(INSERT, p4r.ActionProfileGroup(action_profile_id=NEXT_HOPS, group_id=1)),
            rpc_code.INVALID_ARGUMENT,
            "no selector",
        ),
        (update(MODIFY, by_profile(9)), rpc_code.NOT_FOUND, "member 9"),
        (update(MODIFY, by_group(9)), rpc_code.NOT_FOUND, "group 9"),
        (
            update(MODIFY, entry("by_profile", b"\x08\x00", p4r.TableAction(action=action("drop")))),
            rpc_code.INVALID_ARGUMENT,
            "expected a member of its action profile, got action",
        ),
        (
            update(MODIFY, entry("by_profile", b"\x08\x00", p4r.TableAction(action_profile_group_id=1))),
            rpc_code.INVALID_ARGUMENT,
            "got action_profile_group_id",
        ),
        (
            update(INSERT, entry("switching", MAC, p4r.TableAction(action_profile_member_id=1))),
            rpc_code.INVALID_ARGUMENT,
            "expected an action",
        ),
        (update(MODIFY, one_shot((1, 1))), rpc_code.INVALID_ARGUMENT, "members and groups"),
    ],
)
def test_refusals_of_profiles(client: Client, refusal: p4r.Update, code: int, words: str) -> None:
    insert(client, member(1, 2), by_profile(1), member(3, 1, profile=PATHS), group(1, (3, 1)), by_group(1))
    ((got, message),) = refused(client, refusal)
    assert got == code, message
    assert words in message


@pytest.mark.parametrize(
    ("wrong", "code", "words"),
    [
        (one_shot((1, 0)), rpc_code.INVALID_ARGUMENT, "weight 0"),
        (one_shot((1, 5), (2, 4)), rpc_code.INVALID_ARGUMENT, "at most 8"),
        (one_shot((0x200, 1)), rpc_code.INVALID_ARGUMENT, "does not fit"),
        (with_set("action_selection_mode", 2), rpc_code.UNIMPLEMENTED, "hashes"),
        (with_set("size_semantics", 2), rpc_code.UNIMPLEMENTED, "sizes"),
    ],
)
def test_refusals_of_action_sets(client: Client, wrong: p4r.TableEntry, code: int, words: str) -> None:
    ((got, message),) = refused(client, update(INSERT, wrong))
    assert got == code, message
    assert words in message


def test_default_modes_may_be_named(client: Client) -> None:
    named = one_shot((1, 1))
    named.action.action_profile_action_set.action_selection_mode = p4r.ActionProfileActionSet.HASH
    named.action.action_profile_action_set.size_semantics = p4r.ActionProfileActionSet.SUM_OF_WEIGHTS
    insert(client, named)
    assert read(client, p4r.TableEntry()) == [named]


def test_profiles_are_undone(client: Client, switch: Switch) -> None:
    insert(client, member(1, 2), by_profile(1), member(3, 1, profile=PATHS), group(1, (3, 1)))
    everything = (p4r.ActionProfileMember(), p4r.ActionProfileGroup(), p4r.TableEntry())
    before = [read(client, each) for each in everything]
    outcomes = refused(
        client,
        update(MODIFY, member(1, 3)),
        update(INSERT, member(4, 3)),
        update(MODIFY, by_profile(4)),
        update(DELETE, member(1, 0)),
        update(DELETE, group(1)),
        update(INSERT, group(2, (3, 2))),
        update(INSERT, by_group(2)),
        update(INSERT, member(4, 3)),
        atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR,
    )
    assert [code for code, _ in outcomes] == [rpc_code.ABORTED] * 7 + [rpc_code.ALREADY_EXISTS]
    assert [read(client, each) for each in everything] == before
    assert sent(switch, 1) == [2]
    client.write(update(DELETE, group(1)))


POLICER = p4r.MeterConfig(cir=1000, cburst=100, pir=2000, pburst=200)


def limits(**fields: object) -> p4r.TableEntry:
    return entry("limits", b"\0", p4r.TableAction(action=action("police")), **fields)


def asked(message: p4r.TableEntry) -> p4r.TableEntry:
    wanted = p4r.TableEntry(table_id=message.table_id)
    wanted.meter_config.SetInParent()
    return wanted


def test_direct_meters(client: Client, switch: Switch) -> None:
    insert(client, member(1, 2), by_profile(1), limits(meter_config=POLICER))
    assert read(client, p4r.TableEntry(table_id=NAMES.table["limits"])) == [limits()]
    assert read(client, asked(limits())) == [limits(meter_config=POLICER)]
    # 60 bytes each: three fit into the peak bucket.
    assert [bool(sent(switch, now)) for now in range(5)] == [True, True, True, False, False]

    identified = p4r.TableEntry(table_id=NAMES.table["limits"], match=limits().match)
    (found,) = read(client, p4r.DirectMeterEntry())
    assert found == p4r.DirectMeterEntry(table_entry=identified, config=POLICER)
    wider = p4r.MeterConfig(cir=10**9, cburst=10**6, pir=10**9, pburst=10**6)
    client.write(update(MODIFY, p4r.DirectMeterEntry(table_entry=identified, config=wider)))
    assert read(client, asked(limits())) == [limits(meter_config=wider)]
    assert all(sent(switch, now) for now in range(5, 20))

    # A modification without a configuration takes it away, and so does an entry without one.
    client.write(update(MODIFY, limits()))
    assert read(client, asked(limits())) == [limits()]
    client.write(update(MODIFY, limits(meter_config=POLICER)))
    client.write(update(MODIFY, p4r.DirectMeterEntry(table_entry=identified)))
    assert read(client, p4r.DirectMeterEntry(table_entry=identified)) == [p4r.DirectMeterEntry(table_entry=identified)]


NOTHING = p4r.MeterCounterData()


def coloured(*counts: tuple[int, int]) -> p4r.MeterCounterData:
    green, yellow, red = (p4r.CounterData(packet_count=packets, byte_count=length) for packets, length in counts)
    return p4r.MeterCounterData(green=green, yellow=yellow, red=red)


def counted(client: Client) -> p4r.MeterCounterData:
    wanted = p4r.TableEntry(table_id=NAMES.table["limits"], meter_counter_data=NOTHING)
    (found,) = read(client, wanted)
    (direct,) = read(client, p4r.DirectMeterEntry(table_entry=wanted, counter_data=NOTHING))
    assert direct.counter_data == found.meter_counter_data
    return found.meter_counter_data


def test_direct_meters_count_by_colour(client: Client, switch: Switch) -> None:
    none = coloured((0, 0), (0, 0), (0, 0))
    insert(client, member(1, 2), by_profile(1), limits(meter_config=POLICER, meter_counter_data=NOTHING))
    assert counted(client) == none
    for now in range(5):
        sent(switch, now)
    expected = coloured((1, 60), (2, 120), (2, 120))
    assert counted(client) == expected
    # A new configuration leaves the counts alone.
    client.write(update(MODIFY, limits(meter_config=POLICER)))
    identified = p4r.TableEntry(table_id=NAMES.table["limits"], match=limits().match)
    direct = p4r.DirectMeterEntry(table_entry=identified, config=POLICER)
    client.write(update(MODIFY, direct))
    assert counted(client) == expected
    # What fails as a whole has not been.
    direct.counter_data.SetInParent()
    twice = (update(MODIFY, direct), update(DELETE, limits()), update(DELETE, limits()))
    refused(client, *twice, atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR)
    assert counted(client) == expected
    client.write(update(MODIFY, direct))
    assert counted(client) == none


def test_the_default_entrys_meter(client: Client, switch: Switch) -> None:
    """It colours what misses from when it is configured; it and what it has counted are kept by a reconciliation."""
    insert(client, member(1, 2), by_profile(1))
    default = p4r.TableEntry(table_id=NAMES.table["limits"], is_default_action=True)
    wanted = p4r.TableEntry(meter_config=p4r.MeterConfig(), meter_counter_data=NOTHING)
    wanted.MergeFrom(default)

    def seen() -> tuple[p4r.MeterConfig | None, p4r.MeterCounterData]:
        (found,) = read(client, wanted)
        (direct,) = read(client, p4r.DirectMeterEntry(table_entry=default, counter_data=NOTHING))
        assert (direct.config, direct.counter_data) == (found.meter_config, found.meter_counter_data)
        return (direct.config if direct.HasField("config") else None), direct.counter_data

    assert all(sent(switch, now) for now in range(5))
    assert seen() == (None, coloured((0, 0), (0, 0), (0, 0)))
    client.write(update(MODIFY, p4r.DirectMeterEntry(table_entry=default, config=POLICER)))
    assert [bool(sent(switch, now)) for now in range(5, 10)] == [True, True, True, False, False]
    expected = coloured((1, 60), (2, 120), (2, 120))
    assert seen() == (POLICER, expected)
    # An entry's own is kept, too.
    insert(client, limits(meter_config=POLICER))
    sent(switch, 10)
    everything = (p4r.DirectMeterEntry(counter_data=NOTHING), p4r.DirectMeterEntry(table_entry=default))
    before = [read(client, each) for each in everything]
    kept = {"info": p4info("features"), "config": artifact("features")}
    client.configure(p4r.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT, **kept)
    assert [read(client, each) for each in everything] == before
    assert before[0][0].counter_data == coloured((1, 60), (0, 0), (0, 0))
    assert seen() == (POLICER, expected)
    # A default entry that is reset has the program's action and no rates.
    client.write(update(MODIFY, default))
    assert seen() == (None, expected)
    client.write(update(DELETE, limits()))
    assert all(sent(switch, now) for now in range(11, 16))


def test_single_rate_meters(port: int, switch: Switch) -> None:
    info = p4info("features")
    for meter in info.direct_meters:
        meter.spec.type = meter.spec.SINGLE_RATE_THREE_COLOR
    client = Client(port)
    client.primary()
    client.configure(info=info, config=artifact("features"))
    marker = p4r.MeterConfig(cir=1000, cburst=100, pir=1000, pburst=100, eburst=70)
    insert(client, member(1, 2), by_profile(1), limits(meter_config=marker))
    assert read(client, asked(limits())) == [limits(meter_config=marker)]
    for now in range(3):
        sent(switch, now)
    assert counted(client) == coloured((1, 60), (1, 60), (1, 60))
    two_rates = limits(meter_config=p4r.MeterConfig(cir=1, cburst=1, pir=2, pburst=2))
    assert "needs pir and pburst equal" in refused(client, update(MODIFY, two_rates))[0][1]
    client.close()


@pytest.mark.parametrize(
    ("wrong", "code", "words"),
    [
        (update(INSERT, p4r.DirectMeterEntry()), rpc_code.INVALID_ARGUMENT, "can only be modified"),
        (
            update(MODIFY, p4r.DirectMeterEntry(table_entry=p4r.TableEntry(table_id=NAMES.table["switching"]))),
            rpc_code.INVALID_ARGUMENT,
            "no direct meter",
        ),
        (update(MODIFY, p4r.DirectMeterEntry(table_entry=limits())), rpc_code.NOT_FOUND, "no entry"),
        (
            update(INSERT, limits(meter_config=p4r.MeterConfig(cir=2, pir=1))),
            rpc_code.INVALID_ARGUMENT,
            "below the committed rate",
        ),
        (update(INSERT, limits(meter_config=p4r.MeterConfig(cir=-1))), rpc_code.INVALID_ARGUMENT, "negative"),
        (update(INSERT, limits(meter_config=p4r.MeterConfig(eburst=1))), rpc_code.INVALID_ARGUMENT, "eburst"),
        (
            update(INSERT, limits(meter_counter_data=p4r.MeterCounterData(red=p4r.CounterData(packet_count=1)))),
            rpc_code.INVALID_ARGUMENT,
            "can only be set to zero",
        ),
        (
            update(INSERT, entry("switching", MAC, p4r.TableAction(action=action("drop")), meter_counter_data=NOTHING)),
            rpc_code.INVALID_ARGUMENT,
            "no direct meter",
        ),
        (
            update(INSERT, entry("switching", MAC, p4r.TableAction(action=action("drop")), meter_config=POLICER)),
            rpc_code.INVALID_ARGUMENT,
            "no direct meter",
        ),
    ],
)
def test_refusals_of_direct_meters(client: Client, wrong: p4r.Update, code: int, words: str) -> None:
    ((got, message),) = refused(client, wrong)
    assert got == code, message
    assert words in message


def test_reads_are_not_filtered_by_members_groups_and_sets(client: Client) -> None:
    insert(client, member(1, 2), by_profile(1))
    assert read(client, by_profile(2)) == [by_profile(1)]
    client.write(update(INSERT, one_shot((1, 1))))
    assert read(client, one_shot((2, 1))) == [one_shot((1, 1))]


def test_unknown_kind_of_read(client: Client) -> None:
    for wanted, code in (
        (p4r.ActionProfileMember(member_id=1), rpc_code.INVALID_ARGUMENT),
        (p4r.ActionProfileGroup(action_profile_id=1), rpc_code.INVALID_ARGUMENT),
        (p4r.DirectMeterEntry(table_entry=limits()), rpc_code.NOT_FOUND),
    ):
        with pytest.raises(grpc.RpcError) as caught:
            read(client, wanted)
        assert errors(caught.value)[0][0] == code


def test_state_is_kept_by_reconcile(client: Client, switch: Switch) -> None:
    insert(client, member(1, 2), by_profile(1), limits(meter_config=POLICER))
    insert(client, member(3, 1, profile=PATHS), group(1, (3, 1)), by_group(1))
    everything = (p4r.ActionProfileMember(), p4r.ActionProfileGroup(), p4r.TableEntry(), p4r.DirectMeterEntry())
    before = [read(client, each) for each in everything]
    client.configure(
        p4r.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT,
        info=p4info("features"),
        config=artifact("features"),
    )
    assert [read(client, each) for each in everything] == before
    assert sent(switch, 1) == [2]


def test_many_cells_come_in_pieces(client: Client, switch: Switch) -> None:
    everywhere = p4r.RegisterEntry(register_id=NAMES.register["large"])
    everywhere.data.bitstring = MAC
    client.write(update(MODIFY, everywhere))
    request = p4r.ReadRequest(device_id=DEVICE, entities=[entity(p4r.RegisterEntry())])
    call = client.stub.Read(request)
    first = next(call)
    assert first.entities[0].register_entry.data.bitstring == MAC.lstrip(b"\0")
    # The switch goes on meanwhile, and what it does shows in what has not been sent yet.
    sent(switch, 1)
    pieces = [first, *call]
    assert sum(len(piece.entities) for piece in pieces) == 200_004
    assert max(piece.ByteSize() for piece in pieces) < 300_000


def test_a_read_that_is_given_up(client: Client) -> None:
    request = p4r.ReadRequest(device_id=DEVICE, entities=[entity(p4r.RegisterEntry())] * 20)
    for _ in range(100):
        call = client.stub.Read(request)
        next(call)
        call.cancel()
    insert(client, member(1, 2))


def multicast(number: int, *replicas: tuple[int, int], **fields: object) -> p4r.PacketReplicationEngineEntry:
    made = p4r.PacketReplicationEngineEntry()
    made.multicast_group_entry.CopyFrom(p4r.MulticastGroupEntry(multicast_group_id=number, **fields))
    for port, instance in replicas:
        made.multicast_group_entry.replicas.add(port=bytes([port]), instance=instance)
    return made


def clone_session(number: int, *replicas: tuple[int, int], **fields: object) -> p4r.PacketReplicationEngineEntry:
    made = p4r.PacketReplicationEngineEntry()
    made.clone_session_entry.CopyFrom(p4r.CloneSessionEntry(session_id=number, **fields))
    for port, instance in replicas:
        made.clone_session_entry.replicas.add(egress_port=port, instance=instance)
    return made


def with_backup(made: p4r.PacketReplicationEngineEntry, *backups: tuple[int, int]) -> p4r.PacketReplicationEngineEntry:
    """Backups of the first replica: ports and instances."""
    of = made.multicast_group_entry if made.HasField("multicast_group_entry") else made.clone_session_entry
    for port, instance in backups:
        of.replicas[0].backup_replicas.add(port=bytes([port]), instance=instance)
    return made


FLOOD = entry("switching", MAC.lstrip(b"\0"), p4r.TableAction(action=action("multicast", 5)))


def test_multicast(client: Client, switch: Switch) -> None:
    five = multicast(5, (1, 1), (3, 2), (3, 7), metadata=b"mine")
    insert(client, five, FLOOD)
    assert sorted(sent(switch, 1)) == [1, 3, 3]
    assert read(client, multicast(0)) == [five]
    assert read(client, multicast(5)) == [five]
    assert read(client, multicast(6)) == []
    assert read(client, p4r.PacketReplicationEngineEntry()) == [five]
    fewer = multicast(5, (2, 1))
    client.write(update(MODIFY, fewer))
    assert sent(switch, 2) == [2]
    client.write(update(DELETE, multicast(5)))
    assert sent(switch, 3) == []
    assert read(client, multicast(0)) == []


def test_backup_replicas(client: Client, switch: Switch) -> None:
    five = with_backup(multicast(5, (1, 1), (3, 2)), (2, 1), (3, 1))
    insert(client, five, FLOOD)
    assert sorted(sent(switch, 1)) == [1, 3]
    assert read(client, multicast(5)) == [five]
    # A write that fails as a whole brings them back.
    other = (update(MODIFY, multicast(5, (2, 1))), update(INSERT, multicast(5)))
    refused(client, *other, atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR)
    assert read(client, multicast(5)) == [five]
    assert sorted(sent(switch, 2)) == [1, 3]


def test_clone_sessions(client: Client, switch: Switch) -> None:
    mirror = entry("mirrors", b"\0", p4r.TableAction(action=action("clone_to", 9)))
    nine = clone_session(9, (2, 1), (3, 1), class_of_service=2, packet_length_bytes=20)
    insert(client, nine, mirror, member(1, 1), by_profile(1))
    lengths = {port: len(frame) for _, port, frame in switch.process(0, MAC + bytes(6) + b"\x08\x00" + bytes(46), 1)}
    assert lengths == {1: 60, 2: 20, 3: 20}
    assert read(client, clone_session(0)) == [nine]
    backed_up = with_backup(clone_session(9, (2, 1)), (3, 1))
    client.write(update(MODIFY, backed_up))
    assert read(client, clone_session(0)) == [backed_up]
    assert sorted(sent(switch, 2)) == [1, 2]
    client.write(update(DELETE, clone_session(9)))
    assert sent(switch, 3) == [1]


@pytest.mark.parametrize(
    ("wrong", "code", "words"),
    [
        (update(INSERT, multicast(0)), rpc_code.INVALID_ARGUMENT, "from 1"),
        (update(INSERT, multicast(1 << 16)), rpc_code.INVALID_ARGUMENT, "from 1"),
        (update(INSERT, multicast(5)), rpc_code.ALREADY_EXISTS, "multicast group 5"),
        (update(MODIFY, multicast(6)), rpc_code.NOT_FOUND, "multicast group 6"),
        (update(DELETE, multicast(6)), rpc_code.NOT_FOUND, "multicast group 6"),
        (update(INSERT, multicast(6, (1, 1), (1, 1))), rpc_code.INVALID_ARGUMENT, "given twice"),
        (update(INSERT, multicast(6, (1, 1 << 16))), rpc_code.INVALID_ARGUMENT, "16 bit"),
        (update(INSERT, with_backup(multicast(6, (1, 1)), (1, 2))), rpc_code.INVALID_ARGUMENT, "backup of itself"),
        (update(INSERT, with_backup(multicast(6, (1, 1), (2, 1)), (2, 1))), rpc_code.INVALID_ARGUMENT, "given twice"),
        (update(INSERT, with_backup(clone_session(6, (1, 1)), (1, 2))), rpc_code.INVALID_ARGUMENT, "backup of itself"),
        (update(INSERT, clone_session(0)), rpc_code.INVALID_ARGUMENT, "from 1"),
        (update(INSERT, clone_session(6, (512, 1))), rpc_code.INVALID_ARGUMENT, "9 bit"),
        (update(INSERT, clone_session(6, class_of_service=8)), rpc_code.INVALID_ARGUMENT, "0 to 7"),
        (update(INSERT, clone_session(6, packet_length_bytes=-1)), rpc_code.INVALID_ARGUMENT, "negative"),
        (update(MODIFY, clone_session(6)), rpc_code.NOT_FOUND, "clone session 6"),
        (update(INSERT, p4r.PacketReplicationEngineEntry()), rpc_code.INVALID_ARGUMENT, "neither"),
    ],
)
def test_refusals_of_replication(client: Client, wrong: p4r.Update, code: int, words: str) -> None:
    insert(client, multicast(5))
    ((got, message),) = refused(client, wrong)
    assert got == code, message
    assert words in message


def test_replication_is_undone_and_kept(client: Client, switch: Switch) -> None:
    insert(client, multicast(5, (1, 1)), FLOOD)
    outcomes = refused(
        client,
        update(MODIFY, multicast(5, (2, 1))),
        update(INSERT, multicast(6, (2, 1))),
        update(DELETE, multicast(5)),
        update(INSERT, clone_session(1)),
        update(DELETE, multicast(7)),
        atomicity=p4r.WriteRequest.DATAPLANE_ATOMIC,
    )
    assert [code for code, _ in outcomes] == [rpc_code.ABORTED] * 4 + [rpc_code.NOT_FOUND]
    assert read(client, p4r.PacketReplicationEngineEntry()) == [multicast(5, (1, 1))]
    assert sent(switch, 1) == [1]
    kept = {"info": p4info("features"), "config": artifact("features")}
    client.configure(p4r.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT, **kept)
    assert sent(switch, 2) == [1]
    # Groups of a saved config are not those of the committed one.
    client.configure(p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_SAVE, **kept)
    insert(client, multicast(5, (3, 1)), FLOOD)
    assert sent(switch, 3) == [1]
    client.configure(p4r.SetForwardingPipelineConfigRequest.COMMIT, empty=True)
    assert sent(switch, 4) == [3]
    client.configure(p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT, **kept)
    insert(client, FLOOD)
    assert sent(switch, 5) == []


def known_source(source: int, **fields: object) -> p4r.TableEntry:
    given = p4r.TableAction(action=action("NoAction"))
    return entry("known_sources", bytes([source]), given, **fields)


def test_idle_timeout(client: Client, switch: Switch) -> None:
    stream = client.stream()
    stream.arbitrate(2)
    stream.receive()
    second = 10**9
    timed = known_source(1, idle_timeout_ns=second, metadata=b"mine", controller_metadata=7)
    updates = [update(INSERT, timed), update(INSERT, known_source(2))]
    client.write(*updates, election_id=2)
    assert read(client, p4r.TableEntry(table_id=timed.table_id)) == [timed, known_source(2)]
    sent(switch, second, source=3)  # from here on it counts
    sent(switch, second + second // 2, source=1)
    sent(switch, 2 * second + second // 4, source=3)
    (known, _) = read(client, p4r.TableEntry(table_id=timed.table_id, time_since_last_hit={}))
    assert known.time_since_last_hit.elapsed_ns == second * 3 // 4
    assert stream.silent()
    sent(switch, 3 * second, source=3)
    notification = stream.receive().idle_timeout_notification
    told = p4r.TableEntry()
    told.CopyFrom(timed)
    told.ClearField("action")
    assert list(notification.table_entry) == [told]
    assert notification.timestamp > 0
    # A modification without an action changes the timeout.
    client.write(update(MODIFY, p4r.TableEntry(table_id=timed.table_id, match=timed.match)), election_id=2)
    sent(switch, 30 * second, source=3)
    assert read(client, p4r.TableEntry(table_id=timed.table_id))[0] == known_source(1)


@pytest.mark.parametrize(
    ("table", "fields", "words"),
    [
        ("switching", {"time_since_last_hit": {}}, "time_since_last_hit"),
        ("known_sources", {"time_since_last_hit": {}, "is_default_action": True}, "time_since_last_hit"),
    ],
)
def test_times_that_are_not_kept(client: Client, table: str, fields: dict[str, object], words: str) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        read(client, p4r.TableEntry(table_id=NAMES.table[table], **fields))
    ((code, message),) = errors(caught.value)
    assert code == rpc_code.INVALID_ARGUMENT
    assert words in message


def test_negative_idle_timeout(client: Client) -> None:
    outcome = refused(client, update(INSERT, known_source(1, idle_timeout_ns=-1)))
    assert outcome[0][0] == rpc_code.INVALID_ARGUMENT


def test_value_sets(client: Client) -> None:
    program = text_format.Parse((BUILT / "parser_value_set.p4info.txtpb").read_text(), p4i.P4Info())
    client.configure(info=program, config=(BUILT / "parser_value_set.json").read_bytes())
    (info,) = program.value_sets
    empty = p4r.ValueSetEntry(value_set_id=info.preamble.id)
    assert read(client, p4r.ValueSetEntry()) == [empty]
    both = p4r.ValueSetEntry(value_set_id=info.preamble.id)
    for kind in (0x1234, 0x5678):
        both.members.add().match.add(field_id=1).exact.value = kind.to_bytes(2, "big")
    client.write(update(MODIFY, both))
    assert read(client, empty) == [both]
    twice = p4r.ValueSetEntry(value_set_id=info.preamble.id, members=[both.members[0]] * 2)
    full = p4r.ValueSetEntry(value_set_id=info.preamble.id)
    for kind in range(1, info.size + 2):
        full.members.add().match.add(field_id=1).exact.value = bytes([kind])
    bare = p4r.ValueSetEntry(value_set_id=info.preamble.id, members=[p4r.ValueSetMember()])
    for wrong, code in (
        (update(MODIFY, twice), rpc_code.ALREADY_EXISTS),
        (update(MODIFY, full), rpc_code.RESOURCE_EXHAUSTED),
        (update(MODIFY, bare), rpc_code.INVALID_ARGUMENT),
        (update(INSERT, both), rpc_code.INVALID_ARGUMENT),
        (update(MODIFY, p4r.ValueSetEntry(value_set_id=3)), rpc_code.INVALID_ARGUMENT),
    ):
        assert refused(client, wrong)[0][0] == code
    assert read(client, empty) == [both]
    client.write(update(MODIFY, empty))
    assert read(client, empty) == [empty]
