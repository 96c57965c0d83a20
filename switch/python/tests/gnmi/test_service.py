"""Capabilities, Get and Set over gRPC."""

import json
from typing import Any

import grpc
import pytest
from finsy.proto import gnmi

from phb_switch import PortConfig, Shaper

from .support import Client, path, serving, text

INVALID = grpc.StatusCode.INVALID_ARGUMENT
SPEED = "/interfaces/interface[name=eth1]/ethernet/config/port-speed"
POLICY = "/qos/scheduler-policies/scheduler-policy[name=slow]"
SHAPER = f"{POLICY}/schedulers/scheduler[sequence=0]/one-rate-two-color/config"
BINDING = "/qos/interfaces/interface[interface-id=eth1]/output/scheduler-policy/config/name"


def as_json(content: Any) -> gnmi.TypedValue:
    return gnmi.TypedValue(json_ietf_val=json.dumps(content).encode())


def test_capabilities() -> None:
    with serving() as (_, client):
        response = client.stub.Capabilities(gnmi.CapabilityRequest())
        assert {model.name for model in response.supported_models} == {
            "openconfig-interfaces",
            "openconfig-if-ethernet",
            "openconfig-p4rt",
            "openconfig-qos",
            "phb-interfaces",
            "phb-qos",
            "phb-controller",
            "phb-program",
            "phb-server",
        }
        assert set(response.supported_encodings) == {gnmi.JSON, gnmi.JSON_IETF, gnmi.PROTO}
        assert response.gNMI_version == "0.10.0"


def test_get_leaves() -> None:
    with serving() as (_, client):
        values = client.values("/interfaces/interface[name=eth2]/state")
        root = "/interfaces/interface[name=eth2]/state"
        assert values[f"{root}/name"] == "eth2"
        assert values[f"{root}/type"] == "ethernetCsmacd"
        assert values[f"{root}/id"] == 2
        assert values[f"{root}/oper-status"] == "UNKNOWN"
        assert values[f"{root}/counters/in-octets"] == 0
        names = client.values("/interfaces/interface/name")
        assert names == {f"/interfaces/interface[name=eth{n}]/name": f"eth{n}" for n in (1, 2)}
        assert client.values("/.../in-pkts").keys() == client.values("/interfaces/*/state/counters/in-pkts").keys()
        assert client.values("/interfaces/interface[name=*]/state/counters/levitations") == {}


def test_get_json() -> None:
    slow = PortConfig(rate_bps=64_000, shaper=Shaper(64_000, 1000, -14))
    with serving({1: slow, 2: PortConfig(rate_bps=64_000)}) as (_, client):
        (update,) = client.get("/qos/scheduler-policies", encoding=gnmi.JSON_IETF, kind=gnmi.GetRequest.CONFIG)
        assert text(update.path) == "/qos/scheduler-policies"
        leaves = {"bc": 1000, "cir": "64000", "phb-qos:overhead": -14, "queuing-behavior": "SHAPE"}
        shaper = {"config": leaves}
        scheduler = {"sequence": 0, "config": {"sequence": 0}, "one-rate-two-color": shaper}
        assert json.loads(update.val.json_ietf_val) == {
            "openconfig-qos:scheduler-policy": [
                {"name": "eth1", "config": {"name": "eth1"}, "schedulers": {"scheduler": [scheduler]}}
            ]
        }
        client.set(update={SPEED: "SPEED_1GB"})
        (leaf,) = client.get(SPEED, encoding=gnmi.JSON_IETF)
        assert json.loads(leaf.val.json_ietf_val) == "openconfig-if-ethernet:SPEED_1GB"
        (plain,) = client.get(
            f"/qos/scheduler-policies/scheduler-policy[name=eth1]{SHAPER[len(POLICY) :]}/cir", encoding=gnmi.JSON
        )
        assert json.loads(plain.val.json_val) == 64_000
        (state,) = client.get("/interfaces/interface[name=eth1]/state", encoding=gnmi.JSON_IETF)
        content = json.loads(state.val.json_ietf_val)
        assert content["openconfig-p4rt:id"] == 1
        assert content["openconfig-interfaces:type"] == "iana-if-type:ethernetCsmacd"
        assert content["openconfig-interfaces:counters"]["in-octets"] == "0"
        (root,) = client.get("/", encoding=gnmi.JSON)
        assert set(json.loads(root.val.json_val)) == {"controller", "interfaces", "qos", "server"}
        entries = client.get("/interfaces/interface", encoding=gnmi.JSON)
        assert [text(each.path) for each in entries] == [f"/interfaces/interface[name=eth{n}]" for n in (1, 2)]


@pytest.mark.parametrize(
    ("where", "code", "words"),
    [
        ("/interfaces/interface[name=eth9]/state", grpc.StatusCode.NOT_FOUND, "/interfaces/interface[name=eth9]/state"),
        ("/interfaces/levitation", INVALID, "/interfaces/levitation: the models here have no such node"),
        (SPEED, grpc.StatusCode.NOT_FOUND, "there is nothing"),
    ],
)
def test_get_nothing(where: str, code: grpc.StatusCode, words: str) -> None:
    with serving() as (_, client):
        with pytest.raises(grpc.RpcError) as caught:
            client.get(where)
        assert caught.value.code() == code
        assert words in caught.value.details()


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (gnmi.GetRequest(encoding=gnmi.ASCII), grpc.StatusCode.UNIMPLEMENTED),
        (gnmi.GetRequest(encoding=9), INVALID),  # type: ignore[arg-type]
        (gnmi.GetRequest(type=9), INVALID),  # type: ignore[arg-type]
        (gnmi.GetRequest(use_models=[gnmi.ModelData(name="openconfig-bgp")]), INVALID),
        (gnmi.GetRequest(path=[gnmi.Path(origin="cli")]), INVALID),
    ],
)
def test_get_refused(request_: gnmi.GetRequest, code: grpc.StatusCode) -> None:
    with serving() as (_, client):
        with pytest.raises(grpc.RpcError) as caught:
            client.stub.Get(request_)
        assert caught.value.code() == code


def test_shaper_and_speed() -> None:
    with serving({1: PortConfig(overhead_bytes=-7, transmit_ring=6), 2: PortConfig()}) as (switch, client):
        response = client.set(
            update={f"{SHAPER}/cir": 256_000, f"{SHAPER}/max-queue-depth-packets": 40, BINDING: "slow"}
        )
        assert [each.op for each in response.response] == [gnmi.UpdateResult.UPDATE] * 3
        limited = PortConfig(overhead_bytes=-7, transmit_ring=6, buffer_packets=40, queue_depth=40)
        limited.shaper = Shaper(256_000, 0, -7)
        assert switch.ports() == {1: limited, 2: PortConfig()}
        client.set(update={f"{SHAPER}/bc": 8000})
        limited.shaper = Shaper(256_000, 8000, -7)
        assert switch.ports()[1] == limited
        overhead = f"{SHAPER}/overhead"
        client.set(update={overhead: gnmi.TypedValue(int_val=-14)})
        limited.shaper = Shaper(256_000, 8000, -14)
        assert switch.ports()[1] == limited
        assert client.values(overhead.replace("config", "state")) == {overhead.replace("config", "state"): -14}
        client.set(update={SPEED: "SPEED_10MB"})
        assert (switch.ports()[1].rate_bps, switch.ports()[1].shaper) == (10_000_000, limited.shaper)
        client.set(delete=[BINDING])
        assert switch.ports()[1] == PortConfig(rate_bps=10_000_000, overhead_bytes=-7, transmit_ring=6)
        client.set(update={SPEED: "SPEED_100GB"}, delete=[POLICY])
        assert switch.ports()[1].rate_bps == 100_000_000_000
        assert client.values(SPEED.replace("config", "state")) == {SPEED.replace("config", "state"): "SPEED_100GB"}
        client.set(delete=["/interfaces", "/qos"])
        assert switch.ports()[1] == PortConfig(overhead_bytes=-7, transmit_ring=6)
        assert len(client.values("/interfaces/interface/config/name")) == 2


def test_the_line_is_what_the_command_line_said_or_slower() -> None:
    with serving({1: PortConfig(rate_bps=64_000_000), 2: PortConfig()}) as (switch, client):
        for speed, rate in (("SPEED_10MB", 10_000_000), ("SPEED_1GB", 64_000_000)):
            client.set(update={SPEED: speed})
            assert switch.ports()[1].rate_bps == rate
        client.set(delete=["/interfaces", "/qos"])
        assert switch.ports()[1].rate_bps == 64_000_000


def test_set_json() -> None:
    with serving() as (switch, client):
        scheduler = {
            "sequence": 3,
            "config": {"sequence": 3},
            "one-rate-two-color": {"config": {"cir": "64000", "queuing-behavior": "SHAPE"}},
        }
        policy = {"name": "slow", "config": {"name": "slow"}, "schedulers": {"scheduler": [scheduler]}}
        client.set(
            update={
                "/qos": as_json(
                    {
                        "openconfig-qos:scheduler-policies": {"scheduler-policy": [policy]},
                        "openconfig-qos:interfaces": {
                            "interface": [
                                {"interface-id": "eth2", "output": {"scheduler-policy": {"config": {"name": "slow"}}}}
                            ]
                        },
                    }
                ),
            }
        )
        assert switch.ports()[2].shaper == Shaper(64_000)
        scheduler["one-rate-two-color"] = {"config": {"cir": 9600}}
        client.set(replace={"/qos/scheduler-policies/scheduler-policy[name=slow]": as_json(policy)})
        assert switch.ports()[2].shaper == Shaper(9600)
        # What a replacement does not name is gone; the binding would point to nothing.
        words = client.refused(INVALID, replace={"/qos/scheduler-policies": as_json({})})
        assert "/qos/interfaces/interface[interface-id=eth2]" in words
        assert "there is no scheduler policy 'slow'" in words
        assert switch.ports()[2].shaper == Shaper(9600)


@pytest.mark.parametrize(
    ("operations", "words"),
    [
        ({"update": {SPEED: "SPEED_3MB"}}, f"{SPEED}: expected one of SPEED_10MB"),
        ({"update": {SPEED.replace("eth1", "eth9"): "SPEED_1GB"}}, "there is no interface 'eth9'"),
        ({"update": {SPEED: 7}}, f"{SPEED}: expected an identity, found 7"),
        (
            {"update": {f"{SHAPER}/cir": "fast"}},
            f'{SHAPER}/cir: expected a number from 0 to 18446744073709551615, found "fast"',
        ),
        ({"update": {f"{SHAPER}/cir": 0}}, f"{SHAPER}/cir: expected a rate from 1"),
        ({"update": {f"{SHAPER}/cir": 1 << 63}}, f"{SHAPER}/cir: expected a rate from 1"),
        ({"update": {f"{SHAPER}/max-queue-depth-packets": 0}}, "expected at least 1 packet"),
        ({"update": {f"{SHAPER}/max-queue-depth-packets": 1 << 32}}, "expected a number from 0 to 4294967295"),
        ({"update": {f"{SHAPER}/queuing-behavior": "LEVITATE"}}, "expected SHAPE or POLICE"),
        ({"update": {f"{SHAPER}/bc": 7, BINDING: "slow"}}, f"{SHAPER}/bc: a shaper without a cir"),
        ({"update": {f"{SHAPER}/overhead": 7, BINDING: "slow"}}, f"{SHAPER}/overhead: a shaper without a cir"),
        ({"update": {f"{SHAPER}/bc": 1 << 32}}, f"{SHAPER}/bc: expected a number from 0 to 4294967295"),
        ({"update": {f"{SHAPER}/bc": gnmi.TypedValue(int_val=-1)}}, f"{SHAPER}/bc: expected a number from 0 to"),
        (
            {"update": {f"{SHAPER}/overhead": 1 << 31}},
            f"{SHAPER}/overhead: expected a number from -2147483648 to 2147483647, found 2147483648",
        ),
        ({"update": {f"{SHAPER}/be": 7}}, f"{SHAPER}/be: the models here have no such node"),
        ({"update": {BINDING: "absent"}}, f"{BINDING}: there is no scheduler policy 'absent'"),
        ({"update": {"/interfaces/interface[name=eth1]/state/oper-status": "UP"}}, "oper-status: can't be set"),
        ({"update": {"/interfaces/interface[name=eth1]/config/name": "eth2"}}, "which is not the key"),
        ({"update": {"/interfaces/interface[name=eth1]/config/type": "other"}}, "expected ethernetCsmacd"),
        ({"update": {"/interfaces/interface[name=*]/ethernet/config/port-speed": "x"}}, "a wildcard can't be set"),
        ({"update": {"/interfaces/interface/ethernet/config/port-speed": "x"}}, "expected the key name"),
        ({"update": {"/interfaces[name=x]/interface": "x"}}, "expected no key"),
        ({"update": {"/interfaces": gnmi.TypedValue(json_val=b"{")}}, "the value is not JSON"),
        ({"update": {"/interfaces": as_json([])}}, "expected an object, found []"),
        ({"update": {"/interfaces": as_json({"interface": {}})}}, "expected a list, found {}"),
        ({"update": {"/interfaces": as_json({"interface": [{}]})}}, "an entry has no key name"),
        ({"update": {"/interfaces": as_json({"interface": [7]})}}, "expected a list of objects, found 7"),
        ({"update": {"/levitation": as_json({})}}, "/levitation: the models here have no such node"),
        ({"update": {SPEED: gnmi.TypedValue(bool_val=True)}}, "a value of type bool_val fits no leaf here"),
        ({"update": {SPEED: gnmi.TypedValue()}}, "a value of type nothing"),
        ({"update": {SHAPER.replace("[sequence=0]", "[sequence=x]") + "/cir": 7}}, "found 'x'"),
        ({"delete": ["/levitation"]}, "/levitation: the models here have no such node"),
        ({"delete": ["/interfaces/interface[name=eth1]/state/oper-status"]}, "can't be set"),
        (
            {"update": {f"{SHAPER}/cir": 7, SHAPER.replace("=0", "=1") + "/cir": 8, BINDING: "slow"}},
            "the scheduler policy 'slow' has 2 schedulers",
        ),
    ],
)
def test_set_is_all_or_nothing(operations: dict[str, Any], words: str) -> None:
    """Each request has something right in front of what is wrong."""
    with serving() as (switch, client):
        before = client.values("/interfaces/interface/config", "/qos")
        right = {"/interfaces/interface[name=eth2]/ethernet/config/port-speed": "SPEED_1GB"}
        operations = {**operations, "update": {**right, **operations.get("update", {})}}
        assert words in client.refused(INVALID, **operations)
        assert switch.ports() == {1: PortConfig(), 2: PortConfig()}
        assert client.values("/interfaces/interface/config", "/qos") == before


def test_union_replace_is_refused() -> None:
    with serving() as (_, client):
        with pytest.raises(grpc.RpcError) as caught:
            client.stub.Set(gnmi.SetRequest(union_replace=[gnmi.Update(path=path("/"))]))
        assert caught.value.code() == INVALID


def test_prefix_and_target() -> None:
    with serving() as (_, client):
        prefix = path("/interfaces/interface[name=eth1]")
        prefix.target = "switch"
        response = client.stub.Get(gnmi.GetRequest(prefix=prefix, path=[path("/state/id")], encoding=gnmi.PROTO))
        assert response.notification[0].prefix.target == "switch"
        assert [text(each.path) for each in response.notification[0].update] == [
            "/interfaces/interface[name=eth1]/state/id"
        ]


def counters(client: Client, interface: str) -> dict[str, int]:
    found = client.values(f"/interfaces/interface[name={interface}]/state/counters")
    return {where.rpartition("/")[2]: value for where, value in found.items()}


def test_counters_move() -> None:
    from ..support import PROGRAMS

    with serving() as (switch, client):
        switch.load((PROGRAMS / "ranked.json").read_text())
        client.set(update={f"{SHAPER}/cir": 256_000, f"{SHAPER}/max-queue-depth-packets": 2, BINDING: "slow"})
        frame = (bytes(4) + (1).to_bytes(2, "big") + bytes(8)).ljust(1000, b"x")
        (sent,) = switch.process(2, frame, 1_000_000)
        assert sent[:2] == (1_000_000 + 1000 * 8 * 1_000_000_000 // 256_000, 1)
        assert counters(client, "eth2")["in-octets"] == 1000
        assert counters(client, "eth1")["out-octets"] == 1000
        assert counters(client, "eth1")["out-pkts"] == 1
        queue = "/qos/interfaces/interface[interface-id=eth1]/output/queues/queue[name=0]/state"
        assert client.values(queue) == {
            f"{queue}/name": "0",
            f"{queue}/transmit-pkts": 1,
            f"{queue}/transmit-octets": 1000,
            f"{queue}/dropped-pkts": 0,
            f"{queue}/dropped-octets": 0,
            f"{queue}/max-queue-len": 0,
        }
