"""No request, however odd, does anything but succeed or be refused with a status; a refused one changes nothing.

Requests that a fuzzer makes up are in switch/crates/gnmi; here they come over the wire.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from finsy.proto import gnmi
from hypothesis import given, settings
from hypothesis import strategies as st

from phb_switch import PortConfig, Switch
from tests.examples import share

from .support import Client, serving, text

ENCODINGS = (gnmi.JSON, gnmi.JSON_IETF, gnmi.PROTO)
INVALID, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
UNIMPLEMENTED = grpc.StatusCode.UNIMPLEMENTED
DEADLINE = 10.0
PLACES = (
    "interfaces/interface/name",
    "interfaces/interface/config/type",
    "interfaces/interface/config/enabled",
    "interfaces/interface/state/counters/in-pkts",
    "interfaces/interface/ethernet/config/port-speed",
    "interfaces/interface/ethernet/state/port-speed",
    "qos/scheduler-policies/scheduler-policy/config/name",
    "qos/scheduler-policies/scheduler-policy/schedulers/scheduler/config/sequence",
    "qos/scheduler-policies/scheduler-policy/schedulers/scheduler/one-rate-two-color/config/cir",
    "qos/scheduler-policies/scheduler-policy/schedulers/scheduler/one-rate-two-color/config/overhead",
    "qos/scheduler-policies/scheduler-policy/schedulers/scheduler/one-rate-two-color/state/bc",
    "qos/interfaces/interface/config/interface-id",
    "qos/interfaces/interface/output/scheduler-policy/config/name",
    "qos/interfaces/interface/output/queues/queue/state/transmit-pkts",
    "program/state/executor",
    "server/state/counters/calls",
)
KEYS = {
    "interfaces/interface": "name",
    "qos/scheduler-policies/scheduler-policy": "name",
    "qos/scheduler-policies/scheduler-policy/schedulers/scheduler": "sequence",
    "qos/interfaces/interface": "interface-id",
    "qos/interfaces/interface/output/queues/queue": "name",
}

NAME = st.sampled_from([*sorted({name for place in PLACES for name in place.split("/")}), "*", "...", "x", "a:qos"])
KEY = st.tuples(
    st.sampled_from(["name", "interface-id", "sequence", "x"]), st.sampled_from(["eth1", "0", "007", "*", ""])
)
VALUE = st.one_of(
    st.integers(-(1 << 70), 1 << 70), st.text(max_size=5), st.sampled_from(["SPEED_1GB", "SHAPE", "eth1"])
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | VALUE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def real_paths(draw: st.DrawFn) -> gnmi.Path:
    """A path of the models, with keys where they belong, and now and then a mistake."""
    names = draw(st.sampled_from(PLACES)).split("/")
    found = gnmi.Path()
    for depth in range(1, draw(st.integers(0, len(names))) + 1):
        each = found.elem.add(name=names[depth - 1])
        key = KEYS.get("/".join(names[:depth]))
        if key is not None and draw(st.integers(0, 9)):
            each.key[key] = draw(st.sampled_from(["eth1", "eth2", "slow", "0", "1"]))
    return found


PATHS = st.one_of(
    real_paths(),
    st.builds(
        lambda elements: gnmi.Path(elem=[gnmi.PathElem(name=name, key=dict(keys)) for name, keys in elements]),
        st.lists(st.tuples(NAME, st.lists(KEY, max_size=2)), max_size=9),
    ),
)
TYPED = st.one_of(
    JSON.map(lambda content: gnmi.TypedValue(json_ietf_val=json.dumps(content).encode())),
    st.binary(max_size=8).map(lambda data: gnmi.TypedValue(json_val=data)),
    st.text(max_size=8).map(lambda text: gnmi.TypedValue(string_val=text)),
    st.integers(0, (1 << 64) - 1).map(lambda number: gnmi.TypedValue(uint_val=number)),
    st.sampled_from([gnmi.TypedValue(), gnmi.TypedValue(bool_val=True), gnmi.TypedValue(double_val=float("nan"))]),
)
UPDATES = st.lists(st.builds(lambda path, value: gnmi.Update(path=path, val=value), PATHS, TYPED), max_size=3)
SUBSCRIPTIONS = st.lists(
    st.builds(
        lambda path, mode, sample, heartbeat: gnmi.Subscription(
            path=path, mode=mode, sample_interval=sample, heartbeat_interval=heartbeat
        ),
        PATHS,
        st.sampled_from([0, 1, 2, 9]),
        st.sampled_from([0, 5, 10_000_000, (1 << 64) - 1]),
        st.sampled_from([0, 1, (1 << 64) - 1]),
    ),
    max_size=3,
)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Switch, Client]]:
    with serving({1: PortConfig(rate_bps=64_000), 2: PortConfig()}) as served:
        yield served


def told(client: Client) -> dict[str, str]:
    """All that has been set, by path."""
    request = gnmi.GetRequest(path=[gnmi.Path()], type=gnmi.GetRequest.CONFIG, encoding=gnmi.PROTO)
    found = client.stub.Get(request, timeout=DEADLINE).notification
    return {text(update.path): str(update.val) for each in found for update in each.update}


def answered(call: Callable[[], Any], *refusals: grpc.StatusCode) -> Any:
    """The result of a call; None if it is refused with one of these codes and a message."""
    try:
        return call()
    except grpc.RpcError as error:
        refused = error
    assert refused.code() in refusals
    assert refused.details()
    return None


def is_set(client: Client, request: gnmi.SetRequest) -> bool:
    return answered(lambda: client.stub.Set(request, timeout=DEADLINE), INVALID) is not None


@given(updates=UPDATES, replaces=UPDATES, deletes=st.lists(PATHS, max_size=2))
def test_set(served: tuple[Switch, Client], updates: list[Any], replaces: list[Any], deletes: list[Any]) -> None:
    switch, client = served
    client.set(delete=["/interfaces", "/qos"])
    before, ports = told(client), switch.ports()
    if not is_set(client, gnmi.SetRequest(update=updates, replace=replaces, delete=deletes)):
        assert (told(client), switch.ports()) == (before, ports)
    # What is there can be set again as it is.
    after, ports = told(client), switch.ports()
    (root,) = client.get("/", encoding=gnmi.JSON_IETF, kind=gnmi.GetRequest.CONFIG)
    assert is_set(client, gnmi.SetRequest(replace=[gnmi.Update(path=gnmi.Path(), val=root.val)]))
    assert (told(client), switch.ports()) == (after, ports)


@given(paths=st.lists(PATHS, max_size=3), how=st.sampled_from([*ENCODINGS, gnmi.ASCII, 9]))
def test_get(served: tuple[Switch, Client], paths: list[Any], how: Any) -> None:
    _, client = served
    request = gnmi.GetRequest(path=paths, encoding=how)
    refusals = (INVALID, NOT_FOUND, *([] if how in ENCODINGS else [UNIMPLEMENTED]))
    response = answered(lambda: client.stub.Get(request, timeout=DEADLINE), *refusals)
    if response is None:
        return
    assert how in ENCODINGS
    for notification in response.notification:
        for update in notification.update:
            field = update.val.WhichOneof("value")
            assert (field == "json_val") == (how == gnmi.JSON)
            assert (field == "json_ietf_val") == (how == gnmi.JSON_IETF)
            if field in ("json_val", "json_ietf_val"):
                json.loads(getattr(update.val, field))


@given(
    subscriptions=SUBSCRIPTIONS,
    mode=st.sampled_from([0, 1, 2, 9]),
    how=st.sampled_from([*ENCODINGS, gnmi.ASCII]),
    updates_only=st.booleans(),
)
def test_subscribe(
    served: tuple[Switch, Client], subscriptions: list[Any], mode: Any, how: Any, updates_only: bool
) -> None:
    _, client = served
    wanted = gnmi.SubscriptionList(
        subscription=subscriptions, mode=mode, encoding=how, updates_only=updates_only, allow_aggregation=True
    )
    call = client.stub.Subscribe(iter([gnmi.SubscribeRequest(subscribe=wanted)]), timeout=DEADLINE)

    def synchronized() -> bool:
        # What is there comes first, then a message that says so.
        while not next(call).sync_response:
            pass
        return True

    answered(synchronized, INVALID, NOT_FOUND, UNIMPLEMENTED)
    call.cancel()


@settings(max_examples=share(50))
@given(method=st.sampled_from(["Get", "Set", "Subscribe"]), serialized=st.binary(max_size=64))
def test_what_is_no_message(served: tuple[Switch, Client], method: str, serialized: bytes) -> None:
    _, client = served
    call = client.channel.stream_stream(f"/gnmi.gNMI/{method}")(iter([serialized]), timeout=DEADLINE)
    answered(lambda: next(call, None), INVALID, NOT_FOUND, UNIMPLEMENTED)
    call.cancel()
    assert told(client)
