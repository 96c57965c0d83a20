"""Forwarding-pipeline configuration: every action, every response type, and what is refused."""

import json

import grpc
import pytest
from finsy.proto import p4i, p4r

from phb_switch import Switch

from .support import DEVICE, NAMES, Client, artifact, connect, insert, ipv4, p4info, route

Request = p4r.SetForwardingPipelineConfigRequest
Response = p4r.GetForwardingPipelineConfigRequest
EVERYTHING = p4r.Entity(table_entry=p4r.TableEntry(table_id=NAMES.table["cross_connect"]))


def refused(client: Client, action: int = Request.VERIFY, **options: object) -> grpc.RpcError:
    with pytest.raises(grpc.RpcError) as caught:
        client.configure(action, **options)
    return caught.value


def get(client: Client, response_type: int = Response.ALL) -> p4r.GetForwardingPipelineConfigResponse:
    return client.stub.GetForwardingPipelineConfig(
        p4r.GetForwardingPipelineConfigRequest(device_id=DEVICE, response_type=response_type)
    )


def test_get(client: Client) -> None:
    assert not get(client).HasField("config")
    client.primary()
    client.configure(cookie=99)
    config = get(client).config
    assert (config.p4info, config.p4_device_config, config.cookie.cookie) == (p4info(), artifact(), 99)
    config = get(client, Response.COOKIE_ONLY).config
    assert (config.HasField("p4info"), config.p4_device_config, config.cookie.cookie) == (False, b"", 99)
    config = get(client, Response.P4INFO_AND_COOKIE).config
    assert (config.HasField("p4info"), config.p4_device_config, config.cookie.cookie) == (True, b"", 99)
    config = get(client, Response.DEVICE_CONFIG_AND_COOKIE).config
    assert (config.HasField("p4info"), config.p4_device_config, config.cookie.cookie) == (False, artifact(), 99)


def wrapped(config: bytes) -> bytes:
    """A program in p4.tmp.P4DeviceConfig: `reassign`, and the program as `device_data`."""
    length, varint = len(config), b""
    while length > 127:
        varint += bytes([length & 127 | 128])
        length >>= 7
    return b"\x08\x01" + b"\x1a" + varint + bytes([length]) + config


@pytest.mark.parametrize("manners", ["client", "like_bmv2"])
def test_pis_old_wrapping(manners: str, request: pytest.FixtureRequest, switch: Switch) -> None:
    client = request.getfixturevalue(manners)
    client.primary()
    client.configure(config=wrapped(artifact()))
    assert get(client).config.p4_device_config == wrapped(artifact())
    client.write(insert(connect(0, 1)))
    assert [port for _, port, _ in switch.process(0, ipv4(), 1)] == [1]


def test_verify_changes_nothing(client: Client, switch: Switch) -> None:
    client.primary()
    client.configure(Request.VERIFY)
    assert not switch.loaded
    assert not get(client).HasField("config")


def test_save_then_commit(configured: Client, switch: Switch) -> None:
    configured.write(insert(connect(0, 1)))
    configured.configure(Request.VERIFY_AND_SAVE, cookie=2)
    # Reads and writes refer to the saved config; packets still meet the old one.
    assert configured.read(EVERYTHING) == []
    configured.write(insert(connect(0, 2)))
    assert [port for _, port, _ in switch.process(0, ipv4(), 1)] == [1]
    configured.configure(Request.COMMIT, empty=True)
    assert [port for _, port, _ in switch.process(0, ipv4(), 2)] == [2]
    assert get(configured).config.cookie.cookie == 2


def test_commit_without_save(configured: Client) -> None:
    error = refused(configured, Request.COMMIT, empty=True)
    assert error.code() == grpc.StatusCode.NOT_FOUND
    error = refused(configured, Request.COMMIT)
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_commit_clears(configured: Client, switch: Switch) -> None:
    configured.write(insert(connect(0, 1)))
    configured.configure()
    assert configured.read(EVERYTHING) == []
    assert switch.process(0, ipv4(), 1) == []


def test_reconcile_keeps_state(configured: Client, switch: Switch) -> None:
    counted = route(b"\x0a\x00\x00\x00", 8, port=2)
    counted.counter_data.packet_count = 4
    configured.write(insert(connect(0, 1)), insert(counted))
    switch.process(0, ipv4("10.0.0.1"), 1)
    configured.configure(Request.RECONCILE_AND_COMMIT, cookie=3)
    assert [entity.table_entry for entity in configured.read(EVERYTHING)] == [connect(0, 1)]
    assert switch.read_counter("RouterIngress.class_traffic", 0, 1) == [(1, 60)]
    assert switch.read_register("RouterIngress.last_length", 0, 1) == [46]
    (direct,) = configured.read(p4r.Entity(direct_counter_entry=p4r.DirectCounterEntry()))
    assert direct.direct_counter_entry.data.packet_count == 5
    assert [port for _, port, _ in switch.process(0, ipv4("10.0.0.1"), 2)] == [2]


def test_reconcile_refuses_what_does_not_fit(configured: Client, switch: Switch) -> None:
    configured.write(insert(connect(0, 1)))
    smaller = p4info()
    for table in smaller.tables:
        if table.preamble.alias == "cross_connect":
            smaller.tables.remove(table)
    error = refused(configured, Request.RECONCILE_AND_COMMIT, info=smaller)
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "does not fit" in error.details()
    assert [port for _, port, _ in switch.process(0, ipv4(), 1)] == [1]


def test_first_config_may_reconcile(client: Client) -> None:
    client.primary()
    client.configure(Request.RECONCILE_AND_COMMIT)
    assert get(client).HasField("config")


@pytest.mark.parametrize("action", [Request.VERIFY, Request.VERIFY_AND_SAVE, Request.VERIFY_AND_COMMIT])
def test_wrong_artifact_names_its_place(configured: Client, switch: Switch, action: int) -> None:
    program = json.loads(artifact())
    program["actions"][4]["primitives"][0]["op"] = "levitate"
    error = refused(configured, action, config=json.dumps(program).encode())
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "artifact /actions/4/primitives/0" in error.details()
    assert switch.loaded


def wrong_table(info: p4i.P4Info) -> None:
    info.tables[0].preamble.name = "RouterIngress.absent"


def wrong_width(info: p4i.P4Info) -> None:
    info.tables[0].match_fields[0].bitwidth = 16


def wrong_parameter(info: p4i.P4Info) -> None:
    next(action for action in info.actions if action.params).params[0].name = "absent"


def wrong_size(info: p4i.P4Info) -> None:
    info.counters[0].size = 9


def wrong_reference(info: p4i.P4Info) -> None:
    info.tables[0].action_refs[0].id = 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (wrong_table, "table RouterIngress.absent is not in the artifact"),
        (wrong_width, "has the keys ingress_port exact(16) in the p4info, ingress_port exact(9) in the artifact"),
        (wrong_parameter, "has other parameters there"),
        (wrong_size, "counter RouterIngress.class_traffic[9]"),
        (wrong_reference, "refers to action 1, which is not there"),
    ],
)
def test_p4info_must_agree(client: Client, change: object, words: str) -> None:
    client.primary()
    info = p4info()
    assert callable(change)
    change(info)
    error = refused(client, info=info)
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert words in error.details()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"empty": True}, "no config"),
        ({"config": b""}, "no p4_device_config"),
        ({"config": b"\xff\xfe"}, "not UTF-8"),
        ({"config": b"{"}, "artifact"),
        ({"action": Request.UNSPECIFIED}, "the action is not set"),
    ],
)
def test_bad_requests(client: Client, options: dict[str, object], words: str) -> None:
    client.primary()
    error = refused(client, **options)
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert words in error.details()


def test_only_the_primary(client: Client) -> None:
    assert refused(client).code() == grpc.StatusCode.PERMISSION_DENIED


def test_large_configs_are_accepted(client: Client) -> None:
    client.primary()
    program = json.loads(artifact())
    program["__meta__"]["padding"] = "x" * (6 << 20)
    client.configure(config=json.dumps(program).encode())
    with pytest.raises(grpc.RpcError) as caught:
        get(client)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED  # this client's own limit, for what it receives


def test_capabilities(client: Client) -> None:
    assert client.stub.Capabilities(p4r.CapabilitiesRequest()).p4runtime_api_version.startswith("1.")
    with pytest.raises(grpc.RpcError) as caught:
        client.stub.Capabilities(p4r.CapabilitiesRequest(device_id=DEVICE + 1))
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
