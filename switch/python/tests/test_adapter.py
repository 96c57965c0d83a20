"""A host adapter of a virtual network, run by the clock on capture files."""

import time
from pathlib import Path

import pytest
from scapy.utils import RawPcapReader, RawPcapWriter

from phb_switch import Network, Port, RealTime, Switch

WAIT_SECONDS = 60.0
FRAMES = [bytes([number]) * 1514 for number in range(5)]


def adapters() -> Network:
    network = Network(1)
    network.add("osa2", "osa2", rate_bps=100_000_000, mtu_bytes=1500, latency_ns=20_000_000)
    network.add("host", "host", addresses=["10.0.0.1"], mtu_bytes=1500, window_bytes=1000)
    return network


def test_frames_pass_an_adapter_by_the_clock_and_its_network_counts_them(tmp_path: Path) -> None:
    with RawPcapWriter(str(tmp_path / "in.pcap"), linktype=1) as capture:
        for frame in FRAMES:
            capture.write(frame)
    network = adapters()
    ports = {0: Port.files("host", tmp_path / "in.pcap", None), 1: Port.files("line", None, tmp_path / "out.pcap")}
    runner = RealTime(network.adapter("osa2"), ports)
    runner.start()
    end = time.monotonic() + WAIT_SECONDS
    # A header and, per frame, a record header (pcap).
    complete = 24 + sum(16 + len(frame) for frame in FRAMES)
    while (tmp_path / "out.pcap").stat().st_size < complete:
        assert time.monotonic() < end
        time.sleep(0.01)
    runner.stop()
    assert runner.statistics()["error"] is None
    with RawPcapReader(str(tmp_path / "out.pcap")) as left:
        assert [frame for frame, _ in left] == FRAMES
    assert network.statistics()["adapters"]["osa2"]["outbound"]["sent"] == len(FRAMES)


def test_what_is_no_adapter_is_refused() -> None:
    network = adapters()
    with pytest.raises(ValueError, match="name: the node named 'host' is not an adapter"):
        network.adapter("host")
    with pytest.raises(ValueError, match="there is no node named 'else'"):
        network.adapter("else")
    with pytest.raises(TypeError, match="expected a Switch or an Adapter"):
        RealTime(network, {})  # type: ignore[arg-type]


def test_a_runner_runs_once() -> None:
    runner = RealTime(Switch("test", {}), {})
    runner.start()
    with pytest.raises(RuntimeError, match="the node runs already"):
        runner.start()
    runner.stop()
