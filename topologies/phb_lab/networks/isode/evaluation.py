"""Time and rate of each message, and its packets in the router's captures."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from phb_lab.description import Messages, Network
from phb_lab.errors import LabError
from phb_lab.figures import Figure, read_published
from phb_lab.outcome import NANOSECONDS, Outcome, Transaction
from phb_lab.packets import Bottleneck, Segment
from phb_lab.study import Evaluation

from .tests import NOTHING, Asked, Sending

PUBLISHED = read_published(__file__)

_ETHERNET_HEADER = 14
# The load's rate is counted from the first whole second in which all of it has reached the queue.
_SETTLING_S = 5
# A message that is not delivered within so much time becomes a figure; with less time it says nothing.
_PATIENCE_S = 60


@dataclass(frozen=True)
class Transfer:
    """One message, and its data segments at the router.

    Attributes:
        transaction: from its submission to the receiver's answer; None while it was under way when the run ended.
        segments: TCP segments with data that entered the router for it.
        lost: of them, dropped by the router.
        repeated: of them, sent before.
        inside_s: mean time in the router of those that left.
        passed_bytes: payload of those that left.
        ip_bytes: of the IP packets that left.
    """

    sending: Sending
    transaction: Transaction | None
    segments: int = 0
    lost: int = 0
    repeated: int = 0
    inside_s: float = 0.0
    passed_bytes: int = 0
    ip_bytes: int = 0

    @property
    def seconds(self) -> float:
        """How long it took.

        Raises:
            ValueError: it isn't complete.
        """
        if self.transaction is None:
            raise ValueError(f"{self.sending.quantity} is under way")
        return self.transaction.response_s

    @property
    def kbps(self) -> float:
        """Rate of the message's own bytes, in kbit/s."""
        return self.sending.size_bytes * 8 / 1000 / self.seconds

    @property
    def ip_kbps(self) -> float:
        """Rate of the IP packets that carried it, in kbit/s: what "monitoring at the IP level" saw."""
        return self.ip_bytes * 8 / 1000 / self.seconds


@dataclass(frozen=True)
class Details:
    """The run's transfers, and IP bytes that the router sent to the WAN in each second, by precedence."""

    transfers: tuple[Transfer, ...]
    carried: Mapping[str, Sequence[int]]


def evaluate(
    published_path: str,
    sendings: Sequence[Sending],
    network: Network,
    outcome: Outcome,
    *,
    captures: tuple[Path, Path] | None,
    destination: str,
    duration_s: int,
) -> Evaluation:
    """Make figures of one test.

    ``captures`` are of the router's ports where messages come in and go out, ``destination`` is the receiving agent's
    address.

    Raises:
        LabError: so short that there is no figure.
    """
    packets = None if captures is None else Bottleneck(*captures, destination)
    transfers = tuple(_transfers(sendings, network, outcome, packets, duration_s))
    figures = [
        *_message_figures(published_path, transfers, duration_s),
        *_load_figures(published_path, network.name.rpartition("/")[2], outcome, duration_s),
    ]
    if not figures:
        raise LabError(f"{network.name}: no message was delivered in {duration_s} s")
    ports = {flow.server_port: flow.name for flow in network.flows if isinstance(flow, Messages)}
    carried = {} if packets is None else _carried(packets.segments, ports, duration_s)
    return Evaluation(figures, (), Details(transfers, carried))


def _transfers(
    sendings: Sequence[Sending], network: Network, outcome: Outcome, packets: Bottleneck | None, duration_s: int
) -> Iterator[Transfer]:
    """Each message with its transaction and packets: a connection carries its messages in the order of submission."""
    segments = [] if packets is None else [segment for segment in packets.segments if segment.payload_bytes]
    for flow in network.flows:
        if not isinstance(flow, Messages):
            continue
        done = [transaction for transaction in outcome.transactions if transaction.flow == flow.name]
        waiting = [sending for sending in sendings if sending.precedence == flow.name]
        own = [segment for segment in segments if segment.destination_port == flow.server_port]
        from_ns = 0
        for number, sending in enumerate(waiting):
            transaction = done[number] if number < len(done) else None
            end_ns = duration_s * NANOSECONDS if transaction is None else transaction.end_ns
            yield _transfer(sending, transaction, [each for each in own if from_ns <= each.arrived_ns < end_ns])
            from_ns = end_ns


def _transfer(sending: Sending, transaction: Transaction | None, segments: Sequence[Segment]) -> Transfer:
    inside_ns = [segment.left_ns - segment.arrived_ns for segment in segments if segment.left_ns is not None]
    return Transfer(
        sending=sending,
        transaction=transaction,
        segments=len(segments),
        lost=len(segments) - len(inside_ns),
        repeated=sum(segment.repeated for segment in segments),
        inside_s=fmean(inside_ns) / NANOSECONDS if inside_ns else 0.0,
        passed_bytes=sum(each.payload_bytes for each in segments if each.left_ns is not None),
        ip_bytes=sum(each.frame_bytes - _ETHERNET_HEADER for each in segments if each.left_ns is not None),
    )


def _carried(segments: Sequence[Segment], ports: Mapping[int, str], duration_s: int) -> dict[str, list[int]]:
    counts: Counter[tuple[str, int]] = Counter()
    for segment in segments:
        if segment.left_ns is not None and segment.destination_port in ports:
            second = segment.left_ns // NANOSECONDS
            counts[ports[segment.destination_port], second] += segment.frame_bytes - _ETHERNET_HEADER
    return {name: [counts[name, second] for second in range(duration_s)] for name in ports.values()}


def _message_figures(path: str, transfers: Sequence[Transfer], duration_s: int) -> Iterator[Figure]:
    best: dict[str, Transfer] = {}
    for transfer in transfers:
        quantity = transfer.sending.quantity
        if transfer.transaction is not None and (quantity not in best or transfer.seconds < best[quantity].seconds):
            best[quantity] = transfer
    for transfer in transfers:
        sending = transfer.sending
        lasted_s = duration_s - sending.at_s
        if sending.quantity not in best and transfer.passed_bytes and lasted_s >= _PATIENCE_S:
            kbps = transfer.passed_bytes * 8 / 1000 / lasted_s
            note = f"not delivered within {lasted_s:.0f} s; the rate is that of all segments that passed the router"
            yield _figure(path, f"{sending.quantity}.kbps", "kbit/s", kbps, sending.asked, note)
    for quantity, transfer in best.items():
        sending = transfer.sending
        # The table of parallel messages has its seconds at the precedence itself.
        seconds = quantity if isinstance(_look_up(path, quantity), int | float) else f"{quantity}.s"
        yield _figure(path, seconds, "s", transfer.seconds)
        of_rate = sending.asked if sending.base is None else NOTHING
        yield _figure(path, f"{quantity}.kbps", "kbit/s", transfer.kbps, of_rate)
        if sending.base is not None and sending.base in best:
            share = transfer.kbps / best[sending.base].kbps
            yield _figure(path, f"{quantity}.of_base", "of unloaded", share, sending.asked)


def _load_figures(path: str, test: str, outcome: Outcome, duration_s: int) -> Iterator[Figure]:
    """Rate of the loads that arrived, in bit/s of UDP payload.

    Only the load alone has a published one. Others bear the test's name, because several tests fill one table.
    """
    rates = []
    for delivery in outcome.deliveries:
        begun = next((second for second, count in enumerate(delivery.received_by_second) if count), duration_s)
        if begun + _SETTLING_S < duration_s:
            rates.append(delivery.throughput_bps(begun + _SETTLING_S, duration_s))
    if rates:
        quantity = "background_utilisation_bps"
        own = quantity if _look_up(path, quantity) is not None else f"{test}.{quantity}"
        yield _figure(path, own, "bit/s", sum(rates))


def _figure(
    path: str, quantity: str, unit: str, measured: float, asked: Asked = NOTHING, note: str | None = None
) -> Figure:
    published = _look_up(path, quantity)
    notes = [_CALIBRATED.get((path, quantity)), note]
    if isinstance(published, str):
        notes.append(f"published: {published}")
    return Figure(
        path,
        quantity,
        unit,
        measured,
        published=published if isinstance(published, int | float) else None,
        note="; ".join(note for note in notes if note) or None,
        low=asked.low,
        high=asked.high,
    )


_CALIBRATED = {
    ("round1_unshaped_2mbps.single", f"{size}.{unit}"): f"calibrated: {what}"
    for size, what in (("1k", "the WAN's delay"), ("10M", "the frames that the WAN loses"))
    for unit in ("s", "kbps")
}


def _look_up(path: str, quantity: str) -> object:
    """A published value by a path of keys and places in lists; None where there is none."""
    value: Any = PUBLISHED
    for key in path.split("."):
        if isinstance(value, list) and key.isdecimal():
            value = value[int(key)]
        elif isinstance(value, Mapping) and key in value:
            value = value[key]
        else:
            return None
    # The table of parallel messages has its seconds and its rates side by side.
    for key in (quantity,) if quantity in value else quantity.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value
