"""Lines of STF files become statements, or one error that says where and what."""

import pytest

from phb_switch.stf.parser import parse
from phb_switch.stf.statements import (
    Add,
    Call,
    CheckCounter,
    Command,
    Expect,
    Key,
    NoPacket,
    Remove,
    SendPacket,
    SetDefault,
    StfError,
    Wait,
)


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "a.stf"
        path.write_text(text)
        return parse(path)

    return read


STATEMENTS = [
    ("packet 0 00 01 fF", SendPacket(1, 0, b"\x00\x01\xff")),
    ("PACKET 3 0001ff", SendPacket(1, 3, b"\x00\x01\xff")),
    ("packet\t3\t00 # a comment", SendPacket(1, 3, b"\x00")),
    ("packet 3", SendPacket(1, 3, b"")),
    ("expect 1 0*0 1 **", Expect(1, 1, "0*01**", False)),
    ("expect 1 AB $", Expect(1, 1, "ab", True)),
    ("expect 1 ab$ ", Expect(1, 1, "ab", True)),
    ("expect 1 $", Expect(1, 1, "", True)),
    ("expect 1", Expect(1, 1, None, False)),
    ("no_packet", NoPacket(1)),
    ("wait", Wait(1)),
    ("add t a()", Add(1, "t", None, (), Call("a", ()), None)),
    ("add c.t 5 a()", Add(1, "c.t", 5, (), Call("a", ()), None)),
    (
        "add t 12 h.f:0x12** stack$0.x:7  c.a( p : 1,q:0x2 ) = H",
        Add(1, "t", 12, (Key("h.f", "0x12**"), Key("stack$0.x", "7")), Call("c.a", (("p", "1"), ("q", "0x2"))), "H"),
    ),
    ("add t h[1].$valid$:1 a ()", Add(1, "t", None, (Key("h[1].$valid$", "1"),), Call("a", ()), None)),
    ("add t mac:00:11:22:33:44:55 a()", Add(1, "t", None, (Key("mac", "00:11:22:33:44:55"),), Call("a", ()), None)),
    ("setdefault t a(p:1)", SetDefault(1, "t", Call("a", (("p", "1"),)))),
    ("remove all", Remove(1)),
    ("remove", Remove(1)),
    ("remove $H", Remove(1, handle="H")),
    ("remove t 3 k:1", Remove(1, table="t", priority=3, keys=(Key("k", "1"),))),
    ("check_counter c(3)", CheckCounter(1, "c", "3", "packets", ">=", 0)),
    ("check_counter a.c ( $H ) bytes != 0x10", CheckCounter(1, "a.c", "$H", "bytes", "!=", 16)),
    ("register_read r", Command(1, "register_read", ("r",))),
    ("register_write r 1 0x2", Command(1, "register_write", ("r", "1", "0x2"))),
]


@pytest.mark.parametrize(("text", "statement"), STATEMENTS, ids=[text for text, _ in STATEMENTS])
def test_a_line_is_a_statement(read, text, statement):
    assert read(text) == [statement]


def test_lines_are_counted_and_comments_and_blank_lines_are_nothing(read):
    assert read("# wait\n\n   \nwait#\r\n\tWait  for it\n") == [Wait(4), Wait(5)]


ERRORS = [
    ("pakcet 1 00", "a.stf:1: found 'pakcet', expected one of packet, expect, "),
    ("packet", "a.stf:1: found the end of the line, expected the number of a port"),
    ("packet x 00", "a.stf:1: found 'x 00', expected the number of a port"),
    ("packet 511 00", "a.stf:1: found port 511, expected 0 to 510"),
    ("packet 1 0", "a.stf:1: found '0', expected bytes as pairs of hexadecimal digits"),
    ("packet 1 0*", "a.stf:1: found '0*', expected bytes as pairs of hexadecimal digits"),
    ("expect 1 $00", "a.stf:1: found '$00', expected hexadecimal digits, * for any digit, $ at the end"),
    ("no_packet 1", "a.stf:1: found '1', expected nothing more"),
    ("add", "a.stf:1: found the end of the line, expected the name of a table"),
    ("add t k:1", "a.stf:1: found the end of the line, expected ACTION(NAME:VALUE, ...)"),
    ("add t k 1 a()", "a.stf:1: found 'k 1 a()', expected ACTION(NAME:VALUE, ...)"),
    ("add t a(1)", "a.stf:1: found argument '1', expected NAME:VALUE"),
    ("add t a() = $1", "a.stf:1: found '= $1', expected = NAME"),
    ("setdefault t a() = H", "a.stf:1: found '= H', expected nothing more"),
    ("remove t a()", "a.stf:1: found 'a()', expected KEY:VALUE"),
    ("check_counter c", "a.stf:1: found 'c', expected COUNTER(INDEX) or COUNTER($HANDLE)"),
    ("check_counter c(1) packets == x", "a.stf:1: found 'x', expected a number"),
    ("register_write r 1", "a.stf:1: found 'r 1', expected 3 words after register_write"),
    ("mc_node_create", "a.stf:1: found the end of the line, expected 1 or more words after mc_node_create"),
    ("register_read", "a.stf:1: found the end of the line, expected 1 to 2 words after register_read"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS, ids=[text for text, _ in ERRORS])
def test_what_is_no_statement_is_one_error_with_file_and_line(read, text, message):
    with pytest.raises(StfError) as error:
        read(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(StfError, match=r"none\.stf: No such file"):
        parse(tmp_path / "none.stf")
    (tmp_path / "b.stf").write_bytes(b"\xff")
    with pytest.raises(StfError, match=r"b\.stf: not an STF file: it is not UTF-8"):
        parse(tmp_path / "b.stf")
