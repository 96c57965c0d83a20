"""SYN options: every layout leaves the frame as it is, and the window scale of common ones is learnt."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP, in4_chksum
from scapy.layers.inet6 import IPv6, in6_chksum
from scapy.layers.l2 import Ether

from phb_switch import PortConfig
from tests.examples import share

IN, OUT = 2, 1
POLICY = (
    "actions:\n  - {name: slow, max-rate: {value: 1, unit: Mbit/s, basis: tcp-payload}}\n"
    "rules:\n  - {name: replies, match: {protocol: tcp, source-ports: 80}, actions: [slow]}\n"
    "cross-connects:\n  - between: [line, lan]\n"
)
# Kinds of RFC 9293 (0 end, 1 no operation, 2 segment size), RFC 7323 (3 scale, 8 timestamps), RFC 2018 (4), RFC 7413.
END, NOP, SACK = b"\x00", b"\x01", b"\x04\x02"
MSS, SCALE = b"\x02\x04\x05\xb4", b"\x03\x03\x07"
STAMPS = b"\x08\x0a\x00\x00\x00\x01\x00\x00\x00\x00"
COOKIE = b"\x22\x0a12345678"
LEARNT = 0x80 + 7

LAYOUTS = {
    # name: (options, whether the scale is learnt, segment size)
    "none": (b"", False, 536),  # RFC 9293 section 3.7.1
    "segment size": (MSS, False, 1460),
    "Linux": (MSS + SACK + STAMPS + NOP + SCALE, True, 1460),
    "Linux without timestamps": (MSS + NOP + NOP + SACK + NOP + SCALE, True, 1460),
    "Linux without SACK": (MSS + NOP + NOP + STAMPS + NOP + SCALE, True, 1460),
    "Linux without both": (MSS + NOP + SCALE, True, 1460),
    "Windows": (MSS + NOP + SCALE + NOP + NOP + SACK, True, 1460),
    "Windows with timestamps": (MSS + NOP + SCALE + SACK + STAMPS, True, 1460),
    "macOS": (MSS + NOP + SCALE + NOP + NOP + STAMPS + SACK + END + END, True, 1460),
    "FreeBSD": (MSS + NOP + SCALE + SACK + STAMPS, True, 1460),
    "OpenBSD": (MSS + NOP + NOP + SACK + NOP + SCALE + NOP + NOP + STAMPS, True, 1460),
    "Solaris": (SACK + STAMPS + MSS + NOP + SCALE, True, 1460),
    "smoltcp": (MSS + SCALE + SACK + END * 3, True, 1460),
    "scale at the first word": (SCALE + NOP + MSS, True, 536),
    "scale after a no operation at the first word": (NOP + SCALE, True, 536),
    "scale after SACK in one word": (SACK + SCALE + NOP + NOP + NOP, True, 536),
    "scale at the second word": (MSS + SCALE + NOP, True, 1460),
    "scale at the third word": (MSS + SACK + NOP + NOP + SCALE + NOP, True, 1460),
    "scale at the fourth word": (MSS + NOP * 8 + SCALE + NOP, True, 1460),
    "scale at the fifth word": (MSS + NOP * 12 + SCALE + NOP, True, 1460),
    "no end of options behind the scale": (MSS + SCALE + END, True, 1460),
    "scale at the third octet of a word": (NOP + NOP + SCALE + NOP * 3, False, 536),
    "scale at the last octet of a word": (NOP + NOP + NOP + SCALE + NOP + NOP, False, 536),
    "scale beyond the fifth word": (MSS + NOP * 16 + SCALE + NOP, False, 1460),
    "Fast Open before the scale": (MSS + COOKIE + NOP + NOP + NOP + SCALE, False, 1460),
    "scale behind the end": (END + END + END + END + SCALE + NOP, False, 536),
    "forty bytes": (MSS + SACK + STAMPS + NOP + SCALE + COOKIE + NOP + NOP + END * 8, True, 1460),
    "forty no operations": (NOP * 40, False, 536),
    "a length of zero": (b"\x05\x00" + NOP + NOP + SCALE + NOP, False, 536),
    "segment size of a wrong length": (b"\x02\x03\x05" + NOP + SCALE + NOP, False, 536),
}


def syn(options, *, version=4, data_offset=None):
    """A frame whose TCP header says that it has these options."""
    assert len(options) % 4 == 0
    ip = IP(src="10.0.1.1", dst="10.0.2.1") if version == 4 else IPv6(src="2001:db8::1", dst="2001:db8::2")
    header = bytearray(bytes(TCP(sport=1000, dport=80, flags="S")))
    header[12] = (5 + len(options) // 4 if data_offset is None else data_offset) << 4
    ip.proto = ip.nh = 6
    checksum = (in4_chksum if version == 4 else in6_chksum)(6, ip, bytes(header) + options)
    header[16:18] = checksum.to_bytes(2, "big")
    return bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / ip / (bytes(header) + options))


@pytest.fixture
def switch(program):
    return program(POLICY, {IN: PortConfig(), OUT: PortConfig()})


def learnt(switch):
    """Scales and segment sizes of the sides of which something is known."""
    known = [(side, scale) for side, scale in enumerate(switch.read_register("window_scale")) if scale]
    sizes = [size for size in switch.read_register("window_segment") if size]
    return [scale for _, scale in known], sizes


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_learnt_of_a_layout(switch, layout, version):
    options, scaled, segment = LAYOUTS[layout]
    frame = syn(options + END * (-len(options) % 4), version=version)
    assert [sent for _, _, sent in switch.process(IN, frame, 1000)] == [frame]
    assert learnt(switch) == ([LEARNT] if scaled else [], [segment])


@pytest.mark.parametrize("layout", ["Linux", "forty bytes", "forty no operations"])
def test_a_syn_that_is_cut_short_stays_as_it_is(switch, layout):
    whole = syn(LAYOUTS[layout][0])
    for length in range(54, len(whole)):
        assert [sent for _, _, sent in switch.process(IN, whole[:length], 1000)] == [whole[:length]]


@pytest.mark.parametrize("data_offset", range(16))
def test_a_data_offset_that_says_something_else(switch, data_offset):
    frame = syn(LAYOUTS["Linux"][0], data_offset=data_offset)
    assert [sent for _, _, sent in switch.process(IN, frame, 1000)] == [frame]
    scales, _ = learnt(switch)
    # The scale stands in the last word of options: what the header doesn't include isn't looked at, and one that goes
    # beyond its datagram is none.
    assert scales == ([LEARNT] if data_offset == 10 else [])


@given(st.binary(max_size=40), st.integers(0, 15))
@settings(max_examples=share(200), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_octets_leave_the_frame_as_it_is(switch, octets, data_offset):
    frame = syn(octets + END * (-len(octets) % 4), data_offset=data_offset)
    assert [sent for _, _, sent in switch.process(IN, frame, 1000)] == [frame]
