"""The network of one test."""

from pathlib import Path
from random import Random

import phb_examples
from phb_lab import data_files
from phb_lab.description import Adapter, Host, Network, Port, RequestResponse, Switch, Wire
from phb_lab.figures import read_published

from .tests import Setting

PUBLISHED = read_published(__file__)

SECOND = 1_000_000_000
# RFC 1662: the IOS display counts address, control and protocol (4 bytes) into a packet's length; FCS (2) and one flag
# (1) follow on the line. The bit-synchronous line's stuffing is left out: it depends on the data and adds about 1 % to
# random payloads.
PPP_OVERHEAD = -14 + 4 + 2 + 1
# IEEE 802.3: preamble and delimiter (8), FCS (4), inter-frame gap (12).
ETHERNET_OVERHEAD = 8 + 4 + 12
# The source gives no host parameters. OS/390 V2R7's TCPCONFIG defaults to 16,384-byte buffers, and 200 ms is the
# delayed acknowledgement of BSD-derived stacks.
WINDOW_BYTES = 16_384
DELAYED_ACK_NS = 200_000_000
# "After the file transfers created network congestion": the source gives no time. Its counts leave the interactive
# connections about 297 of the 300 s.
INTERACTIVE_START_NS = 3 * SECOND
# Chariot starts its pairs one after another; the source gives no times.
TRANSFER_START_SPREAD_NS = 1 * SECOND
EXAMPLES = Path(phb_examples.__file__).parent
S390_EXAMPLES = EXAMPLES / "s390"


def bottleneck(test: Setting) -> tuple[str, int, int]:
    """(switch, ingress port, egress port) between which packets are timed."""
    return "c7513", {"cip": 2, "osa2": 3}[test.adapter], 1


def c7513_files(test: Setting) -> tuple[Path, ...]:
    """Give the 7513's policy files; the source prints the configuration with WFQ, not the one without."""
    route = S390_EXAMPLES / f"c7513-routes-{test.adapter}.yaml"
    if test.queueing == "wfq":
        return EXAMPLES / "ios" / "c7513.ios", EXAMPLES / "ios" / "c7513-ports.yaml", route
    return S390_EXAMPLES / "c7513.yaml", route, S390_EXAMPLES / "c7513-fifo.yaml"


def network(test: Setting, *, seed: int, transmit_ring: int) -> Network:
    """Describe one test; ``seed`` draws the start times of the file transfers.

    ``transmit_ring`` is the packets that the 7513's serial interface takes from its scheduler ahead of the line.
    """
    rate = PUBLISHED["link"]["rate_bps"]
    addresses = PUBLISHED["addresses"]
    host_address = addresses["cip_host"] if test.adapter == "cip" else addresses["osa_host"]

    marking = {"diffserv": "diffserv", "ipprec": "precedence"}[test.marking]
    mvs074 = Switch(
        "mvs074",
        1,
        (Port(1), Port(2), Port(3)),
        (
            S390_EXAMPLES / "mvs074.yaml",
            S390_EXAMPLES / f"mvs074-{test.adapter}.yaml",
            S390_EXAMPLES / f"policy-agent-{marking}-{test.adapter}.conf",
        ),
    )
    serial = Port(1, rate, PPP_OVERHEAD, transmit_ring)
    c7513 = Switch(
        "c7513",
        2,
        (serial, Port(2), Port(3)),
        c7513_files(test),
    )
    c3640 = Switch(
        "c3640",
        3,
        (Port(1, rate, PPP_OVERHEAD), Port(2, 10_000_000, ETHERNET_OVERHEAD)),
        (S390_EXAMPLES / "c3640.yaml",),
    )
    adapters = tuple(Adapter(kind, kind, data_files.adapters()[kind]) for kind in ("cip", "osa2"))
    mtu = {
        "cip": data_files.adapters()["cip"]["block_bytes"],
        "osa2": data_files.adapters()["osa2"]["mtu_bytes"],
    }
    os390 = Host(
        "os390",
        (host_address, addresses["vipa"]),
        mtu_bytes=mtu[test.adapter],
        window_bytes=WINDOW_BYTES,
        delayed_ack_ns=DELAYED_ACK_NS,
    )
    branch = Host(
        "branch",
        (addresses["branch_client"],),
        mtu_bytes=1500,
        window_bytes=WINDOW_BYTES,
        delayed_ack_ns=DELAYED_ACK_NS,
    )
    wires = (
        Wire(("os390", 0), ("mvs074", 1)),
        Wire(("mvs074", 2), ("cip", 0)),
        Wire(("mvs074", 3), ("osa2", 0)),
        Wire(("cip", 1), ("c7513", 2)),
        Wire(("osa2", 1), ("c7513", 3)),
        Wire(("c7513", 1), ("c3640", 1)),
        Wire(("c3640", 2), ("branch", 0)),
    )
    return Network(
        name=f"s390/{test.name}",
        switches=(mvs074, c7513, c3640),
        hosts=(os390, branch),
        adapters=adapters,
        wires=wires,
        flows=_flows(host_address, seed),
        assumptions=ASSUMPTIONS,
    )


ASSUMPTIONS = (
    "host TCP: 16,384-byte buffers, Nagle, 200 ms delayed acknowledgement, Reno as smoltcp has it",
    f"interactive connections start at {INTERACTIVE_START_NS / SECOND:g} s, transfers within the first "
    f"{TRANSFER_START_SPREAD_NS / SECOND:g} s (drawn by the seed)",
    "interactive clients connect to the VIPA 135.1.1.1, as rule1 of the profile wants; the source's display shows the "
    "interface address",
    "branch LAN 10 Mbit/s Ethernet; no propagation delay; hosts answer at once",
)


def _flows(host_address: str, seed: int) -> tuple[RequestResponse, ...]:
    random = Random(seed)
    # Server addresses and first ports. The transfers' script says port_number=AUTO: any outside the ranges of the three
    # policy rules. The interactive ones are those of the source's display.
    servers = {"ftp": (host_address, 5001), "interactive": (PUBLISHED["addresses"]["vipa"], 700)}
    flows = []
    for group, (server_address, first_port) in servers.items():
        traffic = PUBLISHED["traffic"][group]
        for pair in range(traffic["connections"]):
            start_ns = random.randrange(TRANSFER_START_SPREAD_NS) if group == "ftp" else INTERACTIVE_START_NS
            flows.append(
                RequestResponse(
                    name=f"{group}-{pair:02}",
                    group=group,
                    client="branch",
                    client_address=PUBLISHED["addresses"]["branch_client"],
                    server="os390",
                    server_address=server_address,
                    server_port=first_port + pair,
                    request_bytes=traffic["request_bytes"],
                    reply_bytes=traffic["reply_bytes"],
                    records_per_connection=traffic["records_per_connection"],
                    start_ns=start_ns,
                )
            )
    return tuple(flows)
