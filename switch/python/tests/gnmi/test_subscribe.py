"""Subscriptions over gRPC."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from finsy.proto import gnmi

from phb_switch import LIMITS

from .support import Client, path, scalar, serving, text
from .test_service import BINDING, SHAPER, SPEED

WAIT_SECONDS = 10.0
MODE = gnmi.SubscriptionMode
STATE = "/interfaces/interface[name=eth1]/ethernet/state/port-speed"
IN_PKTS = "/interfaces/interface[name=eth1]/state/counters/in-pkts"


class Stream:
    """One Subscribe call; what it brings can be waited for."""

    def __init__(self, client: Client) -> None:
        self._requests: queue.SimpleQueue[gnmi.SubscribeRequest | None] = queue.SimpleQueue()
        self._responses: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.call = client.stub.Subscribe(iter(self._requests.get, None))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            for response in self.call:
                self._responses.put(response)
            self._responses.put(None)
        except grpc.RpcError as error:
            self._responses.put(error)

    def send(self, **fields: Any) -> None:
        self._requests.put(gnmi.SubscribeRequest(**fields))

    def subscribe(self, mode: Any, *subscriptions: gnmi.Subscription, **more: Any) -> None:
        self.send(subscribe=gnmi.SubscriptionList(mode=mode, subscription=subscriptions, **more))

    def next(self) -> Any:
        return self._responses.get(timeout=WAIT_SECONDS)

    def updates(self) -> dict[str, Any]:
        """The next message, which has to be one of updates."""
        response = self.next()
        assert response.WhichOneof("response") == "update", response
        return {text(each.path): scalar(each.val) for each in response.update.update}

    def synchronized(self) -> None:
        assert self.next().sync_response

    def close(self) -> None:
        self._requests.put(None)
        self.call.cancel()
        self._reader.join()


@contextmanager
def streaming(client: Client) -> Iterator[Stream]:
    stream = Stream(client)
    try:
        yield stream
    finally:
        stream.close()


def of(where: str, mode: Any = MODE.TARGET_DEFINED, **more: Any) -> gnmi.Subscription:
    return gnmi.Subscription(path=path(where), mode=mode, **more)


def test_once() -> None:
    with serving() as (_, client), streaming(client) as stream:
        stream.subscribe(
            gnmi.SubscriptionList.ONCE, of(IN_PKTS), of("/interfaces/interface/state/id"), encoding=gnmi.PROTO
        )
        ids = {f"/interfaces/interface[name=eth{n}]/state/id": n for n in (1, 2)}
        assert stream.updates() == {IN_PKTS: 0, **ids}
        stream.synchronized()
        assert stream.next() is None


def test_poll() -> None:
    with serving() as (_, client), streaming(client) as stream:
        stream.subscribe(gnmi.SubscriptionList.POLL, of(STATE), encoding=gnmi.PROTO)
        stream.synchronized()
        client.set(update={SPEED: "SPEED_1GB"})
        stream.send(poll=gnmi.Poll())
        assert stream.updates() == {STATE: "SPEED_1GB"}
        stream.synchronized()
        stream.subscribe(gnmi.SubscriptionList.POLL, of(STATE))
        assert stream.next().code() == grpc.StatusCode.INVALID_ARGUMENT


def test_on_change_of_settings() -> None:
    with serving() as (_, client), streaming(client) as stream:
        stream.subscribe(
            gnmi.SubscriptionList.STREAM,
            of("/interfaces/interface[name=eth1]/ethernet", MODE.ON_CHANGE),
            of("/qos/interfaces", MODE.ON_CHANGE),
            encoding=gnmi.PROTO,
        )
        assert all("/qos/interfaces/" in where for where in stream.updates())
        stream.synchronized()
        client.set(update={SPEED: "SPEED_1GB"})
        assert stream.updates() == {SPEED: "SPEED_1GB", STATE: "SPEED_1GB"}
        client.set(update={f"{SHAPER}/cir": 7, BINDING: "slow"})
        assert stream.updates() == {BINDING: "slow", BINDING.replace("config", "state"): "slow"}
        client.set(delete=[SPEED])
        response = stream.next()
        assert {text(each) for each in response.update.delete} == {SPEED, STATE}
        assert not response.update.update


def test_samples() -> None:
    with serving() as (switch, client), streaming(client) as stream:
        stream.subscribe(
            gnmi.SubscriptionList.STREAM, of(IN_PKTS, MODE.SAMPLE, sample_interval=10_000_000), encoding=gnmi.PROTO
        )
        assert stream.updates() == {IN_PKTS: 0}
        stream.synchronized()
        assert stream.updates() == {IN_PKTS: 0}
        switch.process(1, bytes(60), 1)
        while stream.updates() != {IN_PKTS: 1}:
            pass


def test_samples_without_repetition() -> None:
    with serving() as (switch, client), streaming(client) as stream:
        stream.subscribe(
            gnmi.SubscriptionList.STREAM,
            of(IN_PKTS, MODE.SAMPLE, sample_interval=10_000_000, suppress_redundant=True),
            encoding=gnmi.PROTO,
            updates_only=True,
        )
        stream.synchronized()
        switch.process(1, bytes(60), 1)
        assert stream.updates() == {IN_PKTS: 1}


def test_heartbeat() -> None:
    with serving() as (_, client), streaming(client) as stream:
        client.set(update={SPEED: "SPEED_1GB"})
        stream.subscribe(
            gnmi.SubscriptionList.STREAM, of(SPEED, MODE.ON_CHANGE, heartbeat_interval=1), encoding=gnmi.PROTO
        )
        assert stream.updates() == {SPEED: "SPEED_1GB"}
        stream.synchronized()
        assert stream.updates() == {SPEED: "SPEED_1GB"}
        assert stream.updates() == {SPEED: "SPEED_1GB"}


def test_target_defined_takes_both() -> None:
    with serving() as (_, client), streaming(client) as stream:
        stream.subscribe(gnmi.SubscriptionList.STREAM, of("/interfaces/interface[name=eth1]"), encoding=gnmi.PROTO)
        first = stream.updates()
        assert IN_PKTS in first
        stream.synchronized()
        client.set(update={SPEED: "SPEED_1GB"})
        assert stream.updates() == {SPEED: "SPEED_1GB", STATE: "SPEED_1GB"}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"poll": gnmi.Poll()}, "the first message has to be a subscription list"),
        ({"subscribe": gnmi.SubscriptionList()}, "the subscription list is empty"),
        ({"subscribe": gnmi.SubscriptionList(mode=9, subscription=[of("/")])}, "there is no mode 9"),  # type: ignore[arg-type]
        ({"subscribe": gnmi.SubscriptionList(subscription=[of("/x")])}, "/x: the models here have no such node"),
        (
            {"subscribe": gnmi.SubscriptionList(subscription=[of(IN_PKTS, MODE.ON_CHANGE)])},
            "counters can be sampled only",
        ),
        ({"subscribe": gnmi.SubscriptionList(subscription=[of(IN_PKTS, 9)])}, "there is no mode 9"),
        (
            {"subscribe": gnmi.SubscriptionList(subscription=[of(IN_PKTS, MODE.SAMPLE, sample_interval=5)])},
            "sample_interval is 5 ns",
        ),
        (
            {"subscribe": gnmi.SubscriptionList(subscription=[of("/")], use_models=[gnmi.ModelData(name="x")])},
            "there is no model 'x'",
        ),
    ],
)
def test_refused(fields: dict[str, Any], words: str) -> None:
    with serving() as (_, client), streaming(client) as stream:
        stream.send(**fields)
        error = stream.next()
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert words in error.details()


def test_there_is_a_limit_and_places_become_free() -> None:
    with serving() as (_, client):
        streams = [Stream(client) for _ in range(LIMITS["subscriptions_of_one"])]
        for each in streams:
            each.subscribe(gnmi.SubscriptionList.STREAM, of(SPEED, MODE.ON_CHANGE))
            each.synchronized()
        with streaming(client) as one_more:
            assert one_more.next().code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        # Unary calls still find a thread.
        assert len(client.values("/interfaces/interface/name")) == 2
        for each in streams:
            each.close()
        for _ in range(1000):
            with streaming(client) as again:
                again.subscribe(gnmi.SubscriptionList.ONCE, of("/interfaces"))
                if not isinstance(again.next(), grpc.RpcError):
                    return
        raise AssertionError("no place became free")
