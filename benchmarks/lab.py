"""`lab.events_per_s`: how many events a second of one core carries through a virtual network.

An event is a frame that leaves or arrives, or a timer of a node. The network is the S/390 test with the most
packets per second of virtual time: fair queueing, both directions, ten TCP connections' ends and two routers that each
run the whole program. Without captures, and without the set-up.

`lab.sessions.speed`: seconds of virtual time per second of a core while 16,000 TN3270-like sessions, a TCP connection
each, ask 100 bytes, are answered 800, and pause so long that all together make 785 transactions per second (without a
network between the hosts). `lab.sessions.mb`: what the process holds by then, both ends of all connections.
"""

import time
from pathlib import Path

from benchmarks.figures import Figure
from phb_lab.networks.s390 import STUDY
from phb_lab.virtual import VirtualRun
from phb_switch import Network

TEST = "ipprec-wfq-osa2"
VIRTUAL_NS = 300_000_000_000
ROUNDS = 5

SECOND_NS = 1_000_000_000
SESSIONS = 16_000
TRANSACTIONS_PER_S = 785
SESSIONS_S = 60
# Replies of 800 bytes come one at a time; the buffers hold two.
SESSION_BUFFER_BYTES = 2048


def measure() -> list[Figure]:
    """Run the test several times and take the fastest: other load only slows a run down."""
    rates = []
    for seed in range(1, ROUNDS + 1):
        described = STUDY.network(STUDY.find_test(TEST), seed=seed, options=STUDY.defaults())
        with VirtualRun(described, seed=seed) as run:
            run.push_policies()
            started = time.process_time()
            run.run(VIRTUAL_NS, lambda _: None)
            rates.append(run.events / (time.process_time() - started))
    return [Figure("lab.events_per_s", max(rates), "1/s"), *measure_sessions()]


def measure_sessions() -> list[Figure]:
    """Connect all sessions, let each ask once, then time three parts and take the fastest."""
    before = _resident_mb()
    network = sessions(SESSIONS)
    steady_ns = 2 * _pause_ns(SESSIONS)
    network.run(steady_ns)
    speeds = []
    for part in range(1, 4):
        started = time.process_time()
        network.run(steady_ns + part * SESSIONS_S * SECOND_NS)
        speeds.append(SESSIONS_S / (time.process_time() - started))
    return [Figure("lab.sessions.speed", max(speeds), "x"), Figure("lab.sessions.mb", _resident_mb() - before, "MB")]


def sessions(count: int) -> Network:
    """Connect two hosts, a millisecond apart, by that many sessions, which start evenly over one pause."""
    network = Network(1)
    for name, address in (("server", "10.0.0.1"), ("clients", "10.0.0.2")):
        network.add("host", name, addresses=[address], mtu_bytes=1500, window_bytes=SESSION_BUFFER_BYTES)
    network.connect("server", 0, "clients", 0, SECOND_NS // 1000)
    pause_ns = _pause_ns(count)
    for number in range(count):
        network.add_flow(
            "request_response",
            name=f"session-{number}",
            group="tn3270",
            client="clients",
            server="server",
            client_address="10.0.0.2",
            server_address="10.0.0.1",
            server_port=23,
            request_bytes=100,
            reply_bytes=800,
            records_per_connection=1_000_000,
            start_ns=number * pause_ns // count,
            pause_ns=pause_ns,
        )
    return network


def _pause_ns(count: int) -> int:
    return count * SECOND_NS // TRANSACTIONS_PER_S


def _resident_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    raise RuntimeError("/proc/self/status has no VmRSS")
