"""Each way of reading gives the same figures of a switch that packets have passed; names come from entries or files."""

from contextlib import aclosing
from dataclasses import replace
from datetime import datetime

import pytest
import trustme

from phb.deploying import prepare
from phb.device.session import CounterValue, Session
from phb.device.tls import Tls
from phb.errors import SwitchError
from phb.explain import parse_packet
from phb.inventory import Switch as Place
from phb.monitor.reading.entries import Entries
from phb.monitor.reading.once import Looking, read_once
from phb.monitor.reading.polling import PollingReader
from phb.monitor.reading.source import Source
from phb.monitor.reading.subjects import Numbers
from phb.monitor.reading.telemetry import TelemetryReader
from phb.monitor.reading.writes import Mark, Writes
from phb.origin import Origin
from phb.pushing.push import push, push_over
from phb_switch import Binding, P4RuntimeServer, PortConfig, Switch
from phb_switch import Tls as ServerTls

DEFAULTS = {name: each.get_default() for name, each in Place.model_fields.items() if not each.is_required()}
POLICY = """
phb: 1
ports: [{number: 1, name: wan}, {number: 2, name: lan}]
routes: [{destination: 10.0.2.0/24, port: wan, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}]
classes: [{name: gold}]
actions:
  - name: metered
    class: gold
    meter:
      kind: single-rate
      committed-rate: {value: 64, unit: kbit/s, basis: ip}
      committed-burst-bytes: 500
      red: {drop: true}
  - {name: onward, class: gold}
  - {name: watched, objectives: {maximum-loss-percent: 1}}
rules:
  - {name: blocked, match: {protocol: tcp, destination-ports: 23}, permission: blocked}
  - {name: gold, match: {protocol: udp, destination-ports: 5004}, actions: [metered]}
  - {name: plain, match: {protocol: udp, destination-ports: 7}, actions: [watched]}
  - {name: out, match: {protocol: udp, destination-ports: 5004, egress-port: wan}, actions: [onward]}
queueing:
  - port: wan
    schedule: {kind: classes, queues: [{class: gold, level: 0, queue-limit: 30}]}
"""
PACKETS = (
    *["udp 10.0.1.1:700 > 10.0.2.1:5004 length 200"] * 4,
    "udp 10.0.1.1:700 > 10.0.2.1:7 length 100",
    "udp 10.0.1.1:700 > 10.0.9.1:7 length 100",
    "tcp 10.0.1.1:700 > 10.0.2.1:23",
    "tcp 10.0.1.1:700 > 10.0.2.1:80",
)


@pytest.fixture(scope="module")
def switch():
    return Switch("dut", {1: PortConfig(), 2: PortConfig()})


@pytest.fixture(scope="module")
def address(switch):
    with P4RuntimeServer(switch, device_id=1, names={1: "eth1", 2: "eth2"}) as server:
        yield server.address


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("policy") / "policy.yaml"
    path.write_text(POLICY)
    return path


@pytest.fixture
async def session(switch, address, path, artifact):
    """With a switch that has the policy, and that packets have passed once."""
    async with Session(address, 1, artifact) as session:
        if not await session.runs_artifact():
            await push(address, [path])
            for number, text in enumerate(PACKETS):
                switch.process(2, parse_packet(text, Origin("test")).frame, number)
        yield session


@pytest.fixture
def prepared(path, artifact):
    place = Place.model_construct(**DEFAULTS, name="edge", address="127.0.0.1:1", policies=(str(path),))
    return prepare(place, artifact, at=datetime(2026, 11, 26, 12))


async def first(reader, session, prepared, interval_s=0.0):
    made = reader(Source(session, "edge", lambda: prepared, dict))
    async with aclosing(made.samples(interval_s)) as samples:
        async for sample in samples:
            return sample


def known(sample):
    """What every way of reading tells."""
    return (
        {name: replace(each, queued=None) for name, each in sample.classes.items()},
        {key: replace(each, connections=None) for key, each in sample.policies.items()},
        sample.streams,
        {name: replace(each, queued=None) for name, each in sample.ports.items()},
    )


async def test_each_way_gives_the_same(session, prepared):
    told, polled = [await first(reader, session, prepared) for reader in (TelemetryReader, PollingReader)]
    assert known(told) == known(polled)
    streamed = await first(TelemetryReader, session, prepared, 1.0)
    assert known(streamed) == known(told)
    assert (streamed.instance, streamed.generation) == (told.instance, told.generation)


async def test_classes_at_ports_are_told_where_somebody_asks(session, prepared):
    asked = TelemetryReader(Source(session, "edge", lambda: prepared, dict, queues=True))
    async with aclosing(asked.samples(0)) as samples:
        sample = await anext(samples)
    queues = {key: (each.sent.packets, each.queued) for key, each in sample.queues.items()}
    assert queues == {("wan", "gold"): (sample.classes["gold"].sent.packets, 0), ("wan", "class-default"): (2, 0)}
    assert not (await first(TelemetryReader, session, prepared)).queues


async def test_entries_that_are_others_each_time(session, prepared, monkeypatch):
    """Samples come all the same, of those whose numbers stay."""
    read, many = Entries.read, []

    async def moving(self, *arguments):
        many.append(arguments)
        found = await read(self, *arguments)
        return replace(found, policies={**found.policies, ("plain", ""): Numbers((100 + len(many),))})

    monkeypatch.setattr(Entries, "read", moving)
    monkeypatch.setattr(Writes, "take", lambda self, message: Mark(message.instance, (message.time_ns, len(many))))
    monkeypatch.setattr("phb.monitor.reading.telemetry.SHARE", 1.0)
    made = TelemetryReader(Source(session, "edge", lambda: prepared, dict))
    async with aclosing(made.samples(0.01)) as samples:
        for _ in range(3):
            sample = await anext(samples)
            assert ("plain", "") not in sample.policies
            assert sample.policies["gold", ""].drops == {"POLICED": 2}
            assert sample.classes["gold"].sent.packets == 2
    assert len(many) > 3


async def test_figures(session, prepared):
    sample = await read_once(session, "edge", prepared, clock_ns=lambda: 7)
    assert (sample.switch, sample.time_ns) == ("edge", 7)
    gold, default = sample.classes["gold"], sample.classes["class-default"]
    assert (gold.sent.packets, gold.drops, gold.queued) == (2, {"POLICED": 2}, 0)
    # Input and output rules both count a drop; a class counts it once.
    assert sample.policies["gold", ""].drops == {"POLICED": 2}
    assert default.drops == {"BLOCKED": 1, "NO_ROUTE": 1}
    assert (default.sent.packets, default.queued) == (2, 0)
    metered, watched = sample.streams["metered"], sample.streams["watched"]
    assert metered.number
    assert (metered.colours["red"].packets, metered.drops, metered.traffic_class) == (2, {"POLICED": 2}, "gold")
    assert (watched.number, watched.drops) == (0, {"NO_ROUTE": 1})
    assert watched.colours == sample.policies["plain", ""].colours
    assert sample.policies["out", ""].colours["green"].packets == 2
    wan = sample.ports["wan"]
    assert (wan.number, wan.sent.packets, wan.received) == (1, 4, CounterValue(0, 0))


async def test_looks_at_one_switch_read_entries_once(session, prepared, monkeypatch):
    read, many = Entries.read, []

    async def counted(self, *arguments):
        many.append(arguments)
        return await read(self, *arguments)

    monkeypatch.setattr(Entries, "read", counted)
    looking = Looking(session, "edge", prepared, clock_ns=lambda: 7)
    first = await looking.look()
    again = await looking.look(interfaces=False)
    assert len(many) == 1
    assert replace(again, switch_time_ns=0) == replace(first, switch_time_ns=0)
    assert (await looking.look()).ports == first.ports


async def test_without_files_entries_tell_names(session):
    sample = await read_once(session, "edge")
    assert {"gold", "class-default"} == set(sample.classes)
    assert ("gold", "") in sample.policies
    assert set(sample.streams) == {"metered"}
    assert set(sample.ports) == {"eth1", "eth2"}


async def test_another_program(artifact):
    with P4RuntimeServer(Switch("empty", {1: PortConfig()}), device_id=1) as server:
        async with Session(server.address, 1, artifact) as session:
            with pytest.raises(SwitchError, match="another program than the artifact, or none"):
                await read_once(session, "edge")


async def test_certificate_that_may_only_read(prepared, tmp_path, artifact):
    """Every figure is there for it: cells, entries, and what gNMI tells."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")

    def issued(name):
        certificate = authority.issue_cert(name)
        certificate.private_key_pem.write_to_path(tmp_path / f"{name}.key")
        (tmp_path / f"{name}.pem").write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
        return tmp_path / f"{name}.pem", tmp_path / f"{name}.key"

    def files(name):
        return Tls(tmp_path / "ca.pem", *issued(name), "switch.example.net")

    tls = ServerTls(*issued("switch.example.net"), client_authority=tmp_path / "ca.pem")
    bindings = [Binding("controller.example.net"), Binding("monitor.example.net", read_only=True)]
    ports = {1: PortConfig(), 2: PortConfig()}
    names = {1: "eth1", 2: "eth2"}
    with P4RuntimeServer(Switch("dut", ports), device_id=1, names=names, tls=tls, bindings=bindings) as server:
        async with Session(server.address, 1, artifact, tls=files("controller.example.net")) as session:
            await session.become_primary()
            await push_over(session, prepared.intent)
        async with Session(server.address, 1, artifact, tls=files("monitor.example.net")) as session:
            sample = await read_once(session, "edge", prepared)
            assert ("gold", "") in sample.policies
            assert sample.ports["wan"].received == CounterValue(0, 0)
            with pytest.raises(SwitchError):
                await session.become_primary()
