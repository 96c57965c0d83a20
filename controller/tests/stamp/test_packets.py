"""The format against scapy's, which was written by others from the same documents."""

import hmac

import pytest
from scapy.contrib.stamp import ErrorEstimate as TheirEstimate
from scapy.contrib.stamp import STAMPSessionReflectorTestUnauthenticated as TheirReply
from scapy.contrib.stamp import STAMPSessionSenderTestUnauthenticated as TheirRequest
from scapy.contrib.stamp import STAMPTestTLV

from phb.stamp.packets import Reply, Request
from phb.stamp.timestamps import ErrorEstimate, from_ntp, from_ptp, to_ntp
from phb.stamp.tlvs import ask_class, padding

KEY = b"0123456789abcdef"
TIME = 1_800_000_000_123_456_789
REQUEST = Request(7, to_ntp(TIME), ErrorEstimate(True, False, 0.001).encode(), 0x1234)
REPLY = Reply(5, to_ntp(TIME + 3000), 0x8001, 0x1234, to_ntp(TIME + 1000), 7, to_ntp(TIME), 0x0102, 62)


def test_scapy_reads_a_request():
    theirs = TheirRequest(REQUEST.pack())
    assert (theirs.seq, theirs.ssid, theirs.mbz) == (7, 0x1234, 0)
    assert (theirs.err_estimate.S, theirs.err_estimate.Z) == (1, 0)
    assert theirs.err_estimate.multiplier * 2.0 ** (theirs.err_estimate.scale - 32) == pytest.approx(0.001, rel=0.01)
    assert bytes(theirs)[4:12] == REQUEST.pack()[4:12]


def test_scapy_reads_a_reply():
    theirs = TheirReply(REPLY.pack())
    assert (theirs.seq, theirs.ssid, theirs.seq_sender, theirs.ttl_sender) == (5, 0x1234, 7, 62)
    assert (theirs.err_estimate.S, theirs.err_estimate_sender.scale, theirs.err_estimate_sender.multiplier) == (1, 1, 2)
    assert theirs.ts_rx - theirs.ts_sender == pytest.approx(1e-6, abs=3e-7)
    assert theirs.ts - theirs.ts_sender == pytest.approx(3e-6, abs=3e-7)


def test_we_read_what_scapy_writes():
    octets = bytes(TheirRequest(seq=9, ts=1.5, err_estimate=TheirEstimate(S=1, Z=0, scale=3, multiplier=5), ssid=77))
    read = Request.unpack(octets)
    assert (read.sequence, read.session, read.rest) == (9, 77, b"")
    assert ErrorEstimate.decode(read.estimate) == ErrorEstimate(True, False, 40 / 2**32)
    octets = bytes(TheirReply(seq=9, seq_sender=8, ttl_sender=3, ssid=77))
    assert (Reply.unpack(octets).sequence, Reply.unpack(octets).sender_sequence, Reply.unpack(octets).ttl) == (9, 8, 3)


def test_scapy_reads_what_follows():
    theirs = TheirRequest(Request(1, 2, rest=ask_class(46) + padding(20)).pack())
    assert [(each.type, each.len) for each in theirs.tlv_objects] == [(4, 4), (1, 16)]
    assert all(isinstance(each, STAMPTestTLV) for each in theirs.tlv_objects)
    assert bytes(theirs.tlv_objects[0].value)[0] >> 2 == 46


@pytest.mark.parametrize("packet", [REQUEST, REPLY], ids=["request", "reply"])
@pytest.mark.parametrize("key", [None, KEY])
def test_what_is_packed_is_read(packet, key):
    octets = packet.pack(key)
    assert len(octets) == (44 if key is None else 112)
    assert type(packet).unpack(octets, key) == packet


def test_where_fields_of_authenticated_packets_are():
    """RFC 8762, figures 5 and 7."""
    request, reply = REQUEST.pack(KEY), REPLY.pack(KEY)
    assert (request[:4], request[4:16], request[24:28]) == (b"\0\0\0\7", bytes(12), REQUEST.pack()[12:16])
    assert (request[28:96], request[96:]) == (bytes(68), hmac.digest(KEY, request[:96], "sha256")[:16])
    assert (reply[:4], reply[32:40], reply[48:52], reply[64:72]) == (
        *(b"\0\0\0\5", to_ntp(TIME + 1000).to_bytes(8), b"\0\0\0\7", to_ntp(TIME).to_bytes(8)),
    )
    assert (reply[72:74], reply[80], reply[96:]) == (b"\1\2", 62, hmac.digest(KEY, reply[:96], "sha256")[:16])


@pytest.mark.parametrize(
    ("octets", "key"),
    [
        (b"", None),
        (bytes(43), None),
        (bytes(111), KEY),
        (REQUEST.pack(), KEY),
        (REQUEST.pack(b"another key, as long"), KEY),
        (bytes([1]) + REQUEST.pack(KEY)[1:], KEY),
        (REQUEST.pack(KEY)[:-1] + b"\0", KEY),
    ],
)
def test_nonsense_is_refused(octets, key):
    for kind in (Request, Reply):
        with pytest.raises(ValueError, match=r"short|not authentic"):
            kind.unpack(octets, key)


@pytest.mark.parametrize("time", [0, 1, TIME, 999_999_999, 2_085_978_496_000_000_000 - 1, 2_085_978_496_000_000_001])
def test_times_stay_as_they_are_beyond_2036(time):
    assert from_ntp(to_ntp(time)) == time


def test_times_of_ptp():
    assert from_ptp(5 << 32 | 7) == 5_000_000_007
    assert ErrorEstimate(ptp=True).read(5 << 32 | 7) == 5_000_000_007


@pytest.mark.parametrize("error", [0.0, 1e-9, 1e-6, 0.001, 0.25, 16.0, 1e9])
def test_error_estimates(error):
    read = ErrorEstimate.decode(ErrorEstimate(True, False, error).encode())
    assert read.error_s == pytest.approx(error, rel=0.01, abs=3e-10)
    assert ErrorEstimate(False, True, error).encode() & 0xC000 == 0x4000
