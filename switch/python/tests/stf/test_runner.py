"""Statements as they act on a switch: what they change, what they find wrong, what is refused and why."""

from pathlib import Path

import pytest

from phb_switch import LoadError
from phb_switch.p4c import ProgramDirectory
from phb_switch.stf.parser import parse
from phb_switch.stf.runner import run

PROGRAMS = ProgramDirectory(Path(__file__).parents[3] / "programs")


@pytest.fixture
def failures(tmp_path):
    def failures(program, text):
        stf = tmp_path / "a.stf"
        stf.write_text(text)
        outcome = run(PROGRAMS.artifact(program).read_text(), parse(stf))
        return [(failure.line, failure.message) for failure in outcome.failures]

    return failures


REFUSED = {
    "no such table": (
        "table_exact",
        "add nonsense kind:1 set()",
        "found table nonsense, expected one of: ExactIngress.hit_or_miss, ExactIngress.keyed, ",
    ),
    "no such key": ("table_exact", "add keyed nonsense:1 discard()", "found key nonsense of ExactIngress.keyed"),
    "no such action": (
        "table_exact",
        "add keyed kind:1 nonsense()",
        "found action nonsense, expected one of: ExactIngress.set, ",
    ),
    "a key twice": ("table_exact", "add keyed kind:1 frame.kind:2 discard()", "key hdr.frame.kind is given twice"),
    "a parameter too few": (
        "table_exact",
        "add keyed kind:1 upper:1 set(value:1)",
        "action ExactIngress.set: found parameters value, expected value, port",
    ),
    "a parameter twice": ("table_exact", "add keyed kind:1 upper:1 other(port:1, port:2)", "expected port"),
    "a parameter too wide": (
        "table_exact",
        "add keyed kind:1 upper:1 other(port:512)",
        "action ExactIngress.other, parameter port (9 bits): found 512, expected a number from 0 to 2^9 - 1",
    ),
    "a key too wide": (
        "table_exact",
        "add keyed kind:0x10000 upper:1 discard()",
        "table ExactIngress.keyed, key hdr.frame.kind (exact, 16 bits): found 0x10000",
    ),
    "an entry twice": ("table_exact", "\n".join(["add keyed kind:1 upper:1 discard()"] * 2), "exists"),
    "an entry that isn't there": (
        "table_changes",
        "remove changing 1 kind:0x0800",
        "table ChangesIngress.changing: no entry with this match and priority",
    ),
    "const entries": ("table_const", "add exacts a:1 b:3 set_exact(value:1)", "const"),
    "a const default action": ("table_const", "setdefault exacts set_exact(value:1)", "const"),
    "no such handle": ("table_changes", "remove $A", "found $A, expected one of: no entry has a handle"),
    "no such counter": ("counters", "check_counter nonsense(0)", "found counter nonsense, expected one of: "),
    "a cell beyond the end": ("counters", "check_counter both(4)", "4"),
    "an entry's counter without the entry": (
        "counters",
        "check_counter per_entry(0)",
        "found entry 0, but the file has added 0 to CountersIngress.kinds",
    ),
    "no such register": ("registers", "register_read nonsense 0", "found register nonsense, expected one of: "),
    "a register's cell beyond the end": ("registers", "register_write narrow 4 1", "4"),
    "a register's value too wide": ("registers", "register_write narrow 0 512", "expected a number from 0 to 2^9 - 1"),
    "no such meter": ("meters", "meter_get_rates nonsense 0", "found meter nonsense, expected one of: "),
    "a meter's cell beyond the end": ("meters", "meter_get_rates of_bytes 4", "found cell 4 of MetersIngress.of_bytes"),
    "a rate that is none": ("meters", "meter_set_rates of_bytes 0 1 2:3", "found '1', expected RATE:BURST"),
    "a rate that is negative": ("meters", "meter_set_rates of_bytes 0 -1:1 2:3", "found '-1:1', expected RATE:BURST"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_a_failure_of_its_line(failures, case):
    program, text, message = REFUSED[case]
    found = failures(program, f"# a comment\n{text}\n")
    assert len(found) == 1
    line, said = found[0]
    assert line == 1 + len(text.splitlines())
    assert message in said
    assert "\n" not in said


def test_the_run_goes_on_after_what_is_refused(failures):
    text = "add keyed kind:1 nonsense()\npacket 0 0001 00\nexpect 1 0001 00 00 00 07 $\n"
    assert [line for line, _ in failures("table_exact", text)] == [1, 3]


CHECKS = [
    ("packets == 1", None),
    ("packets == 2", "both(1) has 1 packets, expected == 2"),
    ("bytes == 3", None),
    ("bytes != 3", "both(1) has 3 bytes, expected != 3"),
    ("bytes < 3", "both(1) has 3 bytes, expected < 3"),
    ("bytes <= 3", None),
    ("bytes > 3", "both(1) has 3 bytes, expected > 3"),
    ("bytes >= 0x3", None),
    ("", None),
]


@pytest.mark.parametrize(("check", "message"), CHECKS)
def test_a_counter_is_compared(failures, check, message):
    found = failures("counters", f"packet 0 0001 aa\nexpect 9\ncheck_counter both(1) {check}\n")
    assert found == ([] if message is None else [(3, message)])


def test_a_direct_counter_by_handle_and_by_order(failures):
    text = """
add kinds kind:1 forward_and_count(port:1) = A
add kinds kind:2 forward_and_count(port:1)
packet 0 0200
expect 1
check_counter per_entry(0) packets == 0
check_counter per_entry(1) packets == 1
check_counter per_entry($A) packets == 0
counter_read per_entry 1
counter_reset per_entry
check_counter per_entry(1) packets == 0
counter_write both 2 5 6
counter_read both 2
check_counter both(2) bytes == 6
"""
    assert failures("counters", text) == []


def test_no_packet_looks_at_the_packet_before_only(failures):
    text = "no_packet\nadd keyed kind:1 upper:0 discard()\npacket 0 0001 00\nno_packet\n"
    text += "packet 0 0002 00\nno_packet\nexpect 1"
    assert failures("table_exact", text) == [(6, "expected no packet, but port 1 sent one")]


def test_time_passes_only_between_packets(failures):
    # One packet a second, burst of one: packets of one file stand a millisecond apart.
    text = "meter_array_set_rates of_packets 0.000001:1 0.000001:1\n"
    text += "packet 0 0201\nexpect 1 0201 00\npacket 0 0201\nexpect 1 0201 02\n"
    text += "wait\npacket 0 0201\nexpect 1 0201 00\nmeter_get_rates of_packets 1\n"
    assert failures("meters", text) == []


def test_the_same_seed_gives_the_same_run(tmp_path):
    stf = tmp_path / "a.stf"
    stf.write_text("packet 0 0000 ffff\nexpect 1 0000 ffff 01 01 $\n" * 20)
    artifact = PROGRAMS.artifact("random").read_text()
    assert run(artifact, parse(stf), seed=7) == run(artifact, parse(stf), seed=7)


def test_a_program_that_is_none_is_refused():
    with pytest.raises(LoadError):
        run("{}", [])
