"""Parts of the Mininet runner that need neither root nor Mininet."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.utils import RawPcapReader

from phb_lab import data_files
from phb_lab.description import (
    Adapter,
    Datagrams,
    Host,
    Messages,
    Network,
    RequestResponse,
    SnaHost,
    SnaStations,
    Stream,
    Wire,
)
from phb_lab.emulation import addressing, capture
from phb_lab.emulation.jobs import HostJob, Received, Report, Sent
from phb_lab.emulation.node import NodeDescription, build
from phb_lab.errors import UsageError
from phb_lab.networks.s390 import STUDY

ENDS = {
    "group": "g",
    "client": "a",
    "client_address": "10.0.0.1",
    "server": "b",
    "server_address": "10.0.0.2",
    "server_port": 5000,
}
FLOWS = (
    RequestResponse(
        name="ask", **ENDS, request_bytes=1, reply_bytes=2, records_per_connection=3, start_ns=4, stop_ns=None
    ),
    Messages(name="mail", **ENDS, permanent=True, schedule=((5, 6), (7, 8)), answer_bytes=9),
    Stream(name="pour", **ENDS, start_ns=10, total_bytes=11),
    Datagrams(name="drip", **ENDS, payload_bytes=16, interval_ns=12, start_ns=13, pattern="poisson", tos=184),
)
HOSTS = (Host("a", ("10.0.0.1",), 1500, 16384, None), Host("b", ("10.0.0.2", "10.0.0.3"), 4096, 16384, 200))


def test_a_job_is_read_as_it_was_written(tmp_path):
    network = Network("test", (), HOSTS, (), (), FLOWS)
    for host, clients, servers in ((HOSTS[0], 4, 0), (HOSTS[1], 0, 4)):
        job = HostJob.of(network, host, 1)
        assert (len(job.clients), len(job.servers)) == (clients, servers)
        job.write(tmp_path / "job")
        assert HostJob.read(tmp_path / "job") == job


def test_a_report_is_read_as_it_was_written(tmp_path):
    report = Report([(1, 2, 3)], {4: Sent(5, 6)}, {7: Received(8, 9, [10], [(11, 12)])})
    report.fail("gone")
    report.fail("gone")
    report.write(tmp_path / "report")
    assert Report.read(tmp_path / "report") == report
    assert report.failures == {"gone": 2}


@given(st.lists(st.tuples(st.integers(-5, 10**11), st.integers(0, 10**6)), max_size=30))
def test_octets_are_counted_in_the_second_in_which_they_come(arrivals):
    received = Received()
    for at, octets in arrivals:
        received.count(at, octets)
    assert received.octets == sum(received.by_second) == sum(octets for _, octets in arrivals)
    for second, counted in enumerate(received.by_second):
        assert counted == sum(octets for at, octets in arrivals if max(at, 0) // 10**9 == second)


@pytest.mark.parametrize(
    ("test", "mac"), [("diffserv-fifo-cip", "02:00:74:00:00:02"), ("diffserv-fifo-osa2", "02:00:74:00:00:03")]
)
def test_a_host_has_the_address_that_its_router_writes(test, mac):
    network = STUDY.network(STUDY.find_test(test), seed=1, options=STUDY.defaults())
    assert addressing.host_macs(network) == {"os390": mac, "branch": "02:00:50:00:00:01"}


def test_two_addresses_for_one_interface_are_refused(tmp_path):
    policy = tmp_path / "node.yaml"
    policy.write_text(
        """
phb: 1
node: c3640
ports: [{number: 1, name: line}, {number: 2, name: lan}]
routes:
  - {destination: 133.10.50.0/24, port: lan, source-mac: 02:00:00:00:00:01, destination-mac: 02:00:00:00:00:02}
  - {destination: 133.10.50.2/32, port: lan, source-mac: 02:00:00:00:00:01, destination-mac: 02:00:00:00:00:03}
"""
    )
    network = STUDY.network(STUDY.find_test("diffserv-fifo-cip"), seed=1, options=STUDY.defaults())
    network = network.with_policies({"c3640": (policy,)})
    assert addressing.host_macs(network)["branch"] == "02:00:00:00:00:03", "the longer prefix"
    hosts = tuple(
        replace(host, addresses=("133.10.50.2", "133.10.50.9")) if host.name == "branch" else host
        for host in network.hosts
    )
    with pytest.raises(UsageError, match="host branch: routers write 02:00:00:00:00:02 and 02:00:00:00:00:03"):
        addressing.host_macs(replace(network, hosts=hosts))


def test_captures_of_both_ends_become_one_by_time(tmp_path):
    zero = 10**18
    for name, times in (("a", (zero - 1, zero + 5, zero + 2_000_000_001)), ("b", (zero + 3, zero + 7))):
        with (tmp_path / name).open("wb") as file:
            file.write(capture._HEADER)
            for at in times:
                capture._write(file, at, f"{name}{at - zero}".encode())
    capture.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both.pcap", zero)
    with RawPcapReader(str(tmp_path / "both.pcap")) as records:
        found = [(frame.decode(), meta.sec, meta.usec) for frame, meta in records]
    assert found == [("b3", 0, 3), ("a5", 0, 5), ("b7", 0, 7), ("a2000000001", 2, 1)]


ADAPTERS = data_files.adapters()
NODES = (
    Adapter("cip", "cip", {**ADAPTERS["cip-ip-datagram"], "channels": 2}),
    Adapter("osa", "osa", {**ADAPTERS["osa"], "lan_idle_ns": 40_000}),
    SnaStations("dominos", "sna", 2, 3, 500, 100),
    SnaHost("hds", 200),
)


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.name)
def test_a_node_is_built_as_it_was_described(node):
    described = NodeDescription.of(node, (0, 1), seed=7)
    assert NodeDescription.from_json(described.as_json()) == replace(described, ports=[0, 1])
    assert build(described).adapter(node.name)


def test_a_wire_is_a_line():
    described = NodeDescription.of_wire("wire-0", Wire(("a", 0), ("b", 0), 5, 30_000), seed=7)
    counted = build(described).statistics()["adapters"]["wire-0"]
    assert counted["kind"] == "line"
    assert "loss" in counted["outbound"]["dropped"]
