"""OSA-Express in QDIO mode: what z/OS Communications Server's performance functions gain (SHARE, 2015).

::

    zos --- osa ======= LAN ======= osa --- zos         (or nic --- aix)
    TCP     processors, interrupts, input queues

Each test runs both sides of a comparison at the same time, in islands that no wire joins: its figures are gains. What
an adapter and its host's processors do is ``switch/crates/hosts/src/osa``; the parameters are in
``data/adapters.yaml``. Workloads have the source's names: RR1 and RR10 are 1 and 10 connections that ask 100 bytes and
get 800, STR1 is one that asks 1 byte and gets 20,000,000.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.table import Table

import phb_examples
from phb_lab import data_files
from phb_lab.analysis import osa_display
from phb_lab.description import (
    Adapter,
    Datagrams,
    Flow,
    Host,
    Network,
    Port,
    RequestResponse,
    Stream,
    Switch,
    Wire,
)
from phb_lab.errors import LabError
from phb_lab.outcome import Outcome
from phb_lab.report import judging, osa_pictures
from phb_lab.report.osa_pictures import Bar
from phb_lab.results import NANOSECONDS, Figure, with_published
from phb_lab.study import Evaluation, Run, Study, Test

MILLISECOND = 1_000_000

# Traffic starts at once and no exchange begins after this time; what came before the warm-up is not counted.
STOP_NS = 300 * MILLISECOND
WARM_UP_NS = 30 * MILLISECOND

# "Send buffer size: 180K for streaming workloads" (segmentation offload).
WINDOW_BYTES = 180 * 1024
MTU_BYTES = 1492
# What 200 ms are to s390: the delayed acknowledgement of BSD-derived stacks.
DELAYED_ACK_NS = 200_000_000

REQUEST_BYTES, REPLY_BYTES = 100, 800

# "10 points" is what the lab asks of a published gain.
POINTS = 0.10

EXAMPLES = Path(phb_examples.__file__).parent / "osa"

# PriorityTosMapping of the S/390 source's Policy Agent (appendix B), under SubnetTosMask 11100000.
PRIORITY_MASK = 0b1110_0000
PRIORITIES = (
    (1, 0b1110_0000),
    (1, 0b1100_0000),
    (1, 0b1010_0000),
    (2, 0b1000_0000),
    (2, 0b0110_0000),
    (2, 0b0100_0000),
    (3, 0b0010_0000),
    (3, 0b0000_0000),
)


def osa(inbperf: str = "dynamic", **changed: Any) -> dict[str, Any]:
    """Parameters of an adapter with one of the INBPERF settings; ``changed`` are others than those of the data file."""
    adapters = data_files.adapters()
    return {**adapters["osa"], **adapters[f"osa_{inbperf}"], **changed}


def nic() -> dict[str, Any]:
    """Parameters of the adapter of a host that is no z/OS."""
    return {**data_files.adapters()["nic"]}


@dataclass
class Parts:
    """A network in the making."""

    hosts: list[Host] = field(default_factory=list)
    adapters: list[Adapter] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    switches: list[Switch] = field(default_factory=list)
    islands: int = 0

    def host(self, name: str, addresses: Sequence[str], parameters: Mapping[str, Any], *, window: int) -> None:
        """A host behind its adapter, which is an OSA if it has processors."""
        self.hosts.append(Host(name, tuple(addresses), parameters["mtu_bytes"], window, DELAYED_ACK_NS, nagle=False))
        kind: Any = "osa" if "processors" in parameters else "osa2"
        self.adapters.append(Adapter(f"{name}-adapter", kind, parameters))
        self.wires.append(Wire((name, 0), (f"{name}-adapter", 0)))

    def pair(
        self,
        label: str,
        near: Mapping[str, Any],
        far: Mapping[str, Any],
        *,
        window: int = WINDOW_BYTES,
        far_window: int | None = None,
        delay_ns: int = 0,
    ) -> "Island":
        """Two hosts, ``LABEL-near`` and ``LABEL-far``, on one LAN."""
        self.islands += 1
        island = Island(self, label, f"10.{self.islands}.0.1", f"10.{self.islands}.0.2")
        self.host(island.near, [island.near_address], near, window=window)
        self.host(island.far, [island.far_address], far, window=far_window or window)
        self.wires.append(Wire((f"{island.near}-adapter", 1), (f"{island.far}-adapter", 1), delay_ns))
        return island

    def network(self, name: str) -> Network:
        """What has been put together."""
        return Network(
            name,
            tuple(self.switches),
            tuple(self.hosts),
            tuple(self.adapters),
            tuple(self.wires),
            tuple(self.flows),
            assumptions=ASSUMPTIONS,
        )


@dataclass(frozen=True)
class Island:
    """Two hosts on a LAN of their own. ``near`` is the z/OS whose adapter is looked at."""

    parts: Parts
    label: str
    near_address: str
    far_address: str

    @property
    def near(self) -> str:
        """Name of the one host."""
        return f"{self.label}-near"

    @property
    def far(self) -> str:
        """Name of the other host."""
        return f"{self.label}-far"

    def ask(self, connections: int, *, start_ns: int = 0, stop_ns: int = STOP_NS) -> None:
        """RR1, RR10, ...: the far host asks the near one."""
        for number in range(connections):
            self.parts.flows.append(
                RequestResponse(
                    name=f"{self.label}-rr-{number}",
                    group=f"{self.label}-rr",
                    client=self.far,
                    client_address=self.far_address,
                    server=self.near,
                    server_address=self.near_address,
                    server_port=700,
                    request_bytes=REQUEST_BYTES,
                    reply_bytes=REPLY_BYTES,
                    records_per_connection=1_000_000_000,
                    start_ns=start_ns + number * 1_000,
                    stop_ns=stop_ns,
                )
            )

    def stream(self, *, inbound: bool, start_ns: int = 0, stop_ns: int = STOP_NS) -> None:
        """STR1, into the near host or out of it."""
        ends = [(self.far, self.far_address), (self.near, self.near_address)]
        (client, client_address), (server, server_address) = ends if inbound else ends[::-1]
        self.parts.flows.append(
            Stream(
                name=f"{self.label}-str",
                group=f"{self.label}-str",
                client=client,
                client_address=client_address,
                server=server,
                server_address=server_address,
                server_port=900,
                start_ns=start_ns,
                stop_ns=stop_ns,
            )
        )


@dataclass(frozen=True)
class Rates:
    """What a workload did: per second, and how long it took on average.

    Attributes:
        transactions: per second; of a stream its MB per second.
        response_s: mean; 0 for a stream.

    """

    transactions: float
    response_s: float = 0.0


def asked(outcome: Outcome, label: str, *, start_ns: int = 0, stop_ns: int = STOP_NS) -> Rates:
    """The transactions of an island that began after the warm-up and ended in time.

    Raises:
        LabError: there were none.

    """
    begin = start_ns + WARM_UP_NS
    counted = [
        transaction
        for transaction in outcome.transactions
        if transaction.group == f"{label}-rr" and transaction.start_ns >= begin and transaction.end_ns <= stop_ns
    ]
    if not counted:
        raise LabError(f"{label}: no transaction was completed")
    seconds = (stop_ns - begin) / NANOSECONDS
    return Rates(len(counted) / seconds, fmean(transaction.response_s for transaction in counted))


def streamed(outcome: Outcome, label: str, *, start_ns: int = 0, stop_ns: int = STOP_NS) -> Rates:
    """MB per second of an island's stream, the start included: half a window's worth of it is slow start."""
    seconds = (stop_ns - start_ns) / NANOSECONDS
    return Rates(outcome.delivery(f"{label}-str").received_bytes / seconds / 1e6)


def processor_ns(outcome: Outcome, adapter: str) -> int:
    """What the processors behind an adapter were busy, in ns."""
    counted: Any = outcome.adapters[adapter]
    kinds = ("interrupt_ns", "receive_ns", "send_ns", "application_ns", "forward_ns")
    return sum(counted[kind] for kind in kinds)


def gain(new: float, old: float) -> float:
    """By which share something has grown."""
    return new / old - 1


@dataclass(frozen=True)
class Setting(Test):
    """One comparison, with the workloads that it compares."""

    connections: int = 0


def _asked_of(figures: Sequence[Figure]) -> list[Figure]:
    """The same figures; those that have a published value ask to be within ten points of it."""
    return [
        replace(figure, low=round(figure.published - POINTS, 6), high=round(figure.published + POINTS, 6))
        if figure.published is not None
        else figure
        for figure in figures
    ]


def _lan_idle(test: Setting) -> Network:
    parts = Parts()
    for label, inbperf in (("static", "balanced"), ("dynamic", "dynamic")):
        parts.pair(label, osa(inbperf), osa(inbperf)).ask(test.connections)
    return parts.network(test.name)


def _of_lan_idle(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    static, dynamic = asked(outcome, "static"), asked(outcome, "dynamic")
    name = f"rr{test.connections}"
    note = "calibrated: application_ns" if test.connections == 1 else "prediction"
    figures = [
        Figure(
            "dynamic_lan_idle", f"{name}_tps_gain", "share", gain(dynamic.transactions, static.transactions), note=note
        ),
        Figure(
            "dynamic_lan_idle",
            f"{name}_response_gain",
            "share",
            -gain(dynamic.response_s, static.response_s),
            note=note,
        ),
    ]
    bars = [
        Bar(side, name.upper(), "transactions/s", rates.transactions)
        for side, rates in (("static", static), ("DYNAMIC", dynamic))
    ]
    return figures, bars


SIDES = (("dynamic", False), ("iwq", True))

# Published gains that our tests measure.
GAINS = ("dynamic_lan_idle", "inbound_workload_queueing")


def _iwq_mixed(test: Setting) -> Network:
    parts = Parts()
    for label, queueing in SIDES:
        island = parts.pair(label, osa(workload_queueing=queueing), nic())
        island.ask(test.connections)
        island.stream(inbound=True)
    return parts.network(test.name)


def _of_iwq_mixed(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    before, after = (asked(outcome, label) for label, _ in SIDES)
    streams = [streamed(outcome, label).transactions for label, _ in SIDES]
    key, note = "inbound_workload_queueing", "prediction"
    figures = [
        Figure(key, "mixed_rr_tps_gain", "share", gain(after.transactions, before.transactions), note=note),
        Figure(key, "mixed_response_gain", "share", -gain(after.response_s, before.response_s), note=note),
        Figure(key, "mixed_streaming_gain", "share", gain(streams[1], streams[0]), note=note),
    ]
    bars = [
        *(Bar(n, "RR", "transactions/s", r.transactions) for n, r in (("DYNAMIC", before), ("IWQ", after))),
        *(Bar(n, "STR", "MB/s", value) for n, value in zip(("DYNAMIC", "IWQ"), streams, strict=True)),
    ]
    return figures, bars


def _iwq_streaming(test: Setting) -> Network:
    parts = Parts()
    for label, queueing in SIDES:
        near = osa(workload_queueing=queueing)
        parts.pair(label, near, nic() if test.name.endswith("aix") else near).stream(inbound=True)
    return parts.network(test.name)


def _of_iwq_streaming(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    before, after = (streamed(outcome, label).transactions for label, _ in SIDES)
    peer = test.name.rsplit("-", 1)[1]
    note = "calibrated: send_ns" if peer == "aix" else "prediction"
    late: list[Any] = [outcome.adapters[f"{label}-near-adapter"] for label, _ in SIDES]
    figures = [
        Figure("inbound_workload_queueing", f"pure_streaming_gain_{peer}", "share", gain(after, before), note=note),
        *(
            Figure(test.name, f"{label}.out_of_order", "share", counted["out_of_order"] / counted["inbound"]["sent"])
            for (label, _), counted in zip(SIDES, late, strict=True)
        ),
    ]
    workload = f"z/OS, {'AIX' if peer == 'aix' else 'z/OS'}"
    bars = [Bar("DYNAMIC", workload, "MB/s", before), Bar("IWQ", workload, "MB/s", after)]
    return figures, bars


# One precedence for each outbound queue that the source's mapping uses; it leaves queue 4 empty.
CLASSES = {"queue1": 0b1010_0000, "queue2": 0b0100_0000, "queue3": 0b0000_0000}
CLASS_PAYLOAD = 1_400
CLASS_INTERVAL_NS = 28_000  # 1,400 bytes each: 0.41 Gbit/s per class on the wire
PRIORITY_RATE_BPS = 1_000_000_000


def _priorities(test: Setting) -> Network:
    parts = Parts()
    for label, mapped in (("one-queue", False), ("mapped", True)):
        near = osa(
            rate_bps=PRIORITY_RATE_BPS,
            priority_mask=PRIORITY_MASK,
            priorities=PRIORITIES if mapped else (),
            queue_packets=128,
        )
        island = parts.pair(label, near, nic())
        for place, (name, tos) in enumerate(CLASSES.items()):
            parts.flows.append(
                Datagrams(
                    name=f"{label}-{name}",
                    group=name,
                    client=island.near,
                    client_address=island.near_address,
                    server=island.far,
                    server_address=island.far_address,
                    server_port=5000 + place,
                    payload_bytes=CLASS_PAYLOAD,
                    interval_ns=CLASS_INTERVAL_NS,
                    start_ns=place * CLASS_INTERVAL_NS // len(CLASSES),
                    stop_ns=STOP_NS,
                    tos=tos,
                )
            )
    return parts.network(test.name)


def _of_priorities(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    figures, bars = [], []
    for label in ("one-queue", "mapped"):
        for name in CLASSES:
            delivery = outcome.delivery(f"{label}-{name}")
            delays = delivery.delay_s(after_ns=WARM_UP_NS)
            if delays is None:
                raise LabError(f"{label}-{name}: nothing came")
            lost = 1 - (delivery.arrived or 0.0)
            figures += [
                Figure(test.name, f"{label}.{name}.delay", "s", delays.mean_s),
                Figure(test.name, f"{label}.{name}.lost", "share", lost),
            ]
            bars.append(Bar(label, name, "ms", delays.mean_s * 1e3))
    return figures, bars


OFFLOADS: dict[str, dict[str, Any]] = {
    "none": {"segmentation_offload": False, "checksum_offload": False},
    "checksum": {"segmentation_offload": False, "checksum_offload": True},
    "both": {"segmentation_offload": True, "checksum_offload": True},
}


def _offload(test: Setting) -> Network:
    parts = Parts()
    for label, offload in OFFLOADS.items():
        parts.pair(label, osa(workload_queueing=True, **offload), nic()).stream(inbound=False)
    return parts.network(test.name)


def _of_offload(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    figures, bars = [], []
    for label in OFFLOADS:
        rate = streamed(outcome, label).transactions
        gigabytes = outcome.delivery(f"{label}-str").received_bytes / 1e9
        cost = processor_ns(outcome, f"{label}-near-adapter") / 1e9 / gigabytes
        figures += [
            Figure(test.name, f"{label}.processor_s_per_gb", "s/GB", cost),
            Figure(test.name, f"{label}.throughput", "MB/s", rate),
        ]
        bars.append(Bar(label, "STR out", "processor s/GB", cost))
    return figures, bars


INBPERF = ("minlatency", "balanced", "mincpu", "dynamic")
SHIFT_NS = STOP_NS // 2


def _inbperf(test: Setting) -> Network:
    """Traffic that shifts: requests in the first half, a stream in the second."""
    parts = Parts()
    for inbperf in INBPERF:
        island = parts.pair(inbperf, osa(inbperf), nic())
        island.ask(1, stop_ns=SHIFT_NS)
        island.stream(inbound=True, start_ns=SHIFT_NS)
    return parts.network(test.name)


def _of_inbperf(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    figures, bars = [], []
    for inbperf in INBPERF:
        rates = asked(outcome, inbperf, stop_ns=SHIFT_NS)
        counted: Any = outcome.adapters[f"{inbperf}-near-adapter"]
        primary = counted["inbound_queues"]["primary"]
        figures += [
            Figure(test.name, f"{inbperf}.rr1_tps", "transactions/s", rates.transactions),
            Figure(
                test.name, f"{inbperf}.streaming", "MB/s", streamed(outcome, inbperf, start_ns=SHIFT_NS).transactions
            ),
            Figure(
                test.name, f"{inbperf}.packets_per_interrupt", "packets", primary["packets"] / primary["interrupts"]
            ),
        ]
        bars.append(Bar(inbperf.upper(), "RR1", "transactions/s", rates.transactions))
    return figures, bars


DISTRIBUTED, TARGET, CLIENT = "10.99.0.1", "10.99.1.1", "10.99.2.1"
FORWARDERS = ("stack", "accelerator")


def _accelerator(test: Setting) -> Network:
    """RR20 to a distributed address; each island has a LAN switch of its own."""
    parts = Parts()
    for number, label in enumerate(FORWARDERS, start=1):
        lan = f"{label}-lan"
        ports = (Port(1), Port(2), Port(3))
        parts.switches.append(Switch(lan, number, ports, (EXAMPLES / "lan.yaml",)))
        changed: dict[str, Any] = {**data_files.adapters()["osa_accelerated"]} if label == "accelerator" else {}
        distributor = osa(workload_queueing=True, distributions=[(DISTRIBUTED, [TARGET])], **changed)
        parts.adapters.append(Adapter(f"{label}-distributor", "osa", distributor))
        parts.host(f"{label}-far", [CLIENT], nic(), window=WINDOW_BYTES)
        parts.host(f"{label}-target", [TARGET, DISTRIBUTED], osa(workload_queueing=True), window=WINDOW_BYTES)
        parts.wires += [
            Wire((f"{label}-far-adapter", 1), (lan, 1)),
            Wire((f"{label}-distributor", 1), (lan, 2)),
            Wire((f"{label}-target-adapter", 1), (lan, 3)),
        ]
        for connection in range(test.connections):
            parts.flows.append(
                RequestResponse(
                    name=f"{label}-rr-{connection}",
                    group=f"{label}-rr",
                    client=f"{label}-far",
                    client_address=CLIENT,
                    server=f"{label}-target",
                    server_address=DISTRIBUTED,
                    server_port=700,
                    request_bytes=REQUEST_BYTES,
                    reply_bytes=REPLY_BYTES,
                    records_per_connection=1_000_000_000,
                    start_ns=connection * 1_000,
                    stop_ns=STOP_NS,
                )
            )
    return parts.network(test.name)


def _of_accelerator(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    figures, bars = [], []
    for label in FORWARDERS:
        rates = asked(outcome, label)
        counted: Any = outcome.adapters[f"{label}-distributor"]
        cost = processor_ns(outcome, f"{label}-distributor") / counted["forwarded"] / 1e3
        figures += [
            Figure(test.name, f"{label}.rr20_tps", "transactions/s", rates.transactions),
            Figure(test.name, f"{label}.processor_us_per_packet", "us", cost),
        ]
        bars.append(Bar(label, "distributor", "processor us/packet", cost))
    return figures, bars


FAT_RATE_BPS = 1_000_000_000
FAT_DELAY_NS = 5 * MILLISECOND


def _right_sizing(test: Setting) -> Network:
    """A stream into z/OS over 10 ms: with the receive buffer it starts with, and with the largest it may grow to."""
    largest = data_files.published()["zos_cs"]["dynamic_right_sizing"]["window_max_bytes"]
    parts = Parts()
    for label, window in (("fixed", WINDOW_BYTES), ("right-sized", largest)):
        near = osa(workload_queueing=True, rate_bps=FAT_RATE_BPS)
        far = nic() | {"rate_bps": FAT_RATE_BPS}
        parts.pair(label, near, far, window=window, far_window=largest, delay_ns=FAT_DELAY_NS).stream(inbound=True)
    return parts.network(test.name)


def _of_right_sizing(test: Setting, outcome: Outcome) -> tuple[list[Figure], list[Bar]]:
    rates = {label: streamed(outcome, label).transactions for label in ("fixed", "right-sized")}
    figures = [Figure(test.name, f"{label}.throughput", "MB/s", rate) for label, rate in rates.items()]
    note = "published: 2.0 over a path that the source does not describe"
    figures.append(Figure(test.name, "times", "ratio", rates["right-sized"] / rates["fixed"], note=note))
    return figures, [Bar(label, "STR in", "MB/s", rate) for label, rate in rates.items()]


_KINDS = {
    "lan-idle-rr1": (_lan_idle, _of_lan_idle),
    "lan-idle-rr10": (_lan_idle, _of_lan_idle),
    "iwq-mixed": (_iwq_mixed, _of_iwq_mixed),
    "iwq-streaming-aix": (_iwq_streaming, _of_iwq_streaming),
    "iwq-streaming-zos": (_iwq_streaming, _of_iwq_streaming),
    "inbperf": (_inbperf, _of_inbperf),
    "outbound-priorities": (_priorities, _of_priorities),
    "offload": (_offload, _of_offload),
    "accelerator": (_accelerator, _of_accelerator),
    "right-sizing": (_right_sizing, _of_right_sizing),
}

ASSUMPTIONS = (
    "The source prints gains, not rates, and no times of adapters or processors: those are in data/adapters.yaml.",
    "Static LAN idle is BALANCED, the default, with 20 us; the source names no static value.",
    "The mixed workload is RR10 and STR1 into z/OS; the source doesn't say how many connections it had.",
    "The other platform answers at once and has neither a LAN-idle timer nor processors that cost anything.",
)


class OsaStudy(Study):
    """The study."""

    name = "osa"
    title = "OSA-Express in QDIO mode: interrupts, input and output queues, offloads (z/OS Communications Server)"
    published_key = "zos_cs"
    source = "David Herr: z/OS Communications Server Performance Functions Update. SHARE, Orlando, August 2015"
    tests = (
        Setting("lan-idle-rr1", "dynamic against static LAN idle, one connection", 1, 1, connections=1),
        Setting("lan-idle-rr10", "dynamic against static LAN idle, ten connections", 1, 1, connections=10),
        Setting("iwq-mixed", "inbound workload queueing, requests beside a stream", 1, 1, connections=10),
        Setting("iwq-streaming-aix", "inbound workload queueing, a stream from AIX", 1, 1),
        Setting("iwq-streaming-zos", "inbound workload queueing, a stream from z/OS to z/OS", 1, 1),
        Setting("inbperf", "the four INBPERF settings while traffic shifts", 1, 1),
        Setting("outbound-priorities", "outbound priority queues against one queue, under overload", 1, 1),
        Setting("offload", "segmentation and checksum offload", 1, 1),
        Setting("accelerator", "sysplex distributor by the stack and by the QDIO accelerator", 1, 1, connections=20),
        Setting("right-sizing", "dynamic right sizing over a long fat path", 1, 1),
    )

    def network(self, test: Test, *, seed: int, options: Mapping[str, int]) -> Network:
        """The two sides of the comparison, each on an island of its own."""
        assert isinstance(test, Setting), test
        return _KINDS[test.name][0](test)

    def virtual_time_only(self, test: Test) -> str | None:
        """All of them: they are about what no process is in time for."""
        return "it compares microseconds of processors at gigabits; each wake-up of a process takes longer than they do"

    def evaluate(
        self, test: Test, network: Network, outcome: Outcome, *, duration_s: int, captures: Path
    ) -> Evaluation:
        """Gains beside the published ones, and what makes them up."""
        assert isinstance(test, Setting), test
        figures, bars = _KINDS[test.name][1](test, outcome)
        published = self.published()
        found = [with_published([figure], published.get(figure.test, {}))[0] for figure in figures]
        return Evaluation(_asked_of(found), details=bars)

    def configuration(self, test: Test, network: Network) -> Mapping[str, object]:
        """What is compared, with which workload."""
        assert isinstance(test, Setting), test
        far = next((adapter.kind for adapter in network.adapters if adapter.name.endswith("-far-adapter")), None)
        return {
            "compares": next((what for what in ("lan-idle", "iwq") if test.name.startswith(what)), test.name),
            "requests": any(isinstance(flow, RequestResponse) for flow in network.flows),
            "stream": any(isinstance(flow, Stream) for flow in network.flows),
            "connections": test.connections,
            "peer": "zos" if far == "osa" else "aix",
        }

    def tables(self, runs: Sequence[Run], extra: Sequence[Run]) -> Sequence[Table]:
        """What the gains are made of."""
        table = Table("test", "side", "workload", "value", "unit", title="Both sides of each comparison")
        for run in runs:
            for bar in run.details:
                table.add_row(run.test.name, bar.side, bar.workload, judging.number(bar.value, bar.unit), bar.unit)
        return [table]

    def displays(self, run: Run) -> Mapping[str, str]:
        """The adapters' queues as z/OS displays them at the end."""
        return osa_display.displays(run.network, run.outcome)

    def conclusions(self, runs: Sequence[Run], extra: Sequence[Run]) -> Sequence[str]:
        """How far each gain is from the published one, where it is further than asked."""
        missed = [figure for run in runs for figure in run.figures if figure.met is False]
        return [
            f"{figure.test} {figure.quantity}: {figure.measured:+.0%}, published {figure.published:+.0%}. "
            f"{REASONS.get(figure.quantity, 'docs/networks/osa.md says why.')}"
            for figure in missed
        ]

    def pictures(self, runs: Sequence[Run], extra: Sequence[Run], folder: Path) -> Sequence[Path]:
        """Bars, as the source draws them: one picture per test."""
        return [path for run in runs for path in osa_pictures.bars(run.test.title, run.details, folder / run.test.name)]


REASONS = {
    "mixed_rr_tps_gain": "The gain falls with the number of connections, which the source doesn't give.",
    "mixed_response_gain": "The gain falls with the number of connections, which the source doesn't give.",
    "mixed_streaming_gain": "Here the stream is limited by the processor that receives it, with and without requests.",
    "pure_streaming_gain_zos": "A sender that waits for its own processors fills the receiver's less often.",
}

STUDY = OsaStudy()
