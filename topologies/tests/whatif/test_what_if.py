import json
import subprocess
import sys
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import PcapWriter

import phb_examples

S390 = Path(phb_examples.__file__).parent / "s390"
FIFO = [S390 / "c7513.yaml", S390 / "c7513-routes-cip.yaml", S390 / "c7513-fifo.yaml"]
WFQ = [S390 / "c7513.yaml", S390 / "c7513-routes-cip.yaml", S390 / "c7513-wfq.yaml"]


def what_if(*arguments, cwd):
    command = [sys.executable, "-m", "phb_lab", "what-if", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=180)


def given(option, files):
    return [word for file in files for word in (option, file)]


def by_name(done):
    assert done.returncode == 0, done.stderr
    return {(each["class"], each["quantity"]): each for each in json.loads(done.stdout)["changes"]}


def test_fair_queueing_instead_of_fifo_on_the_network(tmp_path):
    done = what_if(
        "--network", "s390:diffserv-fifo-cip", *given("--proposed", WFQ), "--seeds", 2, "--duration", 40, "--json",
        cwd=tmp_path,
    )  # fmt: skip
    found = by_name(done)
    response = found["interactive", "response_mean_s"]
    assert response["proposed"] < response["current"] / 4
    inside = found["interactive, c7513 to branch", "delay_mean_s"]
    assert inside["difference"] + inside["half_width_95"] < 0
    assert inside["current"] == pytest.approx(response["current"], rel=0.1)
    assert ("ftp, c7513 to os390", "loss") in found


@pytest.fixture
def congested(tmp_path):
    """A second of two marks, together twice what 256 kbit/s carry: 40 packets of each."""
    path = tmp_path / "both.pcap"
    with PcapWriter(str(path), nano=True) as writer:
        for number in range(80):
            marked = number % 2
            header = IP(src="133.10.20.1", dst="133.10.50.2", tos=192 if marked else 0, id=number)
            frame = Ether(src="02:00:20:00:00:01", dst="02:00:20:00:00:99") / header
            frame /= UDP(sport=700 + marked, dport=9) / bytes(772)
            frame.time = 1_000_000 + number * 0.0125
            writer.write(frame)
    return path


def test_fair_queueing_instead_of_fifo_on_a_capture(tmp_path, congested):
    done = what_if(
        *given("--current", FIFO), *given("--proposed", WFQ), "--capture", congested, "--port", "Channel10/0",
        "--rate", "Serial5/0/0=256000-7", "--by", "dscp", "--seeds", 2, "--json", cwd=tmp_path,
    )  # fmt: skip
    found = by_name(done)
    # FIFO: 80 packets come at 12.5 ms and leave at 25 ms each, so that the n-th waits n x 12.5 ms: 0.5 s on average.
    fifo = found["DSCP 48", "delay_mean_s"]["current"]
    assert fifo == pytest.approx(found["DSCP 0", "delay_mean_s"]["current"], rel=0.05)
    assert 0.4 < fifo < 0.6
    # Fair queueing: either mark by itself is the whole line. Weights of 585 and 4096 are shares of 7/8 and 1/8, so
    # that the one is 1/8 s behind after its second, and the other waits until it is over.
    assert 0.05 < found["DSCP 48", "delay_mean_s"]["proposed"] < 0.15
    assert found["DSCP 0", "delay_mean_s"]["proposed"] > 0.8
    assert found["DSCP 0", "loss"]["proposed"] == 0


def test_the_table_marks_what_is_sure(tmp_path, congested):
    done = what_if(
        *given("--current", FIFO), *given("--proposed", WFQ), "--capture", congested, "--port", "Channel10/0",
        "--rate", "Serial5/0/0=256000", "--by", "dscp", "--seeds", 2, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "80 packets in 1.0 s: 2 seeds from 1" in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if "DSCP 48" in line and "packets" in line]
    assert "*" not in line
    assert any("delay mean [s]" in line and "*" in line for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [*given("--proposed", WFQ), "--network", "s390:diffserv-fifo-cip", "--rate", "a=5"],
            "phb-lab: --rate: expected it with --capture only",
        ),
        (given("--proposed", WFQ), "phb-lab: what-if: expected one of --network NETWORK:TEST and --capture FILE"),
        (["--proposed", "none.yaml", "--network", "s390:x"], "phb-lab: --proposed none.yaml: found no file"),
        ([*given("--proposed", WFQ), "--network", "s390"], "phb-lab: --network s390: expected a test, such as s390:"),
        (
            [*given("--proposed", WFQ), "--network", "s390:diffserv-fifo-cip", "--switch", "c1"],
            "phb-lab: --switch c1: expected one of: mvs074, c7513, c3640",
        ),
        ([*given("--proposed", WFQ), "--capture", "x.pcap"], "phb-lab: --capture: expected --current FILE"),
        (
            [*given("--proposed", WFQ), *given("--current", FIFO), "--capture", WFQ[0]],
            "c7513.yaml: found a file that is no capture",
        ),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(tmp_path, arguments, message):
    done = what_if(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "its packets don't say where they arrive, expected --port PORT"),
        (["--port", "x"], "found the port x, expected one of: "),
        (["--port", "Channel10/0", "--rate", "x=1"], "--rate: found 'x=1', expected PORT=BITS[+BYTES]"),
        (
            ["--port", "Channel10/0", "--rate", "Serial5/0/0=fast"],
            "--rate: found 'Serial5/0/0=fast', expected PORT",
        ),
    ],
)
def test_what_is_wrong_with_ports_is_said(tmp_path, congested, arguments, message):
    done = what_if(
        *given("--current", FIFO), *given("--proposed", WFQ), "--capture", congested, *arguments, cwd=tmp_path
    )
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
