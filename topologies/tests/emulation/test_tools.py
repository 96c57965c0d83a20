"""Real tools in place of our generators, over the S/390 network's line."""

import json
from dataclasses import replace
from statistics import fmean

import pytest

from phb_lab.description import Datagrams, Stream
from phb_lab.emulation.clock import Span
from phb_lab.emulation.jobs import Received
from phb_lab.emulation.runner import EmulatedRun
from phb_lab.emulation.tools import TOOLS, chosen, iperf3, mgen, tool_for
from phb_lab.errors import UsageError
from phb_lab.networks.s390 import STUDY

SECOND = 1_000_000_000
DURATION_S = 14


def described():
    network = STUDY.network(STUDY.find_test("diffserv-wfq-cip"), seed=1, options=STUDY.defaults())
    chosen_flows = [flow for flow in network.flows if flow.name in ("interactive-00", "ftp-00", "ftp-01")]
    return replace(network, flows=tuple(chosen_flows))


def needs(*names):
    missing = [f"{name}: {reason}" for name in names if (reason := TOOLS[name].missing())]
    return pytest.mark.skipif(bool(missing), reason="; ".join(missing) or "all are there")


def run(network, tools):
    with EmulatedRun(network, seed=1, tools=tools) as emulated:
        emulated.push_policies()
        return emulated.run(DURATION_S * SECOND, lambda now: None)


@pytest.mark.mininet
@needs("ftp", "tn3270")
def test_curl_fetches_files_and_s3270_enters_fields():
    outcome = run(described(), ("ftp", "tn3270"))
    interactive = [each.response_s for each in outcome.transactions if each.group == "interactive"]
    files = [each.response_s for each in outcome.transactions if each.group == "ftp"]
    assert len(interactive) > 10
    # 10,000 bytes at 256 kbit/s take 0.31 s, and two share the line.
    assert len(files) > 5
    assert 0.31 < fmean(files) < 3
    assert fmean(interactive) < fmean(files)


@pytest.mark.mininet
@needs("iperf3", "mgen")
def test_iperf3_fills_the_line_beside_datagrams_of_mgen_and_our_own():
    network = described()
    ask = network.flows[0]
    ends = {
        "client": ask.server,
        "client_address": ask.server_address,
        "server": ask.client,
        "server_address": ask.client_address,
    }
    stream = Stream(name="pour", group="tcp", **ends, server_port=5201, start_ns=0)
    drip = Datagrams(
        name="drip", group="udp", **ends, server_port=5300, payload_bytes=100, interval_ns=SECOND // 10, start_ns=0
    )
    network = replace(network, flows=(stream, drip))
    outcome = run(network, ("iperf3", "mgen"))
    poured, dripped = outcome.delivery("pour"), outcome.delivery("drip")
    assert 150_000 < poured.throughput_bps(2, 8) < 256_000
    assert dripped.received_packets > 100
    assert dripped.received_packets <= dripped.sent_packets <= 10 * DURATION_S + 1
    delays = dripped.delay_s()
    assert delays is not None
    # A datagram alone takes 4.3 ms at 256 kbit/s.
    assert 0.004 < delays.mean_s < 2


def test_tools_take_their_own_flows_and_nothing_else():
    network = described()
    ask, transfer = (next(flow for flow in network.flows if flow.group == group) for group in ("interactive", "ftp"))
    assert tool_for(ask, ("ftp", "tn3270")) is TOOLS["tn3270"]
    assert tool_for(transfer, ("ftp", "tn3270")) is TOOLS["ftp"]
    assert tool_for(transfer, ("tn3270", "iperf3", "mgen")) is None


def test_wrong_tools_are_refused(monkeypatch):
    with pytest.raises(UsageError, match="--tool netperf: expected one of: iperf3, mgen, ftp, tn3270"):
        chosen(["netperf"])
    with pytest.raises(UsageError, match="--tool iperf3: s390/diffserv-wfq-cip has no streams"):
        run(described(), ("iperf3",))
    first, second, *others = sorted(described().flows, key=lambda flow: flow.group)
    shared = replace(second, server_port=first.server_port)
    with pytest.raises(UsageError, match="--tool ftp: two flows of s390/diffserv-wfq-cip share a server port"):
        run(replace(described(), flows=(first, shared, *others)), ("ftp",))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="--tool mgen: needs the command mgen"):
        chosen(["mgen"])


def test_a_report_of_iperf3_becomes_octets_by_second():
    received = Received()
    report = {"intervals": [{"sum": {"end": 1.0, "bytes": 10}}, {"sum": {"end": 2.000133, "bytes": 20}}]}
    iperf3.take(json.loads(json.dumps(report)), 3 * SECOND, received)
    assert (received.octets, received.by_second) == (30, [0, 0, 0, 10, 0, 20])


def test_a_log_of_mgen_becomes_delays(tmp_path):
    log = tmp_path / "log"
    form = "{} RECV proto>UDP flow>7 seq>{} src>127.0.0.1/1 dst>127.0.0.1/2 sent>{} size>100 gps>INVALID"
    lines = [
        "00:00:00.598875 START Mgen Version 5.02b",
        form.format("00:00:00.000401", 0, "23:59:59.999900"),
        form.format("00:00:00.100000", 1, "00:00:00.099000"),
        form.format("00:00:00.200000", 1, "00:00:00.099000"),
    ]
    log.write_text("\n".join(lines))
    received = Received()
    mgen.take(log, Span(0, 10**15), received)
    assert received.packets == 2
    assert [delay for _, delay in received.delays_ns] == [501_000, 1_000_000]
    (first, _), (second, _) = received.delays_ns
    assert second - first == pytest.approx(99_599_000, abs=1_000_000)
