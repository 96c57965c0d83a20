"""Telemetry: the descriptor is what telemetry.proto gives, and a real switch's cells are those that P4Runtime reads."""

import asyncio
import re
import shutil
import subprocess
from pathlib import Path

import grpc
import pytest
from google.protobuf import descriptor_pb2

from phb import Artifact
from phb.device.session import CounterValue, Session
from phb.monitor.reading.client import watch
from phb_switch import P4RuntimeServer, PortConfig, Switch

ROOT = Path(__file__).resolve().parents[4]
FOLDER = ROOT / "switch" / "crates" / "server"
DESCRIPTOR = ROOT / "controller" / "phb" / "monitor" / "reading" / "telemetry.binpb"
COMMAND = f"protoc -I {FOLDER.relative_to(ROOT)} --descriptor_set_out={DESCRIPTOR.relative_to(ROOT)} telemetry.proto"
INTERVAL_NS = 10_000_000
LARGE = "policy_drops"


def described():
    return descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTOR.read_bytes())


def test_every_field_is_that_of_the_proto():
    text = re.sub(r"//.*", "", (FOLDER / "telemetry.proto").read_text())
    said = re.findall(r"(\w+) = (\d+);", text)
    (file,) = described().file
    assert [(field.name, str(field.number)) for message in file.message_type for field in message.field] == said


@pytest.mark.skipif(shutil.which("protoc") is None, reason="no protoc (Debian's protobuf-compiler)")
def test_the_descriptor_is_what_protoc_makes(tmp_path):
    made = tmp_path / "telemetry.binpb"
    subprocess.run(["protoc", "-I", FOLDER, f"--descriptor_set_out={made}", "telemetry.proto"], check=True)
    assert descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes()) == described(), COMMAND


@pytest.fixture(scope="module")
def address():
    server = P4RuntimeServer(Switch("dut", {1: PortConfig(), 2: PortConfig()}), device_id=1)
    yield f"127.0.0.1:{server.start()}"
    server.stop()


def cells(sample):
    """Packets and bytes by range and cell."""
    return {
        (each.range, index): CounterValue(packets, octets)
        for each in sample.cells
        for index, packets, octets in zip(each.index, each.packets, each.bytes, strict=True)
    }


async def test_samples_and_what_has_changed_since(address):
    artifact = Artifact.load()
    async with Session(address, 1, artifact) as session:
        await session.become_primary()
        await session.set_artifact()
        array = artifact.counter(LARGE).number
        await session.write_counter(LARGE, {index: CounterValue(index, 2 * index) for index in range(50_000)})
        samples = watch(session.channel, 1, [(array, 0, 0), (array, 7, 2)], INTERVAL_NS)
        first = await anext(samples)
        assert not first.more
        expected = {(0, index): CounterValue(index, 2 * index) for index in range(1, 50_000)}
        assert cells(first) == expected | {(1, index): CounterValue(index, 2 * index) for index in (7, 8)}
        await session.write_counter(LARGE, {7: CounterValue(2**40, 2**62), 60_000: CounterValue(1, 64)})
        found = {}
        async with asyncio.timeout(10):
            while len(found) < 3:
                sample = await anext(samples)
                assert (sample.instance, sample.writes) == (first.instance, first.writes)
                found |= cells(sample)
        changed = CounterValue(2**40, 2**62)
        assert found == {(0, 7): changed, (0, 60_000): CounterValue(1, 64), (1, 7): changed}
        await samples.aclose()
        assert [len(cells(sample)) async for sample in watch(session.channel, 1, [(array, 0, 10)])] == [9]


async def test_a_wide_register(address):
    artifact = Artifact.load()
    async with Session(address, 1, artifact) as session:
        await session.become_primary()
        await session.set_artifact()
        with pytest.raises(grpc.RpcError) as caught:
            await anext(watch(session.channel, 1, [(artifact.register("conversation_flow").number, 0, 0)]))
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert caught.value.details() == "ranges[0]: register conversation_flow has 112 bits; 64 can be watched"
