"""``phb show`` against the embedded switch that has seen packets; its names come from files, or from the last push."""

import asyncio
import json
from dataclasses import asdict

import pytest

from phb.cli import run
from phb.device.session import Session
from phb.show.execution import Execution
from phb.show.interfaces import COUNTERS
from phb_switch import P4RuntimeServer, PortConfig, Switch

POLICY = """
phb: 1
node: dut
ports:
  - {number: 1, name: line, rate: {value: 256, unit: kbit/s, basis: ethernet}}
  - {number: 2, name: lan}
  - {number: 3, name: spare}
routes:
  - {destination: 10.0.2.0/24, port: line, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
  - {destination: 10.0.3.0/24, port: spare, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:03"}
classes: [{name: gold}]
actions:
  - name: gold
    class: gold
    set-dscp: AF31
    meter:
      kind: single-rate
      committed-rate: {value: 64, unit: kbit/s, basis: ip}
      committed-burst-bytes: 300
      red: {drop: true}
rules:
  - {name: blocked, match: {protocol: tcp, destination-ports: 23}, permission: blocked}
  - {name: gold, match: {protocol: udp, destination-ports: 5004}, actions: [gold]}
queueing:
  - port: line
    hold-queue: 40
    schedule: {kind: fair-queue, dialect: ios-11.3, dynamic-conversations: 4096}
  - port: spare
    schedule:
      kind: classes
      queues: [{class: gold, level: 0, queue-limit: 30}]
"""


@pytest.fixture
def switch():
    return Switch("dut", {port: PortConfig(256_000 if port == 1 else None) for port in (1, 2, 3)})


@pytest.fixture
def pushed(switch, address, write_file, tmp_path, monkeypatch):
    """A switch with the policy, and packets seen: what to say on the command line to look at it."""
    from phb.explain import parse_packet
    from phb.origin import Origin

    monkeypatch.setenv("PHB_STATE", str(tmp_path / "state.sqlite"))
    path = write_file("policy.yaml", POLICY)
    where = ["--address", address]
    assert run(["push", *where, path]) == 0
    for now, text in enumerate(
        [
            "udp 10.0.1.1:700 > 10.0.2.1:5004 length 200",
            "udp 10.0.1.1:700 > 10.0.2.1:5004 length 200",
            "udp 10.0.1.1:700 > 10.0.3.1:5004 length 100",
            "tcp 10.0.1.1:700 > 10.0.2.1:23",
            "tcp 10.0.1.1:700 > 10.0.2.1:80 tos 192",
            "89 10.0.1.1 > 10.0.9.9",
        ]
    ):
        switch.process(2, parse_packet(text, Origin("test")).frame, now * 1000)
    return path, where


@pytest.fixture
def show(pushed, capsys):
    path, where = pushed

    def call(*arguments, files=True):
        capsys.readouterr()
        assert run(["show", *arguments, *where, *([path] if files else [])]) == 0
        return capsys.readouterr().out

    return call


@pytest.mark.parametrize("files", [True, False], ids=["files", "last push"])
def test_policies(show, files):
    rows = {row["rule"]: row for row in json.loads(show("policy", "--json", files=files))}
    assert rows["blocked"]["drops"] == {"blocked": 1}
    assert rows["gold"]["colours"]["green"] == {"packets": 2, "bytes": 328}
    assert rows["gold"]["drops"] == {"policed": 1}
    assert (rows["gold"]["class"], rows["gold"]["does"]) == ("gold", ["ToS 0x68 under 0xfc", "red: drop"])
    assert rows[None]["drops"] == {"no route": 1}
    assert rows[None]["packets"] == 2
    assert rows["gold"]["match"] == ["protocol=udp destination_port=5004"]
    assert "blocked\n" in show("policy", files=files) or "blocked " in show("policy", files=files)


TREATMENTS = """
phb: 1
actions:
  - {name: few, max-connections: 3}
  - {name: slow, max-rate: {value: 64, unit: kbit/s, basis: tcp-payload}}
  - name: bounded
    max-rate: {value: 1, unit: Mbit/s, basis: tcp-payload}
    min-rate: {value: 64, unit: kbit/s, basis: tcp-payload}
  - {name: tagged, set-pcp: 5}
  - {name: whole, set-tos: 184}
rules:
  - {name: few, match: {protocol: tcp, destination-ports: 1}, actions: [few]}
  - {name: slow, match: {protocol: tcp, destination-ports: 2}, actions: [slow]}
  - {name: bounded, match: {protocol: tcp, destination-ports: 3}, actions: [bounded]}
  - {name: tagged, match: {protocol: tcp, destination-ports: 4}, actions: [tagged]}
  - {name: whole, match: {protocol: tcp, destination-ports: 5}, actions: [whole]}
"""


def test_what_policies_do(address, write_file, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PHB_STATE", str(tmp_path / "state.sqlite"))
    where = ["--address", address]
    assert run(["push", *where, write_file("policy.yaml", TREATMENTS)]) == 0
    capsys.readouterr()
    assert run(["show", "policy", "--json", *where]) == 0
    assert {row["rule"]: row["does"] for row in json.loads(capsys.readouterr().out)} == {
        None: [],
        "few": ["at most 3 connections"],
        "slow": ["each connection at most 64003 bit/s on average"],
        "bounded": ["each connection at most 1000000, at least 64003 bit/s on average"],
        "tagged": ["priority 5"],
        "whole": ["ToS 184 (EF)"],
    }


def test_names_survive_new_numbers(show, pushed, address, write_file):
    """A rule put before the others gets a number of its own; the others keep theirs, and their counters."""
    text = POLICY.replace("rules:\n", "rules:\n  - {name: first, match: {protocol: tcp, destination-ports: 22}}\n")
    path = write_file("policy.yaml", text)
    assert run(["push", "--address", address, path]) == 0
    rows = {row["rule"]: row for row in json.loads(show("policy", "--json"))}
    assert rows["gold"]["colours"]["green"]["packets"] == 2
    assert rows["blocked"]["drops"] == {"blocked": 1}
    assert rows["first"]["packets"] == 0


def test_queues(show):
    line, spare = json.loads(show("queue", "--all", "--json"))
    assert (line["name"], line["strategy"], line["depth"], line["hold_queue"]) == ("line", "weighted fair", 0, 40)
    (queue,) = line["queues"]
    flows = {each["flow"]["destination_port"]: each for each in queue["conversations"]}
    assert flows[80]["flow"] == {
        "source": "10.0.1.1",
        "destination": "10.0.2.1",
        "protocol": 6,
        "tos": 192,
        "source_port": 700,
        "destination_port": 80,
    }
    assert (flows[80]["weight"], flows[80]["transmitted"]["packets"]) == (585, 1)
    assert [(each["class"], each["limit"]) for each in spare["queues"]] == [("gold", 30), ("class-default", None)]
    words = show("queue", "--all", "--port", "line")
    assert "line: queueing strategy weighted fair\n  Output queue: 0/40/0 (size/max total/drops)\n" in words
    assert "(depth/weight/discards/tail drops/interleaves) 0/585/0/0/0\n" in words
    assert (
        "source: 10.0.1.1, destination: 10.0.2.1,\n    TOS: 192 prot: 6, source port 700, destination port 80\n"
        in words
    )
    assert "spare" not in words


def test_classes(show):
    rows = {row["class"]: row for row in json.loads(show("class", "--json"))}
    assert (rows["gold"]["packets"], rows["class-default"]["packets"]) == (2, 1)
    assert sum(bucket["packets"] for bucket in rows["gold"]["histogram"]) == 2
    assert rows["gold"]["delay_us"]["p50"] == 0
    assert "gold: 2 packets\n" in show("class", "--histogram")


def test_meters(show):
    (row,) = json.loads(show("meter", "--json"))
    assert (row["action"], row["bursts_bytes"]) == ("gold", {"committed": 300, "excess": 0})
    assert (row["counts"], row["overhead_bytes"]) == ("datagram", 0)
    assert row["colours"] == {"green": {"packets": 2, "bytes": 328}, "red": {"packets": 1, "bytes": 214}}
    assert "64000" in show("meter")


def test_ports(show):
    rows = {row["name"]: row for row in json.loads(show("port", "--json"))}
    assert [rows[name]["packets"] for name in ("line", "lan", "spare")] == [2, 0, 1]
    assert (rows["spare"]["strategy"], rows["lan"]["strategy"]) == ("class-based", None)
    line = rows["line"]["interface"]
    assert (line["name"], line["rate_bps"], line["shaped"]) == ("eth1", None, False)
    assert rows["spare"]["interface"]["rate_bps"] is None
    assert set(line["counters"]) == set(COUNTERS)


def test_interfaces_of_ports_and_their_shapers(show, address, write_file):
    shaped = POLICY.replace(
        "    hold-queue: 40\n", "    hold-queue: 40\n    shaper: {rate: {value: 64, unit: kbit/s, basis: ethernet}}\n"
    )
    assert run(["push", "--address", address, write_file("policy.yaml", shaped)]) == 0
    rows = {row["name"]: row for row in json.loads(show("port", "--json"))}
    assert (rows["line"]["interface"]["rate_bps"], rows["line"]["interface"]["shaped"]) == (64_000, True)
    words = show("port")
    assert "64000 bit/s (shaper)" in words
    assert "eth2" in words


def test_ports_of_a_switch_without_gnmi(show, pushed, switch, capsys):
    path, _ = pushed
    server = P4RuntimeServer(switch, device_id=1, gnmi=False)
    where = ["--address", f"127.0.0.1:{server.start()}"]
    try:
        assert run(["push", *where, path]) == 0
        capsys.readouterr()
        assert run(["show", "port", *where, path]) == 0
        words = capsys.readouterr().out
        assert "the switch doesn't speak gNMI: interfaces and shapers are not known" in words
        assert run(["show", "port", "--json", *where, path]) == 0
        assert {row["interface"] for row in json.loads(capsys.readouterr().out)} == {None}
    finally:
        server.stop()


def test_switch(show, address):
    read = json.loads(show("switch", "--json", files=False))
    assert (read["address"], read["program"], read["target"]) == (address, "ours", "phb-switch")
    assert read["tables"]["forward.ipv4_route"] == {"used": 2, "size": 65536}
    assert (read["last_push"]["outcome"], read["version"]) == ("applied", read["version"])
    assert address in show("switch", files=False)


def test_what_runs_the_program(show, switch):
    told = json.loads(show("switch", "--json", files=False))["execution"]
    assert told == switch.execution
    assert (told["executor"], told["reason"]) == ("native", None)
    assert f" executor         native code, {told['code_bytes']} bytes\n" in show("switch", files=False)


@pytest.mark.parametrize(
    ("execution", "words"),
    [
        (Execution("interpreter", 0, None), "interpreter"),
        (Execution("interpreter", 0, "it is too long"), "interpreter: it is too long"),
        (None, "the switch doesn't tell: it has no gNMI, or not the model phb-program"),
    ],
    ids=["as asked", "instead", "not told"],
)
def test_an_interpreted_program(show, monkeypatch, execution, words):
    async def read(session):
        return execution

    monkeypatch.setattr("phb.show.switches.read_execution", read)
    assert f" executor         {words}\n" in show("switch", files=False)
    told = json.loads(show("switch", "--json", files=False))["execution"]
    assert told == (None if execution is None else asdict(execution))


def test_a_switch_without_gnmi_does_not_tell_what_runs_its_program(pushed, switch, capsys):
    path, _ = pushed
    server = P4RuntimeServer(switch, device_id=1, gnmi=False)
    where = ["--address", f"127.0.0.1:{server.start()}"]
    try:
        assert run(["push", *where, path]) == 0
        capsys.readouterr()
        assert run(["show", "switch", "--json", *where]) == 0
        assert json.loads(capsys.readouterr().out)["execution"] is None
    finally:
        server.stop()


async def test_another_controller_is_primary(pushed, address, artifact, capsys):
    """Looking tells who is primary, and takes nothing over."""
    _, where = pushed
    capsys.readouterr()
    async with Session(address, 1, artifact, election_id=7) as other:
        assert (await other.arbitrate()).primary
        for _ in range(2):
            assert await asyncio.to_thread(run, ["show", "switch", "--json", *where]) == 0
            read = json.loads(capsys.readouterr().out)
            assert (read["primary"], read["primary_election_id"]) == (True, 7)
        assert await asyncio.to_thread(run, ["show", "switch", *where]) == 0
        assert "election id 7" in capsys.readouterr().out
        assert other.mastership.primary


def test_without_any_files_the_switch_names_its_rules(pushed, address, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PHB_STATE", str(tmp_path / "other.sqlite"))
    capsys.readouterr()
    assert run(["show", "policy", "--json", "--address", address]) == 0
    rows = {row["rule"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) == {None, "blocked", "gold"}
    assert (rows["gold"]["class"], rows["gold"]["from"]) == ("gold", None)


def test_an_unknown_port_is_named(pushed, address, capsys):
    path, where = pushed
    assert run(["show", "queue", *where, "--port", "nowhere", path]) == 2
    assert "--port: found port 'nowhere', expected one of 'line', 'lan', 'spare'" in capsys.readouterr().err


def test_a_switch_with_another_program_is_refused(capsys):
    server = P4RuntimeServer(Switch("empty", {1: PortConfig()}), device_id=1)
    address = f"127.0.0.1:{server.start()}"
    try:
        assert run(["show", "class", "--address", address]) == 1
    finally:
        server.stop()
    assert "the switch runs another program than the artifact, or none" in capsys.readouterr().err


def test_a_switch_that_makes_whoever_looks_its_primary_has_none(show, monkeypatch):
    """As bmv2 does."""
    from phb.device.mastership import Mastership
    from phb.device.session import Session

    async def arbitrate(session, election_id=None):
        return Mastership(True, None, True, "Is primary")

    monkeypatch.setattr(Session, "arbitrate", arbitrate)
    assert json.loads(show("switch", "--json", files=False))["primary"] is False
    assert " primary          nobody\n" in show("switch", files=False)


@pytest.mark.parametrize("what", ["policy", "queue", "class", "meter", "port", "switch", "entries", "counters"])
def test_a_narrow_terminal_cuts_nothing(show, monkeypatch, what):
    """A number of which the end is missing is a wrong number."""
    wide = show(what, files=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    assert show(what, files=False).split() == wide.split()
