"""Programs whose effects an STF file can't ask for: action profiles, value sets, digests."""

from pathlib import Path

import pytest

from phb_switch import PortConfig, Switch
from phb_switch._native import Match, Update
from phb_switch.p4c import ProgramDirectory

PROGRAMS = ProgramDirectory(Path(__file__).parents[3] / "programs")
SET, FORWARD = "ProfileIngress.set", "ProfileIngress.forward"
SHARED, BALANCED = "ProfileIngress.shared", "ProfileIngress.balanced"
PROFILE, MEMBERS = "ProfileIngress.profile", "ProfileIngress.members"


@pytest.fixture
def switch(request):
    made = Switch("dut", {port: PortConfig() for port in range(16)})
    made.load(PROGRAMS.artifact(request.param).read_text())
    return made


def crc16(data):
    """CRC-16/ARC, which v1model's crc16 is."""
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return value


def write(switch, *updates):
    assert [code for code, _ in switch.write(updates, atomic=True)] == [0] * len(updates)


def kind(value):
    return [("hdr.frame.kind", Match.exact(bytes([value])))]


def send(switch, frame):
    return [(port, frame) for _, port, frame in switch.process(0, bytes.fromhex(frame), 0)]


@pytest.mark.parametrize("switch", ["action_profile"], indirect=True)
def test_entries_share_a_member_of_a_profile(switch):
    write(
        switch,
        Update.member(PROFILE, 1, SET, [("value", b"\x11")]),
        Update.member(PROFILE, 2, SET, [("value", b"\x22")]),
        Update.insert(SHARED, kind(1), 0, None, member=1),
        Update.insert(SHARED, kind(2), 0, None, member=1),
        Update.insert(SHARED, kind(3), 0, None, member=2),
    )
    assert [send(switch, f"0{each}0000")[0][1].hex() for each in (1, 2, 3, 4)] == [
        "01000011",
        "02000011",
        "03000022",
        "040000",
    ]
    # Changed once, it changes for all.
    write(switch, Update.member(PROFILE, 1, SET, [("value", b"\x33")], modify=True))
    assert [send(switch, f"0{each}0000")[0][1].hex() for each in (1, 2, 3)] == ["01000033", "02000033", "03000022"]


@pytest.mark.parametrize("switch", ["action_profile"], indirect=True)
def test_a_selector_chooses_the_member_by_the_hash_of_its_field(switch):
    ports = [5, 6, 7]
    members = [Update.member(MEMBERS, number, FORWARD, [("port", bytes([port]))]) for number, port in enumerate(ports)]
    group = Update.group(MEMBERS, 1, [(number, 1) for number in range(len(ports))])
    write(switch, *members, group, Update.insert(BALANCED, kind(1), 0, None, group=1))
    seen = set()
    for flow in range(0, 65536, 1117):
        frame = bytes([1]) + flow.to_bytes(2, "big")
        expected = ports[crc16(frame[1:]) % len(ports)]
        assert send(switch, frame.hex()) == [(expected, frame)]
        seen.add(expected)
    assert seen == set(ports)


@pytest.mark.parametrize("switch", ["digests"], indirect=True)
def test_a_digest_has_the_values_of_the_moment_of_its_call(switch):
    # The second packet calls for two; as in bmv2, a packet makes one, that of its last call.
    switch.process(3, bytes.fromhex("020000000001 0085"), 0)
    switch.process(4, bytes.fromhex("020000000002 80ff"), 1)
    found = [(name, [field.hex() for field in fields]) for name, fields in switch.digests_in()]
    assert found == [
        ("learned_t", ["020000000001", "0003", "0001"]),
        ("noted_t", ["7f"]),
    ]
    assert switch.digests_in() == []
