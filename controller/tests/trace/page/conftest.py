"""Made-up traces of the router's program, as a switch gives them."""

from pathlib import Path

import pytest

from phb.trace.page import page, read_program

ROOT = Path(__file__).parents[4]
ROUTER = ROOT / "switch/programs/build/router.json"
FRAME = (
    "0200000000aa02000000000108004500002800010000{ttl:02x}0600000a000001{to}0400005000000001000000005002ffff00000000"
)
HOSTILE = "<img src=x onerror=\"document.title='run'\"></script><script>document.title='run'</script>"


def value(number, digits):
    return f"0x{number:0{digits}x}"


def entry(number, prefix, length, port):
    return {
        "number": number,
        "matches": [{"kind": "prefix", "value": prefix, "length": length}],
        "action": "RouterIngress.route",
        "parameters": [{"name": "port", "value": value(port, 3)}],
    }


def trace(number, to, *, ttl=64, port=2, entries=(), rank=None, waited_ns=0):
    """A packet to an address in hexadecimal; the first of `entries` wins."""
    at = number * 1_000_000
    frame = FRAME.format(ttl=ttl, to=to)
    fields = [{"name": "ipv4.ttl", "value": value(ttl, 2)}, {"name": "ipv4.destination", "value": f"0x{to}"}]
    steps = [
        {"part": "port", "arrived": {"port": 1, "length": 54, "frame": frame}},
        {"part": "parser", "state": {"name": "start"}},
        {
            "part": "parser",
            "extract": {
                "header": "ethernet",
                "length": 14,
                "fields": [{"name": "ethernet.ethertype", "value": "0x0800"}],
            },
        },
        {"part": "parser", "select": {"keys": ["0x0800"], "next": "ipv4"}},
        {"part": "parser", "state": {"name": "ipv4"}},
        {"part": "parser", "extract": {"header": "ipv4", "offset": 14, "length": 20, "fields": fields}},
        {"part": "parser", "select": {"next": "accept"}},
        {"part": "ingress", "condition": {"name": "node_2", "holds": True} if ttl > 1 else {"name": "node_2"}},
    ]
    if ttl <= 1:
        steps += [
            {"part": "ingress", "table": {"name": "tbl_drop", "action": "RouterIngress.drop"}},
            {"part": "ingress", "request": {"name": "mark_to_drop"}},
            {"part": "ingress", "dropped": {"reason": "ingress", "port": 1}},
        ]
        return finished(number, at, steps)
    won, *others = entries
    table = {
        "name": "RouterIngress.ipv4_route",
        "key": [{"name": "destination", "value": f"0x{to}"}],
        "entries": 5,
        "hit": won,
        "others": others,
        "action": won["action"],
        "parameters": won["parameters"],
    }
    source = {"file": "router.p4", "line": 61, "column": 4, "fragment": "ipv4_route"}
    steps += [
        {"part": "ingress", "source": source, "table": table},
        {"part": "ingress", "statement": {"primitive": "assign"}},
        {"part": "ingress", "assign": {"field": "standard_metadata.egress_spec", "value": value(port, 3)}},
        {"part": "ingress", "assign": {"field": "ipv4.ttl", "value": value(ttl - 1, 2)}},
        {
            "part": "queue",
            "enqueued": {
                "port": port,
                "depth": 1,
                "ahead": 1,
                "ahead_bytes": 1514,
                "behind": [{"trace": 1, "length": 1514}],
            }
            | ({} if rank is None else {"rank": rank}),
        },
        {"part": "queue", "time_ns": at + waited_ns, "dequeued": {"port": port, "waited_ns": waited_ns, "served": 1}},
        {"part": "deparser", "checksum": {"field": "ipv4.checksum", "computed": "0x1234", "carried": "0x0000"}},
        {"part": "deparser", "emit": {"header": "ethernet", "length": 14}},
        {"part": "deparser", "emit": {"header": "ipv4", "offset": 14, "length": 20}},
        {
            "part": "port",
            "time_ns": at + waited_ns,
            "sending": {"port": port, "length": 54, "ends_ns": at + waited_ns + 432},
        },
        {"part": "port", "time_ns": at + waited_ns + 432, "departed": {"port": port, "length": 54, "frame": frame}},
    ]
    return finished(number, at, steps)


def finished(number, at, steps):
    return {"number": number, "switch": "s1", "time_ns": at, "steps": [{"time_ns": at} | step for step in steps]}


@pytest.fixture(scope="session")
def traces():
    wide, narrow = entry(3, "0x0a000000", 8, 3), entry(7, "0x0a010000", 16, 2)
    return [
        trace(1, "0a010002", entries=[narrow, wide], waited_ns=5_000_000),
        trace(2, "0a020002", entries=[wide], port=3),
        trace(3, "0a010002", ttl=1),
        trace(4, "0a010002", entries=[narrow, wide], waited_ns=7_250_000),
    ]


@pytest.fixture(scope="session")
def hostile():
    """A packet whose every name and text is markup, and steps of wrong shapes."""
    steps = [
        {"part": HOSTILE, "arrived": {"port": HOSTILE, "frame": HOSTILE}},
        {"part": "ingress", "source": {"file": HOSTILE, "line": HOSTILE, "fragment": HOSTILE}, "table": {
            "name": HOSTILE, "key": [{"name": HOSTILE, "value": HOSTILE}],
            "hit": {"action": HOSTILE, "matches": [{"kind": HOSTILE}]},
            "others": [None, 7, {"priority": HOSTILE}], "action": HOSTILE, "parameters": HOSTILE}},
        {"part": "ingress", "assign": {"field": HOSTILE, "value": HOSTILE}},
        {"part": "ingress", "assign": {"field": "__proto__", "value": "0x01"}},
        {"part": "queue", "enqueued": {"rank": HOSTILE, "behind": "no list"}},
        {"what": HOSTILE}, None, 7, [],
        {"part": "port", "dropped": {"reason": "\u202egnorw " + HOSTILE}},
    ]  # fmt: skip
    return {"number": HOSTILE, "switch": HOSTILE, "time_ns": [], "steps": steps}


@pytest.fixture(scope="session")
def with_program(traces, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "router.html"
    path.write_text(page(traces, read_program(ROUTER)))
    return path


@pytest.fixture(scope="session")
def without_program(traces, hostile, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "traces.html"
    path.write_text(page([*traces, hostile], title=HOSTILE))
    return path
