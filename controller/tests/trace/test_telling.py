"""Trees of traces, line by line; `test_trace.py` has what a user sees."""

import pytest
from made_up_traces import DROPPED, TRACE

from phb.errors import InputError
from phb.trace.entries import matches, why_lost
from phb.trace.packets import packet
from phb.trace.sources import Sources
from phb.trace.telling import Telling
from phb.trace.values import changed, match, milliseconds, named, shown


def lines(node, depth=0):
    yield "  " * depth + "  ".join([node.words, *node.beside])
    for each in node.below:
        yield from lines(each, depth + 1)


def told(trace, **how):
    return "\n".join(lines(Telling(**how).tree(trace)))


WHOLE = """\
7. 10.0.0.1:80 > 10.0.0.2:81, 54 bytes, in 1 -> out 2, waited 4.812 ms
  port +0.000 ms
    in 1, 54 bytes
  parser +0.000 ms
    state start
      ipv4 at 14, 20 bytes: ttl 64
      error HeaderTooShort
  verify +0.000 ms
    checksum ipv4.checksum: 0x1235, computed 0x1234
  ingress +0.000 ms
    In.rules: In.take(policy 1), 1 -> 2 packets, 54 -> 108 bytes  /src/classify.p4:3
      key ipv4.source 10.0.0.1, tos 0
      won: entry 4 of priority 30, ipv4.source 10.0.0.0-10.0.0.255, tos 0x00 &&& 0xe0
      lost, priority 20 < 30: entry 2 of priority 20, anything: In.take(policy 2)
      and 1 more that match
    In.route: In.send(port 2) by member 2
      key ipv4.destination 10.0.0.2
      won: entry 1, ipv4.destination 10.0.0.0/24
      lost, /8 shorter than /24: entry 0, ipv4.destination 10.0.0.0/8: In.send
    In.empty: miss: nothing
      key port 1
    calls In.account
      register In.depth[2]: 5 -> 6
      counter In.seen[1]: 0 -> 1 packets, 0 -> 54 bytes
      counter In.seen[99]: beyond its end: not counted
      meter In.rate[1]: yellow, committed bucket 10 -> 0, second bucket 90 -> 0
      meter In.free[0]: green, it has no rates
      hash gives 42
      clone 5
      clone ingress by group 5, trace 8
  queue +0.000 ms
    waits for port 2, rank 1152921504606846976: 3 packets ahead (3000 bytes) of 5 that wait
      behind trace 5: rank 100, 1500 bytes, in 3, waiting for 500 ns
    leaves the queue after 4.812 ms, 3 packets served meanwhile (3000 bytes), 2 still wait
      after trace 5: rank 100, 1500 bytes, in 3
  egress +4.812 ms
  deparser +4.812 ms
  port +4.812 ms
    port 2 begins to send 54 bytes
    out 2, 54 bytes
      changed bytes 15: 00 -> b8; 22: 40 -> 3f; 24: 26cd -> 2715
  2 more steps found no room in the trace
  4 traces before this one were lost: the reader was slow"""


def test_a_trace_for_people():
    assert told(TRACE) == WHOLE


def test_everything_of_it():
    more = told(TRACE, everything=True)
    for line in (
        "      0x06 -> tcp",
        "      statement assign",
        "      meta.policy = 1",
        "      vlan is invalid",
        "    calls Out.nothing",
        "    ipv4.isValid() holds  /src/classify.p4:2: ipv4.isValid()",
        "    ipv4 at 14, 20 bytes",
        "    In.rules: In.take(policy 1), 1 -> 2 packets, 54 -> 108 bytes  /src/classify.p4:3: rules",
    ):
        assert line in more.split("\n"), line


def test_a_condition_without_a_source_is_a_number():
    trace = {"steps": [{"part": "ingress", "condition": {"name": "node_2"}}]}
    assert "node_2 does not hold" in told(trace, everything=True)


@pytest.mark.parametrize(
    ("part", "carried", "words"),
    [
        ("verify", "0x02", "0x02, computed 0x01"),
        ("verify", "0x01", "0x01, as computed"),
        ("deparser", "0x02", "0x02 -> 0x01"),
    ],
)
def test_checksums(part, carried, words):
    trace = {"steps": [{"part": part, "checksum": {"field": "sum", "computed": "0x01", "carried": carried}}]}
    assert f"    checksum sum: {words}" in told(trace).split("\n")


def test_a_copy_that_is_dropped():
    assert told(DROPPED) == (
        "8. a copy of 7 -> dropped: unknown_port\n  egress +0.000 ms\n    dropped: unknown_port at port 9"
    )


def test_only_some_steps():
    said = told(TRACE, wants=lambda step: "route" in step.get("table", {}).get("name", ""))
    assert said.split("\n")[1] == "  In.route: In.send(port 2) by member 2"
    assert "In.rules" not in said


def test_lines_of_a_policy_stand_beside_entries():
    rules = next(step["table"] for step in TRACE["steps"] if step.get("table", {}).get("name") == "In.rules")
    said = told(TRACE, policy=lambda trace: {id(rules["hit"]): "p.yaml:4", id(rules["others"][0]): "p.yaml:2"})
    assert "tos 0x00 &&& 0xe0  p.yaml:4" in said
    assert "In.take(policy 2)  p.yaml:2" in said


def test_lines_of_the_program(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "classify.p4").write_text("control\n  if (ipv4.isValid())\n    rules.apply();\n")
    for folder in (tmp_path, tmp_path / "src"):
        assert "  /src/classify.p4:3: rules.apply();" in told(TRACE, line=Sources(folder).line)
    sources = Sources(tmp_path / "src")
    for source in (
        {"file": "other.p4", "line": 1},
        {"file": "classify.p4", "line": 9},
        {"file": "../x", "line": 1},
        {},
    ):
        assert sources.line(source) is None
    with pytest.raises(InputError, match="found no folder, expected the one with the program's P4 files"):
        Sources(tmp_path / "none")


def test_sources_stay_in_their_folder(tmp_path):
    (tmp_path / "secret.p4").write_text("secret\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "link.p4").symlink_to(tmp_path / "secret.p4")
    sources = Sources(tmp_path / "src")
    for name in ("../secret.p4", str(tmp_path / "secret.p4"), "link.p4"):
        assert sources.line({"file": name, "line": 1}) is None


@pytest.mark.parametrize(
    ("value", "name", "words"),
    [
        ("0x0a000001", "hdr.ipv4.srcAddr", "10.0.0.1"),
        ("0x0a000001", "meta.word", "167772161"),
        ("0x0050", "source_port", "80"),
        ("0x020000000001", "ethernet.dst", "02:00:00:00:00:01"),
        ("0x20010db8000000000000000000000001", "ipv6.source", "2001:db8::1"),
        ("0x20010db8000000000000000000000001", "digest", "0x20010db8000000000000000000000001"),
        ("0x", "empty", "0"),
    ],
)
def test_values(value, name, words):
    assert shown(value, name) == words
    assert named([{"name": name, "value": value}]) == f"{name} {words}"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"kind": "exact", "value": "0x05"}, "5"),
        ({"kind": "prefix", "value": "0x0a000000", "length": 8}, "10.0.0.0/8"),
        ({"kind": "prefix", "value": "0x00000000"}, None),
        ({"kind": "ternary", "value": "0x05", "second": "0xff"}, "5"),
        ({"kind": "ternary", "value": "0x05", "second": "0x0f"}, "0x05 &&& 0x0f"),
        ({"kind": "ternary", "value": "0x00", "second": "0x00"}, None),
        ({"kind": "range", "value": "0x0005", "second": "0x0009"}, "5-9"),
        ({"kind": "range", "value": "0x0005", "second": "0x0005"}, "5"),
        ({"kind": "range", "value": "0x0000", "second": "0xffff"}, None),
    ],
)
def test_matches(asked, words):
    assert match(asked, "addr") == words
    assert matches({"matches": [asked]}, [{"name": "addr"}]) == ("anything" if words is None else f"addr {words}")


@pytest.mark.parametrize(
    ("other", "winner", "why"),
    [
        ({"priority": 20}, {"priority": 30}, "priority 20 < 30"),
        ({"priority": 30}, {"priority": 30}, "priority 30 as well"),
        ({"matches": [{"kind": "prefix"}]}, {"matches": [{"kind": "prefix", "length": 8}]}, "/0 shorter than /8"),
        ({}, {}, "found second"),
    ],
)
def test_why_an_entry_lost(other, winner, why):
    assert why_lost(other, winner) == why


def test_bytes_that_differ():
    assert list(changed(b"abcdef", b"aXYdeZ")) == [(1, b"bc", b"XY"), (5, b"f", b"Z")]
    assert list(changed(b"abcdef", b"abTAGcdef")) == [(2, b"", b"TAG")]
    assert list(changed(b"same", b"same")) == []


def test_times():
    assert [milliseconds(each) for each in (0, 7, 1000, 4_812_345)] == ["0.000 ms", "7 ns", "0.001 ms", "4.812 ms"]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([], " -> unknown: the trace ends"),
        (
            [{"arrived": {"from_controller": True, "length": 60}}],
            "60 bytes, from the controller -> unknown: the trace ends",
        ),
        ([{"arrived": {"port": 1}}, {"departed": {"to_controller": True}}], "in 1 -> to the controller"),
        (
            [{"arrived": {"port": 1}}, {"departed": {"port": 2}}, {"dropped": {"reason": "late"}}],
            "in 1 -> dropped: late",
        ),
    ],
)
def test_a_packet_as_a_whole(steps, words):
    assert packet({"number": 1, "steps": steps}).words == words


def test_words_for_steps_that_say_nothing():
    """Fields that are zero or empty aren't there."""
    for step in TRACE["steps"]:
        kind = next(name for name in step if name not in ("time_ns", "part", "source"))
        assert told({"steps": [{"part": "ingress", kind: {}}]}, everything=True)
