"""The network of one measurement point."""

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

from phb_lab import generated
from phb_lab.description import Datagrams, Flow, Host, Network, Port, Stream, Switch, Wire

from .evaluation import WARM_UP_S, probe
from .tests import EXAMPLES, Setting

SECOND = 1_000_000_000
LINE_BPS = 2_048_000
# RFC 1662: address, control and protocol (4 bytes) instead of Ethernet's header, and FCS (2) and one flag (1) that the
# router doesn't count. Without bit stuffing, which depends on the data.
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
# More than a stream can hold of the larger buffers (AF1: 22 KB): buffers shall share the line, not windows.
WINDOW_BYTES = 32_768
# FreeBSD acknowledges every second segment at once, and a single one with its next 200 ms timer.
DELAYED_ACK_NS = 200_000_000
TRAFFIC_PORT = 5001
PROBE_PORT = 5002


@dataclass(frozen=True)
class Receiver:
    """Receiver of a stream; its place in :data:`RECEIVERS` is the number in its address and the far router's port."""

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


def network(test: Setting, *, seed: int, holes: int = 1, window_bytes: int = WINDOW_BYTES) -> Network:
    """Describe one measurement point; ``seed`` draws flows' starts, ``holes`` is N of the rule for the shared pool."""
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
    f"each stream starts within the first second, drawn by the seed; the first {WARM_UP_S} s count for no figure",
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
        name, start_ns = probe(receiver.stream), random.randrange(SECOND)
        flows.append(_datagrams(name, receiver, PROBE_PORT, PROBE_PAYLOAD, PROBE_INTERVAL_NS, start_ns, "poisson"))
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
    """The policy file with another N, as a file of its own; files ship with N = 1."""
    text = buffers.read_text()
    if f"holes: {holes}\n" in text:
        return buffers
    return generated.write(f"{buffers.stem}-holes-{holes}.yaml", text.replace("holes: 1\n", f"holes: {holes}\n"))
