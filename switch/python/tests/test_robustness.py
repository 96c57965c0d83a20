"""Every message of a client gets an answer: damaged ones are refused, and nothing is half done."""

from contextlib import suppress

import pytest
from finsy.proto import p4i, p4r, rpc_code, rpc_status
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phb_switch import LoadError, Switch
from phb_switch._native import Configuration, Read, RefusedError, Write
from tests.examples import share

from .support import (
    NAMES,
    artifact,
    classify,
    connect,
    delete,
    insert,
    ipv4,
    modify,
    new_switch,
    p4info,
    route,
    unpacked,
)
from .test_write import counter, meter, register, snapshot_of

UPDATES = [
    insert(connect(0, 1)),
    modify(connect(0, 2)),
    delete(connect(0, 1)),
    insert(route(b"\x0a\x00\x00\x00", 8)),
    insert(classify(3, 1, tos=(8, 0xF8))),
    modify(p4r.TableEntry(table_id=NAMES.table["ipv4_route"], is_default_action=True)),
    counter(2, 8, 9),
    register(3, b"\x07"),
    meter(1, 10, 20, 30, 40),
]


@st.composite
def damaged(draw: st.DrawFn) -> p4r.Update:
    """A valid update with some bytes changed, which still is a message."""
    serialized = bytearray(draw(st.sampled_from(UPDATES)).SerializeToString())
    for _ in range(draw(st.integers(0, 4))):
        serialized[draw(st.integers(0, len(serialized) - 1))] = draw(st.integers(0, 255))
    try:
        return p4r.Update.FromString(bytes(serialized))
    except DecodeError:
        return p4r.Update()


def configuration() -> tuple[Configuration, Switch]:
    switch = new_switch()
    switch.load(artifact().decode())
    return Configuration(switch, p4info().SerializeToString()), switch


@settings(max_examples=share(200), suppress_health_check=[HealthCheck.too_slow])
@given(batch=st.lists(damaged(), max_size=8), atomic=st.booleans())
def test_damaged_updates(batch: list[p4r.Update], atomic: bool) -> None:
    made, switch = configuration()
    before = snapshot_of(made)
    atomicity = p4r.WriteRequest.DATAPLANE_ATOMIC if atomic else p4r.WriteRequest.CONTINUE_ON_ERROR
    request = p4r.WriteRequest(updates=batch, atomicity=atomicity)
    try:
        failure = made.write(Write(request.SerializeToString()))
    except RefusedError:
        return  # damaged so that it is no message at all
    if failure is not None:
        outcomes = unpacked(rpc_status.Status.FromString(failure[1]))
        assert len(outcomes) == len(batch)
        assert any(code != rpc_code.OK for code, _ in outcomes)
        assert all(words for code, words in outcomes if code != rpc_code.OK)
        if atomic:
            assert snapshot_of(made) == before
    for _ in made.read(Read(p4r.ReadRequest(entities=[update.entity for update in batch]).SerializeToString())):
        pass
    switch.process(0, ipv4(), 1)
    assert switch.check() == 0


@settings(max_examples=share(200), suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_damaged_p4info(data: st.DataObject) -> None:
    serialized = bytearray(p4info().SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        serialized[data.draw(st.integers(0, len(serialized) - 1))] = data.draw(st.integers(0, 255))
    try:
        info = p4i.P4Info.FromString(bytes(serialized))
    except DecodeError:
        return
    switch = new_switch()
    switch.load(artifact().decode())
    with suppress(RefusedError):
        Configuration(switch, info.SerializeToString())


@settings(max_examples=share(200))
@given(serialized=st.binary(max_size=64))
def test_what_is_no_message(serialized: bytes) -> None:
    made, _ = configuration()
    for kind, use in ((Write, made.write), (Read, lambda request: list(made.read(request)))):
        with suppress(RefusedError):
            use(kind(serialized))
    with suppress(RefusedError):
        made.packet_out(serialized)
    with suppress(RefusedError):
        made.packet_in(serialized)


@settings(max_examples=share(100))
@given(place=st.integers(0, len(artifact()) - 1), value=st.integers(0, 127))
def test_damaged_artifact(place: int, value: int) -> None:
    program = bytearray(artifact())
    program[place] = value
    with suppress(LoadError):
        new_switch().load(program.decode())


@pytest.mark.parametrize("length", [0, 1, 13, 14, 20, 33, 34, 2000])
def test_frames_of_any_length(length: int) -> None:
    _, switch = configuration()
    switch.process(0, ipv4().ljust(length, b"x")[:length], 1)
    assert switch.check() == 0
