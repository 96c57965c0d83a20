"""``phb monitor`` with its history beside a real switch: killed, frozen, cut off, and each packet is counted once."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import count
from urllib.request import urlopen

import psycopg
import pytest

import phb_p4
from phb.monitor.by import By
from phb.monitor.history.accounts import accounts
from phb.monitor.history.file import HistoryFile
from phb_switch import Network, P4RuntimeServer, PortConfig, Switch

POLICY = """\
phb: 1
ports: [{number: 1, name: in}, {number: 2, name: out}]
cross-connects: [{between: [in, out]}]
classes: [{name: gold}]
actions: [{name: voice, class: gold}]
rules: [{name: calls, match: {protocol: udp, source: 10.1.0.0/16}, actions: [voice]}]
"""
# An Ethernet frame with an IPv4 and a UDP header, from 10.1.0.1 to 10.2.0.1, of 60 bytes.
FRAME = bytes.fromhex(
    "02000000010202000000010108004500002800000000401166c10a0100010a020001"
    "0400138800140000000000000000000000000000000000000000"
)


@pytest.fixture
def switch(tmp_path):
    made = Switch("edge", {1: PortConfig(), 2: PortConfig()})
    made.load(phb_p4.artifact_path().read_text())
    server = P4RuntimeServer(made, device_id=1)
    address = f"127.0.0.1:{server.start()}"
    (tmp_path / "policy.yaml").write_text(POLICY)
    phb(tmp_path, "push", "--address", address, "policy.yaml")
    yield made, address
    server.stop()


def phb(folder, *words):
    command = [sys.executable, "-m", "phb", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


_STARTS = count()


def traffic(switch, packets):
    """Let packets of 60 bytes pass, at a time after all earlier ones."""
    start = next(_STARTS) * 10**10
    network = Network(1)
    network.add_switch(switch)
    network.add_replay("source", [(start + 10_000 * number, FRAME) for number in range(packets)])
    network.connect("source", 0, switch.name, 1)
    network.run(start + 10**9)


def monitor(address):
    """A command without the files."""
    words = ("--address", address, "--interval", "0.1", "--metrics", "127.0.0.1:0")
    return [sys.executable, "-m", "phb", "monitor", *words]


def has_seen(said, packets):
    """Whether a monitor that says this has read that many packets from the switch."""
    found = re.search(r"http://\S+/metrics", said.read_text())
    with urlopen(found[0], timeout=60) as answer:
        told = re.search(
            r'^phb_class_sent_packets_total{.*class="gold".*} (\S+)$', answer.read().decode(), re.MULTILINE
        )
    return told is not None and float(told[1]) == packets


def wait(condition):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def started(folder, address):
    """Start a monitor, and wait until the file has a position of the switch that is newer than before."""
    before = position(folder)
    with (folder / "said").open("w") as said:
        process = subprocess.Popen(
            [*monitor(address), "--history", "history", "policy.yaml"], cwd=folder, stdout=said, stderr=said
        )
    wait(lambda: position(folder) != before or process.poll() is not None)
    assert process.poll() is None
    return process


def position(folder):
    if not (folder / "history").exists():
        return None
    with closing(sqlite3.connect(folder / "history")) as connection:
        try:
            return connection.execute("SELECT time_ns FROM position").fetchone()
        except sqlite3.OperationalError:
            return None


def test_each_packet_is_counted_once(tmp_path, switch):
    made, address = switch
    traffic(made, 5)  # before anybody looks
    process = started(tmp_path, address)
    traffic(made, 700)
    process.kill()
    process.wait()
    traffic(made, 30)
    process = started(tmp_path, address)
    traffic(made, 1)
    wait(lambda: has_seen(tmp_path / "said", 736))
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    words = ("accounting", "--history", "history", "--from", "2026-01-01", "--json")
    by_class = json.loads(phb(tmp_path, *words, "--by", "class"))
    assert [(each["name"], each["sent_packets"], each["sent_bytes"]) for each in by_class["accounts"]] == [
        ("gold", 731, 731 * 60)
    ]
    assert by_class["accounts"][0]["mean_delay_ms"] is not None
    with HistoryFile(tmp_path / "history", read_only=True) as file:
        for by, name in ((By.POLICY, "calls"), (By.SUBNET, "10.1.0.0/16 > anywhere")):
            account = accounts(file, by, 0, 10**8).accounts[0]
            assert (account.name, account.figures[0]) == (name, 731)


class Sharing:
    """Monitors of one switch that share a database, each with a file of what it says."""

    def __init__(self, folder, address, postgresql):
        self.folder, self.address, self.postgresql = folder, address, postgresql
        self.name = postgresql.fresh()
        self.url = postgresql.url(self.name)
        self.monitors = []

    def start(self):
        said = self.folder / f"said{len(self.monitors)}"
        with said.open("w") as output:
            command = [*monitor(self.address), "--state", self.url, "policy.yaml"]
            process = subprocess.Popen(command, cwd=self.folder, stdout=output, stderr=output)
        self.monitors.append((process, said))
        return process, said

    def writer(self):
        """Give the process that writes, and how often something was written."""
        try:
            ((called, writes),) = self.postgresql.sql("SELECT called, writes FROM phb_history.writer", name=self.name)
        except psycopg.Error:
            return 0, 0
        number = re.search(r"process (\d+)", called)
        return int(number[1]) if number else 0, writes

    def end(self):
        for process, _ in self.monitors:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        return [process.wait() for process, _ in self.monitors]


def test_monitors_share_a_database(tmp_path, switch, postgresql):
    made, address = switch
    sharing = Sharing(tmp_path, address, postgresql)
    try:
        first, _ = sharing.start()
        wait(lambda: sharing.writer()[0] == first.pid and sharing.writer()[1] > 2)
        second, said = sharing.start()
        wait(lambda: "this monitor stands by" in said.read_text())
        traffic(made, 700)
        first.kill()
        wait(lambda: sharing.writer()[0] == second.pid)
        traffic(made, 30)
        # The database is killed under them.
        writes = sharing.writer()[1]
        third, taken_over = sharing.start()
        postgresql.stop("kill")
        traffic(made, 5)
        wait(lambda: "doesn't answer" in said.read_text())
        postgresql.start()
        wait(lambda: sharing.writer()[1] > writes)
        wait(lambda: "it is written again" in said.read_text())
        second.send_signal(signal.SIGSTOP)
        wait(lambda: sharing.writer()[0] == third.pid)
        traffic(made, 11)
        second.send_signal(signal.SIGCONT)
        wait(lambda: f"process {third.pid} on" in said.read_text())
        traffic(made, 1)
        wait(lambda: has_seen(taken_over, 747))
    finally:
        codes = sharing.end()
    assert codes == [-signal.SIGKILL, 0, 0]
    words = ("accounting", "--state", sharing.url, "--from", "2026-01-01", "--json")
    found = json.loads(phb(tmp_path, *words, "--by", "class"))
    assert [(each["name"], each["sent_packets"]) for each in found["accounts"]] == [("gold", 747)]
