"""A real switch, `phb monitor --listen` and a real browser: live figures, what a person asks, a push taken back."""

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest

from phb.cli import run
from phb.explain import parse_packet
from phb.origin import Origin
from phb_switch import Network, P4RuntimeServer, PortConfig, Switch
from tests.browser import viewing

POLICY = """
phb: 1
node: dut
ports:
  - {number: 1, name: line, rate: {value: 256, unit: kbit/s, basis: ethernet}}
  - {number: 2, name: lan}
routes:
  - {destination: 10.0.2.0/24, port: line, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
classes:
  - {name: bulk, objectives: {maximum-rate: {value: 1, unit: kbit/s, basis: ip}}}
actions: [{name: bulk, class: bulk}]
rules:
  - {name: bulk, match: {protocol: udp, destination-ports: 20}, actions: [bulk]}
queueing:
  - port: line
    schedule: {kind: classes, queues: [{class: bulk, level: 1, queue-limit: LIMIT}]}
"""
PACKET = "udp 10.0.1.1:700 > 10.0.2.1:20 length 1000 in lan"
SECOND_NS = 10**9
HANGS_MS = 40_000


@contextmanager
def listening(*options):
    """Run `phb monitor` with a page that may change something; give its address, and the process."""
    command = [sys.executable, "-m", "phb", "monitor", *options, "--listen", "127.0.0.1:0", "--interval", "0.1"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    running = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        found = re.search(r"page: (http://\S+/)\n", running.stderr.readline())
        yield found[1], running
    finally:
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)


@pytest.fixture(scope="module")
def viewer(tmp_path_factory):
    with viewing(tmp_path_factory.mktemp("profile"), "html[data-ready]", loopback=True) as viewer:
        viewer.tab.set_default_timeout(HANGS_MS)
        yield viewer


def test_a_person_looks_asks_and_takes_back(viewer, write_file):
    dut = Switch("dut", {1: PortConfig(256_000), 2: PortConfig()})
    traffic = Network(1)
    traffic.add_switch(dut)
    frame = parse_packet(PACKET, Origin("test")).frame
    traffic.add_replay("source", [(number * 1_000_000, frame) for number in range(40)])
    traffic.add_replay("sink", [])
    traffic.connect("source", 0, "dut", 2)
    traffic.connect("dut", 1, "sink", 0)
    with P4RuntimeServer(dut, device_id=1) as server:
        where = ["--address", server.address]
        path = write_file("policy.yaml", POLICY.replace("LIMIT", "10"))
        for each in (write_file("before.yaml", POLICY.replace("LIMIT", "20")), path):
            # Playwright has an event loop in this thread.
            with ThreadPoolExecutor(1) as thread:
                assert thread.submit(run, ["push", *where, each]).result() == 0
        with listening(*where, path, "--listen-writable") as (url, monitor):
            tab = viewer.show(url)
            tab.locator(".tile", has_text=server.address).click()
            traffic.run(SECOND_NS // 20)
            tab.locator("figure", has_text="line").filter(has_text="packets waiting").first.wait_for()
            tab.locator(".objectives li", has_text="maximum rate").wait_for()

            asked = {"switch": server.address, "view": "explain", "packet": PACKET}
            tab.goto(f"{url}#{urlencode(asked)}")
            tab.locator("dd", has_text="bulk").first.wait_for()

            tab.goto(f"{url}#{urlencode({'switch': server.address})}")
            tab.get_by_role("button", name="Take back the last push").click()
            tab.get_by_role("button", name="Take it back").click()
            tab.locator(".happened", has_text="rollback").wait_for()
            monitor.kill()
            tab.locator("#lost:not([hidden])").wait_for()
    wrong = [text for text in viewer.told if "Failed to load resource" not in text and "ERR_" not in text]
    assert wrong == []
