"""Comparisons as pages show them: all answers, and names of all lengths and kinds."""

import pytest

from phb.comparing.telling import Comparison, Content, Difference, Document, Example, OpenQuestion, Place, Region, Side

EVIL = "<script>alert(1)</script>\x1b[31m\u202e"
LONG = (
    "tcp from 10.0.0.0/8, 192.168.0.0/16 to any port 80, 443, 8000-8999, dscp af31, af32, cs3, 802.1p 3, in "
    "FastEthernet0/1, but not to 10.9.9.9 port 443"
)
A = Side(
    "examples/ios/sar2811.ios examples/ios/sar2811-ports.yaml",
    (Content("examples/ios/sar2811.ios", "ab" * 32), Content("examples/ios/sar2811-ports.yaml", "cd" * 32)),
)
B = Side("push 17 to r1 (192.0.2.1:9559)", (Content("sar2811.yaml", "ef" * 32),))
REGIONS = (
    Region(
        1,
        ("tcp to 192.0.2.0/24 port 80", "udp to 192.0.2.0/24 port 53"),
        ({}, {}),
        1e-12,
        (
            Difference(
                "queue",
                "class voice: level 0, limit 64 packets",
                "class bulk: 10 % of the rest, limit 64 packets",
                (Place("voice", "examples/ios/sar2811.ios", 12),),
                (Place("bulk", "sar2811.yaml", 33),),
                ("class voice", "class bulk"),
            ),
            Difference("marks", "dscp ef", "dscp af11"),
        ),
        Example("tcp 10.0.0.1:1024 > 192.0.2.1:80 in lan", "2026-11-26T09:00:00+01:00"),
        10,
        9000,
    ),
    Region(
        2,
        (LONG,) * 9,
        ({},) * 9,
        0.25,
        (Difference("permission", "passes", f"dropped {EVIL}", (Place("long-name" * 9, "some/path/" * 9, 7),)),),
        None,
        0,
        0,
        more_parts=1,
    ),
    Region(
        3,
        (f"packets of {EVIL}",),
        ({},),
        0.0,
        (Difference("meter", "100 kbit/s", "200 kbit/s"),),
        Example("udp 10.0.0.1:5 > 10.0.0.9:7 in lan"),
        failed="explain says the same of both",
    ),
)
DIFFERENT = Comparison(
    A,
    B,
    REGIONS,
    node="sar2811",
    more=4,
    open=(OpenQuestion(LONG, "no answer within 10 s"),),
    left_out=("objectives of class 'voice' (sar2811.yaml:10)",),
    moments=("2026-11-26T09:00:00+01:00", "2026-11-28T09:00:00+01:00"),
)
DOCUMENTS = {
    "different": Document((DIFFERENT, Comparison(A, A)), ("r7",), (EVIL,), "2026-11-26T20:30:00+00:00", "phb 0.1.0"),
    "alike": Document((Comparison(A, B, seconds=0.2),)),
    "open": Document((Comparison(A, B, open=DIFFERENT.open, capture_packets=0, capture_bytes=0),)),
    "by-bytes": Document((Comparison(A, B, REGIONS[:2], capture_packets=20, capture_bytes=36_000, measure="bytes"),)),
}


@pytest.fixture(params=DOCUMENTS)
def document(request):
    return DOCUMENTS[request.param]


@pytest.fixture
def different():
    return DOCUMENTS["different"]


@pytest.fixture
def by_bytes():
    return DOCUMENTS["by-bytes"]
