"""Rights that the switch grants roles, which `role.config` can only narrow."""

from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from finsy.proto import gnmi, gnmi_grpc, p4r, rpc_code, stratum
from google.protobuf.message import Message

from phb_switch import Binding, P4RuntimeServer, Role, Switch

from .certificates import Certificates
from .support import (
    DEVICE,
    NAMES,
    Client,
    Names,
    artifact,
    connect,
    entity,
    errors,
    insert,
    ipv4,
    p4info,
    route,
    with_action,
)
from .test_features import member
from .test_packet_io import out
from .test_roles import arbitrate, read, refused, role_config, write

DENIED = grpc.StatusCode.PERMISSION_DENIED
FEATURES = Names(p4info("features"))

ROLES = [
    Role("edge", objects=["RouterIngress.cross_connect", NAMES.register["last_length"]]),
    Role("everything", packet_in=True, packet_out=True, pipeline=True, replication=True),
    Role("packets", objects=[], packet_in=True, packet_out=True),
    Role("shapes", objects=[], gnmi=["/qos", "/interfaces/interface[name=eth1]/ethernet"]),
]
BINDINGS = [
    Binding("operator"),
    *(Binding(name, roles={name}) for name in ("everything", "packets", "shapes", "other")),
]
BINDINGS += [Binding("edge", roles={"edge", "shapes"}), Binding("looks", roles={"shapes"}, read_only=True)]


@pytest.fixture
def connected(switch: Switch, certificates: Certificates) -> Iterator[Callable[[str], Client]]:
    """Makes clients with a certificate; the default role's primary has loaded a program."""
    clients: list[Client] = []
    more = {"tls": certificates.tls(), "bindings": BINDINGS, "roles": ROLES, "names": {1: "eth1", 2: "eth2"}}
    with P4RuntimeServer(switch, device_id=DEVICE, **more) as server:

        def client(name: str) -> Client:
            clients.append(Client(f"localhost:{server.address.rpartition(':')[2]}", certificates.client(name)))
            return clients[-1]

        operator = client("operator")
        operator.primary()
        operator.configure()
        yield client
        for each in clients:
            each.close()


def primary_of(client: Client, role: str, config: Message | None = None) -> Client:
    arbitrate(client.stream(), role, config)
    assert client._streams[-1].receive().arbitration.status.code == rpc_code.OK
    return client


def multicast() -> p4r.Update:
    made = p4r.Update(type=p4r.Update.INSERT)
    made.entity.packet_replication_engine_entry.multicast_group_entry.multicast_group_id = 1
    return made


def outcomes(call: Callable[[], object]) -> list[int]:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return [code for code, _ in errors(caught.value)]


def configured(client: Client, role: str) -> grpc.StatusCode | None:
    """How a role fares that sets the pipeline config."""
    request = p4r.SetForwardingPipelineConfigRequest(device_id=DEVICE, role=role, election_id=p4r.Uint128(low=1))
    request.action = p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
    request.config.p4info.CopyFrom(p4info())
    request.config.p4_device_config = artifact()
    try:
        client.stub.SetForwardingPipelineConfig(request)
    except grpc.RpcError as error:
        return error.code()
    return None


def test_objects(connected: Callable[[str], Client]) -> None:
    edge = primary_of(connected("edge"), "edge")
    write(edge, "edge", insert(connect(0, 1)))
    assert outcomes(lambda: write(edge, "edge", insert(connect(1, 1)), insert(route(b"\x0a\0\0\0", 8)))) == [
        rpc_code.OK,
        rpc_code.PERMISSION_DENIED,
    ]
    assert {found.table_entry.table_id for found in read(edge, "edge", p4r.TableEntry())} == {
        NAMES.table["cross_connect"]
    }
    assert len(read(edge, "edge", p4r.RegisterEntry())) == 16
    assert read(edge, "edge", p4r.CounterEntry(), p4r.MeterEntry(), p4r.DirectCounterEntry()) == []
    assert outcomes(lambda: write(edge, "edge", multicast())) == [rpc_code.PERMISSION_DENIED]
    assert configured(edge, "edge") == DENIED


def test_a_config_takes_away_and_gives_nothing(connected: Callable[[str], Client]) -> None:
    tables = [NAMES.table[name] for name in ("cross_connect", "ipv4_route")]
    config = role_config(shared_p4_ids=tables, can_push_pipeline=True, receives_packet_ins=True)
    edge = primary_of(connected("edge"), "edge", config)
    write(edge, "edge", insert(connect(0, 1)))
    assert outcomes(lambda: write(edge, "edge", insert(route(b"\x0a\0\0\0", 8)))) == [rpc_code.PERMISSION_DENIED]
    assert read(edge, "edge", p4r.RegisterEntry()) == []  # it has not asked for it
    assert configured(edge, "edge") == DENIED
    everything = primary_of(connected("everything"), "everything", role_config(shared_p4_ids=tables[1:]))
    write(everything, "everything", insert(route(b"\x0a\0\0\0", 8)))
    assert outcomes(lambda: write(everything, "everything", insert(connect(1, 1)))) == [rpc_code.PERMISSION_DENIED]
    assert outcomes(lambda: write(everything, "everything", multicast())) == [rpc_code.PERMISSION_DENIED]
    assert configured(everything, "everything") == DENIED


def test_a_role_with_every_right(connected: Callable[[str], Client]) -> None:
    client = primary_of(connected("everything"), "everything")
    write(client, "everything", insert(route(b"\x0a\0\0\0", 8)), insert(connect(0, 1)), multicast())
    assert len(read(client, "everything", p4r.PacketReplicationEngineEntry())) == 1
    assert configured(client, "everything") is None


def test_a_role_that_is_not_described(connected: Callable[[str], Client]) -> None:
    """It has the objects of its config, and nothing else."""
    other = primary_of(connected("other"), "other")
    assert outcomes(lambda: write(other, "other", insert(connect(0, 1)))) == [rpc_code.PERMISSION_DENIED]
    assert read(other, "other", p4r.TableEntry(), p4r.RegisterEntry()) == []
    other._streams[-1].close()
    config = role_config(shared_p4_ids=[NAMES.table["cross_connect"]], can_push_pipeline=True)
    other = connected("other")
    stream = other.stream()
    arbitrate(stream, "other", config)
    assert stream.receive().arbitration.status.code == rpc_code.OK
    write(other, "other", insert(connect(0, 1)))
    assert outcomes(lambda: write(other, "other", multicast())) == [rpc_code.PERMISSION_DENIED]
    assert configured(other, "other") == DENIED


def test_nothing_else_is_seen(connected: Callable[[str], Client]) -> None:
    """Objects that are no tables: action profiles, value sets, digests, multicast groups."""
    operator = connected("operator")
    stream = operator.stream()
    stream.arbitrate(2)
    assert stream.receive().arbitration.status.code == rpc_code.OK
    request = p4r.SetForwardingPipelineConfigRequest(device_id=DEVICE, election_id=p4r.Uint128(low=2))
    request.action = p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
    request.config.p4info.CopyFrom(p4info("features"))
    request.config.p4_device_config = artifact("features")
    operator.stub.SetForwardingPipelineConfig(request)
    digest = p4r.DigestEntry(digest_id=FEATURES.digest["learned_t"])
    digest.config.max_list_size = 1
    updates = [p4r.Update(type=p4r.Update.INSERT, entity=entity(each)) for each in (digest, member(1, 2))]
    operator.write(multicast(), *updates, election_id=2)
    packets = primary_of(connected("packets"), "packets")
    wildcards = [
        p4r.TableEntry(),
        p4r.ActionProfileMember(),
        p4r.ActionProfileGroup(),
        p4r.ValueSetEntry(),
        p4r.DigestEntry(),
        p4r.PacketReplicationEngineEntry(),
        p4r.RegisterEntry(),
    ]
    for wildcard in wildcards:
        assert read(packets, "packets", wildcard) == [], wildcard.DESCRIPTOR.name
    there = read(operator, "", p4r.DigestEntry(), p4r.ActionProfileMember(), p4r.PacketReplicationEngineEntry())
    assert len(there) == 3


def test_packets(connected: Callable[[str], Client], switch: Switch) -> None:
    to_controller = connect(3, 0)
    to_controller.ClearField("action")
    connected("operator")
    edge, packets, other = (primary_of(connected(name), name) for name in ("edge", "packets", "other"))
    everything = primary_of(connected("everything"), "everything")
    write(everything, "everything", insert(with_action(to_controller, "to_controller", 5)))
    switch.process(3, ipv4(), 1000)
    for client in (packets, everything):
        assert client._streams[0].receive().packet.metadata[0].value == b"\x03"
    for client in (edge, other):
        stream = client._streams[0]
        stream.send(out(2, b"x" * 60))
        error = stream.receive().error
        assert error.canonical_code == rpc_code.PERMISSION_DENIED
        assert error.message.startswith("role '")
        assert stream.silent()
    packets._streams[0].send(out(2, bytes(60)))
    packets._streams[0].send(p4r.StreamMessageRequest())  # its answer says that the packet before it has arrived
    assert packets._streams[0].receive().error.canonical_code == rpc_code.INVALID_ARGUMENT
    assert switch.statistics()["injected"] == 1


POLICY = ("qos", "scheduler-policies", "scheduler-policy[name=slow]", "config", "name")
SPEED = ("interfaces", "interface[name=eth1]", "ethernet", "config", "port-speed")


def path(*elements: str) -> gnmi.Path:
    made = gnmi.Path()
    for element in elements:
        name, _, key = element.rstrip("]").partition("[")
        made.elem.add(name=name, key=dict([key.split("=", 1)]) if key else {})
    return made


def text(value: str) -> gnmi.TypedValue:
    return gnmi.TypedValue(string_val=value)


def json(value: str) -> gnmi.TypedValue:
    return gnmi.TypedValue(json_ietf_val=value.encode())


OTHER_SPEED = [element.replace("eth1", "eth2") for element in SPEED]
RIGHT = gnmi.Update(path=path(*POLICY), val=text("slow"))


@pytest.mark.parametrize(
    ("request_", "allowed"),
    [
        (gnmi.SetRequest(update=[RIGHT]), True),
        (gnmi.SetRequest(update=[RIGHT, gnmi.Update(path=path(*SPEED), val=text("SPEED_1GB"))]), True),
        (gnmi.SetRequest(prefix=path("qos"), update=[gnmi.Update(path=path(*POLICY[1:]), val=text("slow"))]), True),
        (gnmi.SetRequest(delete=[path("qos")]), True),
        (gnmi.SetRequest(delete=[path("openconfig-qos:qos")]), True),
        # One path that is not the role's is enough.
        (gnmi.SetRequest(update=[RIGHT, gnmi.Update(path=path(*OTHER_SPEED), val=text("SPEED_1GB"))]), False),
        (gnmi.SetRequest(update=[RIGHT], delete=[path("interfaces")]), False),
        (gnmi.SetRequest(update=[RIGHT], replace=[gnmi.Update(path=path(), val=json("{}"))]), False),
        # Nor is what it lies in, or what looks like it.
        (gnmi.SetRequest(), False),
        (gnmi.SetRequest(delete=[path()]), False),
        (gnmi.SetRequest(delete=[path("interfaces", "interface[name=eth1]")]), False),
        (gnmi.SetRequest(delete=[path("*")]), False),
        (gnmi.SetRequest(delete=[path("...")]), False),
        (gnmi.SetRequest(delete=[path("interfaces", "interface[name=*]", "ethernet")]), False),
        (gnmi.SetRequest(delete=[path("interfaces", "interface", "ethernet")]), False),
        (gnmi.SetRequest(prefix=path("interfaces"), delete=[path("qos")]), False),
        (gnmi.SetRequest(prefix=path("interfaces"), delete=[path()]), False),
    ],
)
def test_gnmi(connected: Callable[[str], Client], request_: gnmi.SetRequest, allowed: bool) -> None:
    for name in ("shapes", "edge"):
        stub = gnmi_grpc.gNMIStub(connected(name).channel)
        if allowed:
            stub.Set(request_)
        else:
            with pytest.raises(grpc.RpcError) as caught:
                stub.Set(request_)
            assert caught.value.code() == DENIED
    for name in ("packets", "looks", "other"):
        stub = gnmi_grpc.gNMIStub(connected(name).channel)
        with pytest.raises(grpc.RpcError) as caught:
            stub.Set(request_)
        assert caught.value.code() == DENIED
        assert stub.Get(gnmi.GetRequest(path=[path()], encoding=gnmi.PROTO)).notification


def test_names_of_keys_do_not_widen_a_path(certificates: Certificates, switch: Switch) -> None:
    """A key may have any characters, those that paths are written with among them."""
    role = Role("shapes", gnmi=["/qos/scheduler-policies/scheduler-policy[name=slow]"])
    more = {"tls": certificates.tls(), "bindings": [Binding("shapes", roles={"shapes"})], "roles": [role]}
    with P4RuntimeServer(switch, device_id=DEVICE, **more) as server:
        client = Client(f"localhost:{server.address.rpartition(':')[2]}", certificates.client("shapes"))
        stub = gnmi_grpc.gNMIStub(client.channel)
        stub.Set(gnmi.SetRequest(update=[RIGHT]))
        for name in ("slow]/x", "slow]", "slow][name=x"):
            wanted = path(*POLICY)
            wanted.elem[2].key["name"] = name
            with pytest.raises(grpc.RpcError) as caught:
                stub.Set(gnmi.SetRequest(update=[gnmi.Update(path=wanted, val=text(name))]))
            assert caught.value.code() == DENIED, name
        client.close()


def test_roles_mean_nothing_without_bindings(tmp_path: Path, switch: Switch) -> None:
    """In clear text anybody may do anything, so there is nothing to hold a client to."""
    with P4RuntimeServer(switch, device_id=DEVICE, address=f"unix:{tmp_path / 'switch'}", roles=ROLES) as server:
        client = Client(server.address)
        client.primary()
        client.configure()
        primary_of(client, "edge", stratum.P4RoleConfig(shared_p4_ids=[NAMES.table["ipv4_route"]]))
        write(client, "edge", insert(route(b"\x0a\0\0\0", 8)))
        assert refused(client, "", role_config()).code() == grpc.StatusCode.INVALID_ARGUMENT
        client.close()
