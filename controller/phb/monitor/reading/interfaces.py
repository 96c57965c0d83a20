"""Ports as gNMI tells of them: links and rates when they change, counters now and then.

Messages are read as they are: paths as objects would take more time than all cells of the switch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
from finsy.proto import gnmi, gnmi_grpc

from phb.device.deadlines import understood
from phb.device.gnmi import PortShapers
from phb.device.session import CounterValue, Session
from phb.errors import SwitchError
from phb.monitor.reading.counting import Interface

COUNTERS_S: Final = 5.0
"""Seconds between two looks at counters of interfaces; links and rates are told when they change."""

RETRY_S: Final = 5.0
"""Seconds until the switch is asked again that has ended the subscription."""

ON_CHANGE: Final = (
    "interfaces/interface/state/oper-status",
    "interfaces/interface/state/id",
    "interfaces/interface/ethernet/state/port-speed",
    "qos/interfaces/interface/output/scheduler-policy",
    "qos/scheduler-policies",
)
COUNTERS: Final = tuple(
    f"interfaces/interface/state/counters/{name}" for name in ("in-pkts", "in-octets", "in-discards", "out-discards")
)
_UNITS: Final = {"MB": 1_000_000, "GB": 1_000_000_000}


@dataclass(slots=True)
class _Told:
    """What was told of one interface."""

    number: int | None = None
    up: bool | None = None
    speed_bps: int | None = None
    counters: dict[str, int] = field(default_factory=dict)


class Interfaces:
    """The interfaces of one switch over one session. `now` is another mapping whenever something has changed.

    Attributes:
        ready: Set when what there is has been told once, or it is known that nothing will be.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._told: dict[str, _Told] = {}
        self._shaped: Mapping[int, int | None] = {}
        self.now: Mapping[int, Interface] = {}
        self.ready = asyncio.Event()

    async def follow(self, interval_s: float) -> None:
        """Follow them for as long as the session lives; return where the switch tells nothing of them."""
        while True:
            try:
                if not await self._subscribe(gnmi.SubscriptionList.STREAM, max(interval_s, COUNTERS_S)):
                    return
            except (grpc.RpcError, SwitchError):
                self._told, self.now = {}, {}
            self.ready.set()
            await asyncio.sleep(RETRY_S)

    async def look(self) -> None:
        """Ask once.

        Raises:
            SwitchError: The switch can't be reached, or its answer makes no sense.
        """
        try:
            await self._subscribe(gnmi.SubscriptionList.ONCE, 0)
        except grpc.RpcError as error:
            raise self._session.unreachable(error.details() or error.code().name) from None

    async def _subscribe(self, mode: Any, interval_s: float) -> bool:
        """Read a subscription to its end; False where the switch has nothing to subscribe to."""
        call: Any = gnmi_grpc.gNMIStub(self._session.channel).Subscribe()
        synchronized = False
        try:
            await call.write(_request(mode, interval_s))
            if mode == gnmi.SubscriptionList.ONCE:
                await call.done_writing()
            while (response := await call.read()) is not grpc.aio.EOF:
                with understood(self._session.address):
                    rates = self._take(response.update)
                if response.sync_response or (rates and synchronized):
                    synchronized = True
                    await self._read_rates()
                if synchronized:
                    self._publish()
                    self.ready.set()
            return True
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE or synchronized:
                raise
            self.ready.set()
            return False
        finally:
            call.cancel()

    def _take(self, notification: Any) -> bool:
        """Take a notification; give whether it says something of rates."""
        rates = False
        prefix = tuple(notification.prefix.elem)
        for update in notification.update:
            elements = (*prefix, *update.path.elem)
            if elements[0].name == "qos":
                rates = True
                continue
            told = self._told.setdefault(elements[1].key["name"], _Told())
            leaf, value = elements[-1].name, update.val
            if leaf == "oper-status":
                status = value.string_val
                told.up = None if status in ("UNKNOWN", "") else status == "UP"
            elif leaf == "id":
                told.number = value.uint_val
            elif leaf == "port-speed":
                told.speed_bps = _speed(value.string_val)
            else:
                told.counters[leaf] = value.uint_val
        for path in notification.delete:
            elements = (*prefix, *path.elem)
            if elements[0].name == "qos":
                rates = True
            elif len(elements) == 2:
                self._told.pop(elements[1].key["name"], None)
        return rates

    async def _read_rates(self) -> None:
        async with PortShapers(self._session) as server:
            shaping = await server.read()
        self._shaped = {} if shaping is None else {n: port.scheduler.rate_bps for n, port in shaping.ports.items()}

    def _publish(self) -> None:
        self.now = dict(self._interfaces())

    def _interfaces(self) -> Iterator[tuple[int, Interface]]:
        for name, told in self._told.items():
            if told.number is None:
                continue
            rates = [rate for rate in (told.speed_bps, self._shaped.get(told.number)) if rate]
            counters = told.counters
            received = (
                CounterValue(counters["in-pkts"], counters["in-octets"]) if counters.keys() >= _RECEIVED else None
            )
            yield (
                told.number,
                Interface(
                    name,
                    told.up,
                    min(rates, default=None),
                    received,
                    counters.get("in-discards"),
                    counters.get("out-discards"),
                ),
            )


_RECEIVED: Final = {"in-pkts", "in-octets"}


def _request(mode: Any, interval_s: float) -> Any:
    request = gnmi.SubscribeRequest()
    wanted = request.subscribe
    wanted.mode, wanted.encoding = mode, gnmi.PROTO
    for text in (*ON_CHANGE, *COUNTERS):
        subscription = wanted.subscription.add()
        for name in text.split("/"):
            subscription.path.elem.add().name = name
        if text in COUNTERS:
            subscription.mode, subscription.sample_interval = gnmi.SAMPLE, round(interval_s * 1e9)
            subscription.suppress_redundant = True
        else:
            subscription.mode = gnmi.ON_CHANGE
    return request


def _speed(identity: str) -> int | None:
    """Read an identity such as ``SPEED_10GB`` or ``SPEED_2500MB``."""
    digits = identity.rpartition("SPEED_")[2]
    number, unit = digits[:-2], digits[-2:]
    return int(number) * _UNITS[unit] if unit in _UNITS and number.isdigit() else None
