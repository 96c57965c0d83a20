"""A real switch and `phb monitor --listen`: what the page is told is what `phb show` and `phb explain` say."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest
from asking import ask, events

from phb.cli import run
from phb.explain import parse_packet
from phb.origin import Origin
from phb_switch import Network, PortConfig, Switch

POLICY = """
phb: 1
node: dut
ports:
  - {number: 1, name: line, rate: {value: 256, unit: kbit/s, basis: ethernet}}
  - {number: 2, name: lan}
routes:
  - {destination: 10.0.2.0/24, port: line, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
classes: [{name: gold}, {name: bulk}]
actions: [{name: gold, class: gold}, {name: bulk, class: bulk}]
rules:
  - {name: gold, match: {protocol: udp, destination-ports: 5004}, actions: [gold]}
  - {name: bulk, match: {protocol: udp, destination-ports: 20}, actions: [bulk]}
queueing:
  - port: line
    schedule:
      kind: classes
      queues: [{class: gold, level: 0, queue-limit: 30}, {class: bulk, level: 1, queue-limit: LIMIT}]
"""
PACKET = "udp 10.0.1.1:700 > 10.0.2.1:20 length 1000 in lan"
SECOND_NS = 10**9


@asynccontextmanager
async def monitored(*options):
    """Run `phb monitor` with a page that may change something; give its port."""
    command = [sys.executable, "-m", "phb", "monitor", *options, "--listen", "127.0.0.1:0", "--interval", "0.1"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    running = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        said = await asyncio.to_thread(running.stderr.readline)
        found = re.search(r"page: http://127\.0\.0\.1:(\d+)/\n", said)
        assert found, said + running.stderr.read()
        yield int(found[1])
    finally:
        running.send_signal(signal.SIGTERM)
        _, errors = await asyncio.to_thread(running.communicate, timeout=60)
    assert (running.returncode, errors) == (0, "")


async def answer(port, path, *more, **headers):
    status, _, body = await ask(port, path, *more, **headers)
    return status, json.loads(body)


@pytest.fixture
def switch():
    return Switch("dut", {1: PortConfig(256_000), 2: PortConfig()})


async def test_the_page_says_what_show_and_explain_say(switch, address, write_file, capsys):
    path = write_file("policy.yaml", POLICY.replace("LIMIT", "10"))
    where = ["--address", address]
    before = write_file("before.yaml", POLICY.replace("LIMIT", "20"))
    for each in (before, path):
        assert await asyncio.to_thread(run, ["push", *where, each]) == 0
    frame = parse_packet(PACKET, Origin("test")).frame
    traffic = Network(1)
    traffic.add_switch(switch)
    traffic.add_replay("source", [(number * 1_000_000, frame) for number in range(20)])
    traffic.add_replay("sink", [])
    traffic.connect("source", 0, "dut", 2)
    traffic.connect("dut", 1, "sink", 0)

    async def shown(*command):
        capsys.readouterr()
        assert await asyncio.to_thread(run, [*command, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    base = f"/api/switches/{address}"
    async with (
        monitored(*where, path, "--listen-writable") as port,
        events(port, f"/events?switch={address}") as told,
        asyncio.timeout(60),
    ):
        hello = await told.until("hello")
        assert (hello["writable"], [each["name"] for each in hello["switches"]]) == (True, [address])
        assert [(await told.until("mark"))["outcome"] for _ in range(2)] == ["applied", "applied"]
        await told.until("detail")
        traffic.run(SECOND_NS // 20)
        while not (line := (await told.until("detail"))["ports"]["line"])["queues"]["bulk"]["queued"]:
            pass
        queues = await shown("show", "queue", *where, path)
        status, told_of = await answer(port, f"{base}/queues")
        assert (status, told_of["ports"][0]) == (200, {**queues[0], "rate_bps": line["speed"]})
        assert {each["class"]: each["depth"] for each in queues[0]["queues"]}["bulk"] == line["queues"]["bulk"][
            "queued"
        ]

        status, policy = await answer(port, f"{base}/policy")
        rules = {each["rule"]: policy["files"][0]["lines"][each["line"] - 1] for each in policy["rules"]}
        assert "{name: bulk," in rules["bulk"]
        status, explained = await answer(port, f"/api/explain?switch={address}&packet={PACKET.replace(' ', '+')}")
        assert explained["packets"] == (await shown("explain", path, "--packet", PACKET))["packets"]
        status, explained = await answer(port, f"/api/explain?switch={address}&packet=nonsense")
        assert (status, "nonsense" in explained["error"]) == (422, True)

        last = (await shown("history", *where))[0]["number"]
        status, refused = await answer(port, f"{base}/rollback", "POST", '{"push": 1}', X_Phb="page")
        assert (status, refused["error"].startswith(f"push {last} has come meanwhile")) == (409, True)
        body = json.dumps({"push": last})
        status, report = await answer(port, f"{base}/rollback", "POST", body, X_Phb="page")
        assert (status, report["differs"]) == (200, True)
        while (mark := await told.until("mark"))["outcome"] == "started":
            pass
        assert (mark["command"], mark["number"]) == ("rollback", last + 1)
        queues = await shown("show", "queue", *where, path)
        assert {each["class"]: each["limit"] for each in queues[0]["queues"]}["bulk"] == 20
        status, report = await answer(port, f"{base}/push", "POST", "{}", X_Phb="page")
        assert (status, report["differs"]) == (200, True)
        assert (await shown("history", *where))[0]["command"] == "page"
