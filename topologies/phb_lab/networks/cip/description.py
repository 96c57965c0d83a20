"""The network of each kind of test."""

from collections.abc import Mapping
from pathlib import Path

import phb_examples
from phb_lab import data_files
from phb_lab.description import (
    Adapter,
    Datagrams,
    Flow,
    Host,
    Network,
    Port,
    RequestResponse,
    SnaHost,
    SnaStations,
    Stream,
    Switch,
    Wire,
)
from phb_lab.figures import read_published

from .tests import BULK_LUS, STREAMS, Load

PUBLISHED = read_published(__file__)

SECOND = 1_000_000_000
# "A 4-KB packet size was selected because it is the maximum packet size from a Token Ring": a block.
BLOCK_BYTES = 4_096
IP_AND_UDP_HEADERS = 20 + 8
SEGMENT_BYTES = BLOCK_BYTES - 40
# "The test was unable to saturate the CIP or the ESCON channel with a single ping process and had to start a second":
# one sends less than the channel's 3,023 blocks/s and two send more. Assumption: 2,500 packets/s each.
PING_INTERVAL_NS = 400_000
PING_PROCESSES = 2
# Assumption: packets that wait for the channel in the adapter; more are dropped.
PING_QUEUE_PACKETS = 100

# "Two Fast Ethernet-connected NT workstations, one FDDI-connected UNIX workstation, and one FDDI-connected Windows
# workstation": name, port of the router, address, line.
WORKSTATIONS = (
    ("nt-1", 3, "10.3.0.1", "fast-ethernet-line"),
    ("nt-2", 5, "10.4.0.1", "fast-ethernet-line"),
    ("unix", 6, "10.5.0.1", "fddi-line"),
    ("windows", 7, "10.6.0.1", "fddi-line"),
)

# "Multiple 100-MB FTPs from each of the workstations"; how many, the source doesn't say.
TRANSFERS = 3
TRANSFER_BYTES = 100_000_000
# "A single copy of the ping test": the router's own packets come from a port of their own.
RSP4_PORT = 8
# The source gives no TCP parameters: OS/390's default buffers, as in s390, and BSD's delayed acknowledgement.
WINDOW_BYTES = 16_384
DELAYED_ACK_NS = 200_000_000
# 12 and 32 Dominos; "each Domino is capable of supporting 500 sessions and transmitting 500 frames per second".
DOMINO_FRAMES_PER_S = 500
# "Each Domino supported 500 LUs across 100 PUs".
LUS_PER_PU = 5
# NetMarks' load is given: 7.4 MB/s. Frames of 4 KB (as in MCI's own tests) fill a block; LLC, TH and RH are 13 bytes.
BULK_BYTES_PER_S = 7_400_000
SNA_HEADERS = 13
# CMPC carries High Performance Routing; the source prints its rate as "in excess of 10.85 MBps" only. Twice the blocks
# of a channel are offered, so that the rate is what channel and CPU let through.
CMPC_FRAMES_PER_S = 6_000
# A TN3270 server's and a PC's TCP with small messages: IOS's default window; no source gives one.
SESSION_WINDOW_BYTES = 4_128
# "A transaction rate of approximately 850 transactions per second" was the generator's aim for its 16,000 sessions. The
# 1,000 of the first test ask without a pause: 855 is what the CIP let through.
GENERATOR_TPS = 850
PACED_SESSIONS = 16_000
# All sessions are established before anything is measured; the source gives no times. Paced ones begin over whole
# pauses, or they would ask in waves; the 1,000 over two seconds.
SESSIONS_START_NS = 2 * SECOND
SESSIONS_START_PAUSES = 2
EXAMPLES = Path(phb_examples.__file__).parent / "cip"


def network(load: Load, options: Mapping[str, int]) -> Network:
    """Describe one test, without its name."""
    match load.kind:
        case "ping":
            return _ping(load)
        case "tcp":
            return _tcp(options)
        case "ftp":
            return _ftp(load, options)
        case "csna":
            return _csna(load)
        case "csna-bulk":
            return _csna_bulk()
        case "tn3270":
            return _tn3270(load)
        case "cmpc":
            return _cmpc()


def _cip(name: str, kind: str, **changes: int) -> Adapter:
    return Adapter(name, "cip", {**data_files.adapters()[f"cip-{kind}"], **changes})


def _ping(load: Load) -> Network:
    """The router's own pings, to a host behind each channel."""
    hosts = []
    wires = []
    flows: list[Flow] = []
    for channel in range(load.size):
        rsp4, hds = f"rsp4-{channel}", f"hds-{channel}"
        source, target = f"10.1.{channel}.254", f"10.1.{channel}.1"
        hosts += [_host(rsp4, source, BLOCK_BYTES), _host(hds, target, BLOCK_BYTES)]
        wires += [Wire((rsp4, 0), ("cip", 2 * channel + 1)), Wire((hds, 0), ("cip", 2 * channel))]
        flows += [
            Datagrams(
                name=f"ping-{channel}-{process}",
                group="ping",
                client=rsp4,
                client_address=source,
                server=hds,
                server_address=target,
                server_port=7 + process,
                payload_bytes=BLOCK_BYTES - IP_AND_UDP_HEADERS,
                interval_ns=PING_INTERVAL_NS,
                start_ns=process * PING_INTERVAL_NS // PING_PROCESSES,
            )
            for process in range(PING_PROCESSES)
        ]
    return Network(
        name="",
        switches=(),
        hosts=tuple(hosts),
        adapters=(_cip("cip", "ip-datagram", channels=load.size, read_queue_packets=PING_QUEUE_PACKETS),),
        wires=tuple(wires),
        flows=tuple(flows),
        assumptions=(
            "pings without answer are UDP datagrams of the same length, 2,500/s from each of two processes",
            f"{PING_QUEUE_PACKETS} packets wait for a channel at most",
        ),
    )


def _host(
    name: str, address: str, mtu: int, window: int = WINDOW_BYTES, *, batches: bool = False, relays: bool = False
) -> Host:
    return Host(name, (address,), mtu, window, DELAYED_ACK_NS, batches=batches, relays=relays)


def _c7513() -> Switch:
    return Switch("c7513", 1, tuple(Port(number) for number in range(1, 9)), (EXAMPLES / "c7513.yaml",))


def _ftp(load: Load, options: Mapping[str, int]) -> Network:
    """Workstations on LANs of their own write to a null device of the mainframe, which is behind one channel."""
    hosts = [_host("hds", "10.1.0.1", BLOCK_BYTES, options["window"], batches=True)]
    adapters = [
        _cip("cip", "ip-datagram", blocks_per_interrupt=options["blocks_per_interrupt"])
        if load.size == 0
        else _cip(
            "cip",
            "ip-datagram",
            blocks_per_interrupt=options["blocks_per_interrupt"],
            read_queue_packets=PING_QUEUE_PACKETS,
        )
    ]
    wires = [Wire(("hds", 0), ("cip", 0)), Wire(("cip", 1), ("c7513", 1))]
    flows: list[Flow] = []
    for name, port, address, kind in WORKSTATIONS:
        line = data_files.adapters()[kind]
        hosts.append(_host(name, address, line["mtu_bytes"], options["window"]))
        adapters.append(Adapter(f"{name}-line", "osa2", line))
        wires += [Wire((name, 0), (f"{name}-line", 0)), Wire((f"{name}-line", 1), ("c7513", port))]
        flows += [
            Stream(
                name=f"ftp-{name}-{number}",
                group="ftp",
                client=name,
                client_address=address,
                server="hds",
                server_address="10.1.0.1",
                server_port=2_000 + len(flows) + number,
                start_ns=(len(flows) + number) * SECOND // 100,
                total_bytes=TRANSFER_BYTES,
            )
            for number in range(TRANSFERS)
        ]
    if load.size:
        hosts.append(_host("rsp4", "10.7.0.1", BLOCK_BYTES))
        wires.append(Wire(("rsp4", 0), ("c7513", RSP4_PORT)))
        flows.append(
            Datagrams(
                name="ping",
                group="ping",
                client="rsp4",
                client_address="10.7.0.1",
                server="hds",
                server_address="10.1.0.1",
                server_port=7,
                payload_bytes=BLOCK_BYTES - IP_AND_UDP_HEADERS,
                interval_ns=PING_INTERVAL_NS,
                start_ns=0,
            )
        )
    return Network(
        name="",
        switches=(_c7513(),),
        hosts=tuple(hosts),
        adapters=tuple(adapters),
        wires=tuple(wires),
        flows=tuple(flows),
        assumptions=(
            f"each workstation has {TRANSFERS} transfers at once, and nothing slows it but its line of 100 Mbit/s and "
            "TCP: the source gives neither processors nor disks nor TCP's parameters",
            f"TCP windows of {options['window']} bytes, delayed acknowledgements of 200 ms, Reno; a packet takes a "
            "block of the channel, however short it is",
            *((f"{PING_QUEUE_PACKETS} packets wait for the channel at most",) if load.size else ()),
        ),
    )


def _tcp(options: Mapping[str, int]) -> Network:
    # Whole segments of it, as a sender without silly windows uses it.
    window = options["window"] // SEGMENT_BYTES * SEGMENT_BYTES
    partitions = tuple(
        _host(f"lpar{number + 1}", f"10.1.{number}.1", BLOCK_BYTES, window, batches=True) for number in range(2)
    )
    return Network(
        name="",
        switches=(_c7513(),),
        hosts=partitions,
        adapters=(_cip("cip", "ip-datagram", channels=2, blocks_per_interrupt=options["blocks_per_interrupt"]),),
        wires=(
            Wire(("lpar1", 0), ("cip", 0)),
            Wire(("lpar2", 0), ("cip", 2)),
            Wire(("cip", 1), ("c7513", 1)),
            Wire(("cip", 3), ("c7513", 2)),
        ),
        flows=tuple(
            Stream(
                name=f"stream-{number:02}",
                group="stream",
                client="lpar1",
                client_address="10.1.0.1",
                server="lpar2",
                server_address="10.1.1.1",
                server_port=5001 + number,
                start_ns=number * SECOND // 100,
            )
            for number in range(STREAMS)
        ),
        assumptions=(
            f"TCP windows of {window} bytes (OS/390's default), delayed acknowledgements of 200 ms, Reno",
            "a host is interrupted once for what a read program has taken in, and acknowledges once per connection "
            "what that brought",
        ),
    )


def _csna(load: Load) -> Network:
    lus_per_pu = 1 if load.size == 6_000 else LUS_PER_PU
    traffic = PUBLISHED["csna"]
    dominos = load.size // 500
    return Network(
        name="",
        switches=(),
        hosts=(),
        adapters=(_cip("cip", "csna"),),
        wires=(Wire(("dominos", 0), ("cip", 1)), Wire(("hds", 0), ("cip", 0))),
        flows=(),
        stations=(
            SnaStations(
                name="dominos",
                group="sna",
                pus=load.size // lus_per_pu,
                lus_per_pu=lus_per_pu,
                frames_per_s=dominos * DOMINO_FRAMES_PER_S,
                request_bytes=traffic["request_bytes"],
            ),
        ),
        sna_hosts=(SnaHost("hds", traffic["reply_bytes"]),),
        assumptions=(
            f"{dominos} Dominos are one node that sends {dominos * DOMINO_FRAMES_PER_S} frames/s",
            "ITPECHO answers at once",
            "LLC2's supervisory frames cost nothing of their own: they are in the cost per frame",
        ),
    )


def _csna_bulk() -> Network:
    return Network(
        name="",
        switches=(),
        hosts=(),
        adapters=(_cip("cip", "csna", channels=2),),
        wires=(
            Wire(("lpar1", 0), ("cip", 0)),
            Wire(("lpar2", 0), ("cip", 2)),
            Wire(("cip", 1), ("cip", 3)),
        ),
        flows=(),
        stations=(
            SnaStations(
                name="lpar1",
                group="sna",
                pus=1,
                lus_per_pu=BULK_LUS,
                frames_per_s=round(BULK_BYTES_PER_S / BLOCK_BYTES),
                request_bytes=BLOCK_BYTES - SNA_HEADERS,
                waits=False,
            ),
        ),
        sna_hosts=(SnaHost("lpar2"),),
        assumptions=("NetMarks sends 4 KB frames one way; 7.4 MB/s are what one channel carries and the other, too",),
    )


def _cmpc() -> Network:
    """Two routers with a CIP each, as the source plans for bulk data between data centers."""
    return Network(
        name="",
        switches=(),
        hosts=(),
        adapters=(_cip("cip-0", "csna"), _cip("cip-1", "csna")),
        wires=(Wire(("lpar1", 0), ("cip-0", 0)), Wire(("cip-0", 1), ("cip-1", 1)), Wire(("lpar2", 0), ("cip-1", 0))),
        flows=(),
        stations=(
            SnaStations(
                name="lpar1",
                group="cmpc",
                pus=1,
                lus_per_pu=BULK_LUS,
                frames_per_s=CMPC_FRAMES_PER_S,
                request_bytes=BLOCK_BYTES - SNA_HEADERS,
                waits=False,
            ),
        ),
        sna_hosts=(SnaHost("lpar2"),),
        assumptions=(
            "CMPC is 4 KB blocks on one channel at the rate of the pings, one way, with the CPU's cost of an SNA frame",
            "nothing is acknowledged: HPR's rate-based flow control and its acknowledgements are not modelled",
            "the ATM between the routers is no limit",
        ),
    )


def _tn3270(load: Load) -> Network:
    traffic = PUBLISHED["tn3270_server"]
    paced = load.size == PACED_SESSIONS
    pause_ns = load.size * SECOND // GENERATOR_TPS if paced else 0
    spread_ns = SESSIONS_START_PAUSES * pause_ns if paced else SESSIONS_START_NS
    hosts = []
    wires = []
    adapters = []
    flows: list[Flow] = []
    for number in range(load.cips):
        # The first CIP is on ports 1 and 3 of the router, the second on 4 and 5.
        cip, server, generator = f"cip-{number}", f"tn3270-{number}", f"generator-{number}"
        server_address, client_address = ("10.1.0.1", "10.3.0.1") if number == 0 else ("10.2.0.1", "10.4.0.1")
        channel_port, lan_port = (1, 3) if number == 0 else (4, 5)
        hosts += [
            _host(server, server_address, 1_500, SESSION_WINDOW_BYTES, relays=True),
            _host(generator, client_address, 1_500, SESSION_WINDOW_BYTES),
        ]
        adapters.append(_cip(cip, "tn3270"))
        wires += [
            Wire((f"hds-{number}", 0), (cip, 0)),
            Wire((server, 0), (cip, 2)),
            Wire((server, 1), (cip, 3)),
            Wire((cip, 1), ("c7513", channel_port)),
            Wire((generator, 0), ("c7513", lan_port)),
        ]
        flows += [
            RequestResponse(
                name=f"session-{number}-{session:05}",
                group=f"sessions-{number}",
                client=generator,
                client_address=client_address,
                server=server,
                server_address=server_address,
                server_port=23,
                request_bytes=traffic["request_bytes"],
                reply_bytes=traffic["reply_bytes"],
                records_per_connection=1_000_000,
                start_ns=session * spread_ns // load.size,
                pause_ns=pause_ns,
            )
            for session in range(load.size)
        ]
    pace = f"pauses {pause_ns / SECOND:.2f} s (850 transactions/s in all)" if paced else "asks without a pause"
    return Network(
        name="",
        switches=(_c7513(),),
        hosts=tuple(hosts),
        adapters=tuple(adapters),
        wires=tuple(wires),
        flows=tuple(flows),
        assumptions=(
            f"each session {pace}; sessions begin over {spread_ns / SECOND:g} s; ITPECHO answers at once",
            f"TCP windows of {SESSION_WINDOW_BYTES} bytes, delayed acknowledgements of 200 ms",
            "a TCP segment costs the CIP's CPU what an SNA frame does, and goes before SNA messages",
        ),
        sna_hosts=tuple(SnaHost(f"hds-{number}", traffic["reply_bytes"]) for number in range(load.cips)),
    )
