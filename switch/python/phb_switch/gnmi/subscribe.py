"""Subscriptions (gNMI specification, 3.5): once, by poll, and as a stream of samples and changes."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import grpc
from finsy.proto import gnmi

from phb_switch.errors import INVALID_ARGUMENT, StatusError
from phb_switch.gnmi import encoding, paths, schema
from phb_switch.gnmi.encoding import Datum, Value
from phb_switch.gnmi.paths import Path
from phb_switch.gnmi.tree import Tree

_SHORTEST_SAMPLE_NS: Final = 10_000_000
_DEFAULT_SAMPLE_NS: Final = 1_000_000_000
_TARGET_DEFINED_SAMPLE_NS: Final = 10_000_000_000
_LOOK_NS: Final = 200_000_000
"""How often links are looked at; a change of a setting is told at once."""

_Modes = gnmi.SubscriptionMode
_ListModes = gnmi.SubscriptionList


@dataclass(slots=True)
class _Subscription:
    """One path of a stream."""

    path: Path
    counters: bool
    """Whether it takes counters, or all that is not one."""
    on_change: bool
    interval_ns: int
    suppress_redundant: bool
    heartbeat_ns: int
    next_ns: int = 0
    next_heartbeat_ns: int = 0
    last: dict[Path, Value] = field(default_factory=dict)

    def takes(self, datum: Datum) -> bool:
        path, leaf, _ = datum
        return leaf.is_counter == self.counters and paths.covers(self.path, path)


def subscribe(
    tree: Tree, requests: Iterator[gnmi.SubscribeRequest], context: grpc.ServicerContext
) -> Iterator[gnmi.SubscribeResponse]:
    """Answers one Subscribe RPC until it ends.

    Raises:
        StatusError: the subscription is refused.

    """
    first = next(requests, None)
    if first is None:
        return
    if first.WhichOneof("request") != "subscribe":
        raise StatusError(INVALID_ARGUMENT, "the first message has to be a subscription list")
    wanted = first.subscribe
    encoding.check(wanted.encoding)
    _check_models(wanted)
    subscribed = [paths.read(each.path, wanted.prefix) for each in wanted.subscription]
    if not subscribed:
        raise StatusError(INVALID_ARGUMENT, "the subscription list is empty")
    for path in subscribed:
        if not paths.is_pattern(path) and schema.names(path) not in {*schema.LEAVES, *schema.CONTAINERS}:
            raise StatusError(INVALID_ARGUMENT, f"{paths.text(path)}: the models here have no such node")
    if wanted.mode == _ListModes.STREAM:
        yield from _stream(tree, wanted, subscribed, context)
        return
    if wanted.mode not in (_ListModes.ONCE, _ListModes.POLL):
        raise StatusError(INVALID_ARGUMENT, f"there is no mode {wanted.mode}")
    quiet = wanted.updates_only
    while True:
        if not quiet:
            found = [datum for datum in tree.everything() if any(paths.covers(path, datum[0]) for path in subscribed)]
            yield from _updates(found, wanted)
        quiet = False
        yield gnmi.SubscribeResponse(sync_response=True)
        if wanted.mode == _ListModes.ONCE:
            return
        request = next(requests, None)
        if request is None:
            return
        if request.WhichOneof("request") != "poll":
            raise StatusError(INVALID_ARGUMENT, "after the subscription list there may be polls only")


def _check_models(wanted: gnmi.SubscriptionList) -> None:
    known = {model.name for model in schema.MODELS}
    for model in wanted.use_models:
        if model.name not in known:
            raise StatusError(INVALID_ARGUMENT, f"there is no model {model.name!r} here")


def _notification(wanted: gnmi.SubscriptionList) -> gnmi.Notification:
    notification = gnmi.Notification(timestamp=time.time_ns())
    if wanted.prefix.target:
        notification.prefix.target = wanted.prefix.target
    return notification


def _updates(data: list[Datum], wanted: gnmi.SubscriptionList) -> Iterator[gnmi.SubscribeResponse]:
    if not data:
        return
    notification = _notification(wanted)
    for path, leaf, value in data:
        notification.update.add(path=paths.write(path), val=encoding.typed(leaf, value, wanted.encoding))
    yield gnmi.SubscribeResponse(update=notification)


def _subscriptions(wanted: gnmi.SubscriptionList, subscribed: list[Path], now: int) -> Iterator[_Subscription]:
    for given, path in zip(wanted.subscription, subscribed, strict=True):
        leaf = schema.LEAVES.get(schema.names(path))
        for counters in (False, True):
            mode = given.mode
            if mode == _Modes.ON_CHANGE and counters:
                if leaf is not None and leaf.is_counter:
                    raise StatusError(INVALID_ARGUMENT, f"{paths.text(path)}: counters can be sampled only")
                continue
            if mode not in _Modes.values():
                raise StatusError(INVALID_ARGUMENT, f"{paths.text(path)}: there is no mode {mode}")
            interval = given.sample_interval or _DEFAULT_SAMPLE_NS
            if mode == _Modes.TARGET_DEFINED:
                mode = _Modes.SAMPLE if counters else _Modes.ON_CHANGE
                interval = given.sample_interval or _TARGET_DEFINED_SAMPLE_NS
            if mode == _Modes.SAMPLE and interval < _SHORTEST_SAMPLE_NS:
                raise StatusError(
                    INVALID_ARGUMENT,
                    f"{paths.text(path)}: sample_interval is {interval} ns; expected at least {_SHORTEST_SAMPLE_NS}",
                )
            on_change = mode == _Modes.ON_CHANGE
            yield _Subscription(
                path=path,
                counters=counters,
                on_change=on_change,
                interval_ns=_LOOK_NS if on_change else interval,
                suppress_redundant=given.suppress_redundant,
                heartbeat_ns=given.heartbeat_interval,
                next_ns=now,
                next_heartbeat_ns=now + given.heartbeat_interval,
            )


def _stream(
    tree: Tree, wanted: gnmi.SubscriptionList, subscribed: list[Path], context: grpc.ServicerContext
) -> Iterator[gnmi.SubscribeResponse]:
    ended = threading.Event()

    def end() -> None:
        ended.set()
        with tree.changed:
            tree.changed.notify_all()

    if not context.add_callback(end):
        return
    changes = tree.changes
    now = time.monotonic_ns()
    subscriptions = list(_subscriptions(wanted, subscribed, now))
    # What ON_CHANGE has no changes of is told once.
    present = [datum for datum in tree.everything() if any(paths.covers(path, datum[0]) for path in subscribed)]
    for each in subscriptions:
        each.last = {path: value for path, leaf, value in present if each.takes((path, leaf, value))}
        each.next_ns = now + each.interval_ns
    if not wanted.updates_only:
        yield from _updates(present, wanted)
    yield gnmi.SubscribeResponse(sync_response=True)
    while not ended.is_set():
        due = min(each.next_ns for each in subscriptions)
        with tree.changed:
            if tree.changes == changes and not ended.is_set():
                tree.changed.wait(max(0, due - time.monotonic_ns()) / 1e9)
            set_meanwhile, changes = tree.changes != changes, tree.changes
        now = time.monotonic_ns()
        ready = [each for each in subscriptions if each.next_ns <= now or (set_meanwhile and each.on_change)]
        if not ready or ended.is_set():
            continue
        everything = tree.everything()
        for each in ready:
            yield from _news(each, everything, wanted, now)


def _news(
    subscription: _Subscription, everything: list[Datum], wanted: gnmi.SubscriptionList, now: int
) -> Iterator[gnmi.SubscribeResponse]:
    """What is to be told of one subscription, now that its time has come."""
    found = [datum for datum in everything if subscription.takes(datum)]
    beat = subscription.heartbeat_ns > 0 and subscription.next_heartbeat_ns <= now
    if beat:
        subscription.next_heartbeat_ns = now + subscription.heartbeat_ns
    if (subscription.on_change or subscription.suppress_redundant) and not beat:
        told = [datum for datum in found if subscription.last.get(datum[0]) != datum[2]]
    else:
        told = found
    values = {path: value for path, _, value in found}
    gone = [path for path in subscription.last if path not in values]
    subscription.last = values
    # Behind time, samples are left out rather than sent in a burst.
    missed = max(0, now - subscription.next_ns) // subscription.interval_ns
    if subscription.next_ns <= now:
        subscription.next_ns += (missed + 1) * subscription.interval_ns
    if gone:
        notification = _notification(wanted)
        notification.delete.extend(paths.write(path) for path in gone)
        yield gnmi.SubscribeResponse(update=notification)
    yield from _updates(told, wanted)
