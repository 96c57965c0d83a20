"""Everything that is shown of a switch fits 100 columns, with each example on it, and no word is broken."""

import io
import re
from datetime import datetime
from pathlib import Path

import pytest
from test_golden import INPUTS

from phb.cli import run
from phb.cli.output import console, lines, print_table, table
from phb.cli.tables import WIDTH, fold
from phb_switch import P4RuntimeServer, PortConfig, Switch

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
AT = datetime(1999, 3, 1, 12, 0).isoformat()
LOOKS = ["policy", "meter", "port", "switch", "class", "class --histogram", "queue --all", "entries", "counters"]
COUNTED = {"smc-applicability", "everything"}  # policies with `applicability`
ISODE = [EXAMPLES / "isode" / "load.ios", EXAMPLES / "ios" / "sar2811-ports.yaml"]
ISODE_TESTS = ("shaped", "wred-defaults", "wred-aggressive")
SETS = {
    **INPUTS,
    **{path.stem: [path] for path in sorted((EXAMPLES / "policies").glob("*.yaml"))},
    "cip": [EXAMPLES / "cip" / "c7513.yaml"],
    **{
        f"e1-{streams}-{buffers.stem}": [EXAMPLES / "e1" / "ibm2212.yaml", EXAMPLES / "e1" / streams, buffers]
        for streams in ("streams.yaml", "streams-windows.yaml", "streams.ldif")
        for buffers in sorted((EXAMPLES / "e1").glob("buffers-*.yaml"))[:1]
    },
    "e1-far-router": [EXAMPLES / "e1" / "far-router.yaml"],
    **{f"isode-{test}": [EXAMPLES / "isode" / f"{test}.ios", *ISODE] for test in ISODE_TESTS},
    "osa": [EXAMPLES / "osa" / "lan.yaml"],
}


def show(capsys, *arguments):
    capsys.readouterr()
    assert run([*arguments]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.mark.parametrize("name", SETS)
def test_each_example_fits(name, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PHB_STATE", str(tmp_path / "state.sqlite"))
    monkeypatch.chdir(EXAMPLES.parent)
    files = [str(path.relative_to(EXAMPLES.parent)) for path in SETS[name]]
    switch = Switch("dut", {port: PortConfig(256_000) for port in range(1, 13)})
    server = P4RuntimeServer(switch, device_id=1)
    where = ["--address", f"127.0.0.1:{server.start()}"]
    try:
        show(capsys, "push", *where, "--at", AT, *files)
        for look in [*LOOKS, *(["applicability --totals"] if name in COUNTED else [])]:
            words = show(capsys, "show", *look.split(), *where)
            assert max(map(len, words.split("\n"))) <= WIDTH, look
        assert max(map(len, show(capsys, "history").split("\n"))) <= WIDTH
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("width", "parts"),
    [
        (44, ["source=10.0.0.0-10.255.255.255 tos=0x0&0x1f"]),
        (30, ["source=10.0.0.0-10.255.255.255", " tos=0x0&0x1f"]),
        (20, ["source=10.0.0.0-", " 10.255.255.255", " tos=0x0&0x1f"]),
        (8, ["source=", " 10.0.0.0-", " 10.255.255.255", " tos=", " 0x0&0x1f"]),
    ],
)
def test_lines_are_folded_at_words_and_long_words_at_separators(width, parts):
    line = "source=10.0.0.0-10.255.255.255 tos=0x0&0x1f"
    assert list(fold(line, width)) == parts


def test_on_an_ascii_terminal_columns_stand_below_each_other(monkeypatch):
    """Escapes count, and the line below the headings is of hyphens."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    monkeypatch.setattr("sys.stdout", out)
    shown = table("class", "packets")
    for name in ("größer", "voice"):
        shown.add_row(name, "1")
    print_table(console(), shown)
    out.flush()
    lines = [line for line in out.buffer.getvalue().decode("ascii").splitlines() if line]
    assert set(lines[1].strip()) == {"-"}
    assert len({lines[0].index("packets"), *(line.rindex("1") for line in lines[2:])}) == 1
    assert max(map(len, lines)) <= WIDTH


def test_numbers_and_names_without_separators_are_whole(capsys):
    """However narrow their column is made."""
    long, number = "x" * 70, "9" * 40
    shown = table("name", "number", "words")
    shown.add_row(long, number, "some words here")
    print_table(console(), shown)
    assert {long, number, "some", "words", "here"} <= set(capsys.readouterr().out.split())


def test_what_is_folded_reads_as_what_was_said(capsys):
    rule, place = "gold-and-silver-for-all-of-us", "examples/s390/policy-agent-diffserv-cip.conf:12"
    match = "source=2001:db8::1:2:3:4/128 destination=2001:db8::ffff/128 destination_port=1-65535"
    shown = table("policy", "rule", "match", "bytes")
    shown.add_row("1", lines([rule, place]), lines([match] * 2), "12345678901234567890")
    print_table(console(), shown)
    words = capsys.readouterr().out
    assert max(map(len, words.split("\n"))) <= WIDTH
    line = next(line for line in words.split("\n") if "match" in line)
    first, last = line.index("match"), line.index("bytes")
    column = "".join(each[first:last] for each in words.split("\n")[3:])
    assert re.sub(r"\s", "", column) == re.sub(r"\s", "", match * 2)
    assert "12345678901234567890" in words.split()
