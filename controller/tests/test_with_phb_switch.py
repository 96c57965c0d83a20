"""The controller against the embedded switch, over gRPC; packets show that the switch does what the files say."""

import asyncio
from dataclasses import replace
from datetime import datetime

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

import phb
from phb import Artifact, Change
from phb.device.describe import describe
from phb_switch import P4RuntimeServer, PortConfig, Switch

AT = datetime(1999, 3, 1, 12, 0)
NAMES = ("mvs074", "c7513", "c3640")


@pytest.fixture
def switches():
    return [Switch(name, {port: PortConfig() for port in (1, 2, 3)}) for name in NAMES]


@pytest.fixture
def served(switches):
    """Addresses of the switches' servers."""
    servers = [P4RuntimeServer(switch, device_id=number) for number, switch in enumerate(switches, start=1)]
    yield [f"127.0.0.1:{server.start()}" for server in servers]
    for server in servers:
        server.stop()


@pytest.fixture
def wfq(examples):
    return [examples / name for name in ("c7513.yaml", "c7513-routes-osa2.yaml", "c7513-wfq.yaml")]


def packet(source, source_port, destination, destination_port, tos=0):
    ip = IP(src=source, dst=destination, tos=tos, ttl=64)
    return bytes(
        Ether(src="02:00:00:00:00:aa", dst="02:00:00:00:00:bb") / ip / TCP(sport=source_port, dport=destination_port)
    )


def sent(switch, port, frame):
    """The one frame that the switch sends for this one, with its port."""
    ((_, out, data),) = switch.process(port, frame, 0)
    return out, Ether(data)


def of_policies(held):
    """Without the switch's secret keys."""
    return [entry for entry in held if "secret" not in entry.parameters.values()]


def test_s390_network(served, examples, artifact):
    names = [
        ["mvs074.yaml", "mvs074-osa2.yaml", "policy-agent-precedence-osa2.conf"],
        ["c7513.yaml", "c7513-routes-osa2.yaml", "c7513-wfq.yaml"],
        ["c3640.yaml"],
    ]
    targets = [
        phb.Target(address, [examples / name for name in files], device_id=number)
        for number, (address, files) in enumerate(zip(served, names, strict=True), start=1)
    ]
    first = asyncio.run(phb.push_all(targets, at=AT))
    assert [report.count(Change.INSERT) for report in first] == [12, 14, 6]
    assert all(report.pipeline_replaced for report in first)
    again = asyncio.run(phb.push_all(targets, at=AT))
    assert [(report.changes, report.unchanged) for report in again] == [((), 12), ((), 14), ((), 6)]
    assert len(of_policies(asyncio.run(phb.read_entries(served[1], device_id=2)))) == 14
    assert asyncio.run(phb.read_counters(served[1], device_id=2))["policy_traffic"] == {}


def test_change_of_policy(served, examples):
    common = [examples / "c7513.yaml", examples / "c7513-routes-cip.yaml"]
    asyncio.run(phb.push(served[1], [*common, examples / "c7513-wfq.yaml"], device_id=2, at=AT))
    report = asyncio.run(phb.push(served[1], [*common, examples / "c7513-fifo.yaml"], device_id=2, at=AT))
    assert not report.pipeline_replaced
    counts = {change.value: report.count(change) for change in Change}
    assert counts == {"insert": 0, "modify": 2, "delete": 8}


def test_wrong_device_id_is_the_switchs_word(served, examples):
    with pytest.raises(phb.SwitchError):
        asyncio.run(phb.push(served[0], [examples / "c3640.yaml"], device_id=99, at=AT))


@pytest.mark.parametrize(
    ("marking", "path", "port", "tos"),
    [
        ("precedence", "osa2", 3, 192),
        ("precedence", "cip", 2, 192),
        ("diffserv", "osa2", 3, 252),
        ("diffserv", "cip", 2, 252),
    ],
)
def test_marking(switches, served, examples, marking, path, port, tos):
    """Appendix E of the source displays ToS 192 and 252 for the interactive traffic."""
    names = ["mvs074.yaml", f"mvs074-{path}.yaml", f"policy-agent-{marking}-{path}.conf"]
    asyncio.run(phb.push(served[0], [examples / name for name in names], at=AT))
    client, vipa, interface = "133.10.50.2", "135.1.1.1", f"133.10.{port}0.1"
    marks = {}
    for what, source, source_port in (
        ("rule1", vipa, 700),
        ("rule1, last port", vipa, 719),
        ("no rule: port", vipa, 720),
        ("rule2", interface, 600),
        ("rule3", interface, 819),
        ("no rule: address", interface, 700),
    ):
        out, frame = sent(switches[0], 1, packet(source, source_port, client, 1282))
        assert (out, frame[IP].ttl) == (port, 64)
        marks[what] = frame[IP].tos
    assert marks == {
        "rule1": tos,
        "rule1, last port": tos,
        "no rule: port": 0,
        "rule2": 96,
        "rule3": 32,
        "no rule: address": 0,
    }
    out, frame = sent(switches[0], port, packet(client, 1282, vipa, 700))
    assert (out, frame[IP].tos) == (1, 0)
    counters = asyncio.run(phb.read_counters(served[0], ["policy_traffic"]))["policy_traffic"]
    assert {index // 4: cell.packets for index, cell in counters.items()} == {0: 2, 1: 2, 2: 1, 3: 1, 4: 1}


def test_routing(switches, served, wfq):
    asyncio.run(phb.push(served[1], wfq, device_id=2, at=AT))
    out, frame = sent(switches[1], 3, packet("135.1.1.1", 700, "133.10.50.2", 1282, tos=192))
    assert (out, frame[IP].ttl, frame[IP].tos) == (1, 63, 192)
    assert (frame.src, frame.dst) == ("02:00:75:00:00:01", "02:00:36:00:00:01")
    assert switches[1].process(3, packet("135.1.1.1", 700, "10.0.0.1", 1), 0) == []
    drops = asyncio.run(phb.read_counters(served[1], ["policy_drops"], device_id=2))["policy_drops"]
    assert {index: cell.packets for index, cell in drops.items()} == {3: 1}  # policy 0, no route


async def test_refused_entry_leaves_the_switch_as_it_was(served, wfq, artifact):
    await phb.push(served[1], wfq, device_id=2, at=AT)
    # In any order: P4Runtime promises none, and undoing a deletion may put an entry elsewhere.
    before = sorted(await phb.read_entries(served[1], device_id=2), key=str)
    intent = phb.load_intent(wfq, artifact, at=AT)
    # An entry of an exact table must not have a priority; no policy file leads to this.
    wrong = [replace(entry, priority=1) if entry.table.endswith("weight") else entry for entry in intent.entries[1:]]
    with pytest.raises(phb.SwitchError, match="the switch is as it was") as caught:
        await phb.push_intent(served[1], replace(intent, entries=tuple(wrong)), artifact, device_id=2)
    assert len(caught.value.refusals) == 8
    assert caught.value.refusals[0].startswith("insert schedule.weight profile=1 precedence=0 priority 1 -> weighted(")
    assert "priority" in caught.value.refusals[0].rpartition("INVALID_ARGUMENT: ")[2]
    assert sorted(await phb.read_entries(served[1], device_id=2), key=str) == before


async def test_refused_program_leaves_the_switch_as_it_was(switches, served, wfq, artifact):
    await phb.push(served[1], wfq, device_id=2, at=AT)
    before = await phb.read_entries(served[1], device_id=2)
    with pytest.raises(phb.SwitchError, match="the switch is as it was"):
        await phb.push(served[1], wfq, device_id=2, at=AT, artifact=Artifact(artifact.p4info, b"{}"))
    assert await phb.read_entries(served[1], device_id=2) == before
    assert sent(switches[1], 3, packet("135.1.1.1", 700, "133.10.50.2", 1282))[0] == 1


def test_entries_read_back_are_the_files_own(served, wfq, artifact):
    asyncio.run(phb.push(served[1], wfq, device_id=2, at=AT))
    held = {str(entry) for entry in of_policies(asyncio.run(phb.read_entries(served[1], device_id=2)))}
    intent = phb.load_intent(wfq, artifact, at=AT)
    assert held == {str(describe(artifact.encode(entry), artifact)) for entry in intent.entries}
