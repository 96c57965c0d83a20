r"""The IBM 2212 on an E1 line: six streams, private and shared buffers (draft-nadas-diffserv-experience-01, 1999).

::

    taconic --- ibm2212 === 2.048 Mbit/s PPP === far-router --+-- esopus       EF    UDP
    sends       streams,     (the bottleneck)                 +-- beaverkill   AF1   TCP
                buffers,                                      +-- delaware     AF2   TCP
                SCFQ 90/10                                    +-- lab760el     AF3   TCP
                                                              +-- h-one        AF4   TCP
                                                              +-- phoencia     BE    TCP

One UDP stream (EF) is policed and has a queue of its own. Five TCP connections, one per class, share the other queue;
what each gets of the line is what it holds of the queue's buffers. The tests differ in the size of the buffers and in
the MTU. A few small datagrams beside each TCP connection measure its one-way delay, as MGEN did.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

from rich.table import Table

import phb_examples
from phb_lab import data_files, generated
from phb_lab.analysis import e1 as analysis
from phb_lab.description import Datagrams, Flow, Host, Network, Port, Stream, Switch, Wire
from phb_lab.outcome import Outcome
from phb_lab.study import Evaluation, Option, Run, Study, Test

PUBLISHED_KEY = "ibm_2212_diffserv"

SECOND = 1_000_000_000

LINE_BPS = 2_048_000
# RFC 1662: address, control and protocol (4 bytes) instead of Ethernet's header, and FCS (2) and one flag (1) that the
# router doesn't count. Bit stuffing is left out: it depends on the data.
PPP_HEADER = 4
PPP_OVERHEAD = -14 + PPP_HEADER + 2 + 1
# IEEE 802.3: preamble and delimiter (8), FCS (4), inter-frame gap (12). The source has "10 Mbps or 100 Mbps".
ETHERNET_BPS = 100_000_000
ETHERNET_OVERHEAD = 8 + 4 + 12

# Table 2 has EF at 19.2 % of the line with IP and link headers, and at 9.0 % without any. With UDP's 8, IP's 20 and
# PPP's 4 bytes, 9.0 / 19.2 is a payload of 28 bytes (27.8 to 28.7, as the table is rounded).
EF_PAYLOAD = 28
# A twentieth more than the policed 19 %, so that the policer has work: 20 % of the line with IP and PPP headers.
EF_INTERVAL_NS = (EF_PAYLOAD + 28 + PPP_HEADER) * 8 * SECOND * 5 // LINE_BPS
# "Low frequency MGEN packets" beside each TCP connection: the source gives no number.
PROBE_PAYLOAD = EF_PAYLOAD
PROBE_INTERVAL_NS = SECOND // 5

# Larger than what a stream can hold of the larger buffers (AF1: 22 KB), or the window would share the line and not the
# buffers.
WINDOW_BYTES = 32_768
# FreeBSD acknowledges every second segment at once, and a single one with its next 200 ms timer.
DELAYED_ACK_NS = 200_000_000

TRAFFIC_PORT = 5001
PROBE_PORT = 5002
EXAMPLES = Path(phb_examples.__file__).parent / "e1"


@dataclass(frozen=True)
class Receiver:
    """Who receives a stream; the place in :data:`RECEIVERS` is the number in its address and the far router's port."""

    stream: str
    host: str
    address: str


RECEIVERS = tuple(
    Receiver(stream, host, f"203.0.113.{number}")
    for number, (stream, host) in enumerate(
        (
            ("EF", "esopus"),
            ("AF1", "beaverkill"),
            ("AF2", "delaware"),
            ("AF3", "lab760el"),
            ("AF4", "h-one"),
            ("BE", "phoencia"),
        ),
        1,
    )
)
SENDER = "192.0.2.2"


@dataclass(frozen=True)
class Setting(Test):
    """Buffers and MTU of one measurement point."""

    buffers: Literal["small", "large"] = "small"
    mtu_bytes: int = 500

    @property
    def published_delays(self) -> str:
        """The key of its table of delays."""
        return {"small": "delay_ms_by_mtu", "large": "delay_ms_by_mtu_large_buffers"}[self.buffers]

    @property
    def buffers_file(self) -> Path:
        """Its buffers as the router's policy: those limited in packets have a file per MTU."""
        own = EXAMPLES / f"buffers-{self.buffers}-{self.mtu_bytes}.yaml"
        return own if own.exists() else EXAMPLES / f"buffers-{self.buffers}.yaml"


# Two minutes, as the source. Its points were repeated "to check for stability"; ours are, by seeds.
DURATION_S = 120
_TITLES = {"small": "27,500 bytes or 50 packets of buffers", "large": "110,000 bytes or 200 packets of buffers"}

# The readings of the source's rule for the shared pool. No more than it leaves free itself (1): half of what the others
# leave, so a sixth for each of five. Half of what is free (2). 1/N of what is free, with the six streams (6).
SHOWN_HOLES = (2, 6)


def _settings() -> tuple[Setting, ...]:
    points: tuple[tuple[Literal["small", "large"], tuple[int, ...]], ...] = (
        ("small", (500, 1000, 1500)),
        ("large", (100, 250, 500, 1000, 1500)),
    )
    return tuple(
        Setting(
            name=f"{buffers}-{mtu}",
            title=f"{_TITLES[buffers]}, MTU {mtu}",
            duration_s=DURATION_S,
            buffers=buffers,
            mtu_bytes=mtu,
        )
        for buffers, mtus in points
        for mtu in mtus
    )


class E1(Study):
    """See the module."""

    name = "e1"
    title = "IBM 2212 on a 2.048 Mbit/s line: EF beside five TCP streams that share buffers"
    published_key = PUBLISHED_KEY
    source = "Y. Araya et al., IBM Diffserv Implementation Experiments, draft-nadas-diffserv-experience-01 (1999)"
    tests = _settings()
    options = (
        Option("holes", 1, 1, 256, "N of the rule that a stream takes at most 1/N of what is free of the shared pool"),
        Option("window", WINDOW_BYTES, 2048, 65_535, "bytes of each TCP connection's buffers"),
    )

    def network(self, test: Test, *, seed: int, options: Mapping[str, int]) -> Network:
        """Describe one measurement point."""
        return network(_setting(test), seed=seed, holes=options["holes"], window_bytes=options["window"])

    def taps(self, test: Test, network: Network) -> Mapping[str, tuple[str, int]]:
        """The E1 port of the 2212, where the router counts."""
        return {"e1": ("ibm2212", 2)}

    def evaluate(
        self, test: Test, network: Network, outcome: Outcome, *, duration_s: int, captures: Path
    ) -> Evaluation:
        """Throughput as router and hosts see it, and one-way delays."""
        setting = _setting(test)
        return analysis.evaluate(
            test.name,
            outcome,
            data_files.published()[PUBLISHED_KEY],
            delays_key=setting.published_delays,
            mtu=setting.mtu_bytes,
            line=captures / "e1.pcap",
            line_bps=LINE_BPS,
            link_bytes=PPP_HEADER - 14,
            receivers={receiver.stream: receiver.address for receiver in RECEIVERS},
            duration_s=duration_s,
        )

    def configuration(self, test: Test, network: Network) -> Mapping[str, object]:
        """Buffers and MTU."""
        return {"buffers": _setting(test).buffers, "mtu_bytes": network.hosts[0].mtu_bytes}

    def extra_runs(self, tests: Sequence[Test], options: Mapping[str, int]) -> Sequence[tuple[Test, Mapping[str, int]]]:
        """The same points with the other readings of the rule for the shared pool."""
        return [(test, {**options, "holes": holes}) for holes in SHOWN_HOLES for test in tests]

    def tables(self, runs: Sequence[Run], extra: Sequence[Run]) -> Sequence[Table]:
        """What the readings of the rule for the pool make of it."""
        return [analysis.pool_table([*runs, *extra])]

    def conclusions(self, runs: Sequence[Run], extra: Sequence[Run]) -> Sequence[str]:
        """What was asked and not met, and by how much."""
        return analysis.conclusions(runs)

    def pictures(self, runs: Sequence[Run], extra: Sequence[Run], folder: Path) -> Sequence[Path]:
        """The source's figures 2, 3 and 4, and a histogram of delays per point."""
        return analysis.pictures(runs, folder)


def _setting(test: Test) -> Setting:
    assert isinstance(test, Setting), test
    return test


def network(test: Setting, *, seed: int, holes: int = 1, window_bytes: int = WINDOW_BYTES) -> Network:
    """Describe one measurement point.

    Args:
        test: buffers and MTU.
        seed: draws when each flow starts.
        holes: N of the rule for the shared pool.
        window_bytes: of the TCP connections.

    """
    ibm2212 = Switch(
        "ibm2212",
        1,
        (Port(1, ETHERNET_BPS, ETHERNET_OVERHEAD), Port(2, LINE_BPS, PPP_OVERHEAD)),
        (EXAMPLES / "ibm2212.yaml", EXAMPLES / "streams.yaml", _with_holes(test.buffers_file, holes)),
    )
    lans = tuple(Port(number + 1, ETHERNET_BPS, ETHERNET_OVERHEAD) for number in range(1, len(RECEIVERS) + 1))
    far_router = Switch("far-router", 2, (Port(1, LINE_BPS, PPP_OVERHEAD), *lans), (EXAMPLES / "far-router.yaml",))
    hosts = {"taconic": SENDER} | {receiver.host: receiver.address for receiver in RECEIVERS}
    return Network(
        name=f"e1/{test.name}",
        switches=(ibm2212, far_router),
        hosts=tuple(
            Host(
                name,
                (address,),
                mtu_bytes=test.mtu_bytes,
                window_bytes=window_bytes,
                delayed_ack_ns=DELAYED_ACK_NS,
            )
            for name, address in hosts.items()
        ),
        adapters=(),
        wires=(
            Wire(("taconic", 0), ("ibm2212", 1)),
            Wire(("ibm2212", 2), ("far-router", 1)),
            *(Wire(("far-router", number + 1), (receiver.host, 0)) for number, receiver in enumerate(RECEIVERS, 1)),
        ),
        flows=_flows(seed),
        assumptions=ASSUMPTIONS,
    )


ASSUMPTIONS = (
    f"TCP: {WINDOW_BYTES:,}-byte buffers, Nagle, 200 ms delayed acknowledgement, Reno as smoltcp has it",
    f"EF: {EF_PAYLOAD} bytes of payload (from table 2), offered at 20 % of the line and policed at 19 %",
    f"probes: {PROBE_PAYLOAD} bytes, {SECOND // PROBE_INTERVAL_NS} per second to each TCP receiver, at random times",
    "Ethernets of 100 Mbit/s; no propagation delay; no bit stuffing; the line carries data in all of its 2.048 Mbit/s",
    "each stream starts within the first second, drawn by the seed; the first "
    f"{analysis.WARM_UP_S} s count for no figure",
)


def _flows(seed: int) -> tuple[Flow, ...]:
    random = Random(seed)
    flows: list[Flow] = []
    for receiver in RECEIVERS:
        start_ns = random.randrange(SECOND)
        if receiver.stream == "EF":
            flows.append(_datagrams("EF", receiver, TRAFFIC_PORT, EF_PAYLOAD, EF_INTERVAL_NS, start_ns, "periodic"))
            continue
        flows.append(
            Stream(
                name=receiver.stream,
                group=receiver.stream,
                client="taconic",
                client_address=SENDER,
                server=receiver.host,
                server_address=receiver.address,
                server_port=TRAFFIC_PORT,
                start_ns=start_ns,
            )
        )
        probe, start_ns = analysis.probe(receiver.stream), random.randrange(SECOND)
        flows.append(_datagrams(probe, receiver, PROBE_PORT, PROBE_PAYLOAD, PROBE_INTERVAL_NS, start_ns, "poisson"))
    return tuple(flows)


def _datagrams(
    name: str,
    receiver: Receiver,
    port: int,
    payload_bytes: int,
    interval_ns: int,
    start_ns: int,
    pattern: Literal["periodic", "poisson"],
) -> Datagrams:
    return Datagrams(
        name=name,
        group=receiver.stream,
        client="taconic",
        client_address=SENDER,
        server=receiver.host,
        server_address=receiver.address,
        server_port=port,
        payload_bytes=payload_bytes,
        interval_ns=interval_ns,
        start_ns=start_ns,
        pattern=pattern,
    )


def _with_holes(buffers: Path, holes: int) -> Path:
    """The same policy file with another N, as a file of its own; files ship with N = 1."""
    text = buffers.read_text()
    if f"holes: {holes}\n" in text:
        return buffers
    return generated.write(f"{buffers.stem}-holes-{holes}.yaml", text.replace("holes: 1\n", f"holes: {holes}\n"))


STUDY = E1()
