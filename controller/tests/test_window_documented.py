"""docs/policies/before-a-maintenance-window.md: every command runs, on a real switch, and prints what the page says."""

import re
import shlex
import textwrap
from pathlib import Path
from shutil import copy

import pytest

from phb_switch import P4RuntimeServer, PortConfig, Switch

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "policies" / "before-a-maintenance-window.md"
ADDRESS = "192.0.2.1:9559"
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def blocks(text):
    """The page's fenced blocks: kind and text, without their indentation."""
    for indentation, kind, body in BLOCK.findall(text):
        yield kind, textwrap.dedent(body) if indentation else body


def edit(name, change):
    """Take over a change in the form of diff: lines that stay, go and come, at the one place where they stand."""
    lines = change.splitlines()
    before = "\n".join(line[1:] for line in lines if line[0] != "+")
    after = "\n".join(line[1:] for line in lines if line[0] != "-")
    text = Path(name).read_text()
    assert text.count(before) == 1, before
    Path("new.yaml").write_text(text.replace(before, after))


@pytest.fixture
def address():
    server = P4RuntimeServer(Switch("dut", {port: PortConfig() for port in (1, 2)}), device_id=1)
    yield f"127.0.0.1:{server.start()}"
    server.stop()


@pytest.fixture
def here(tmp_path, monkeypatch):
    for name in ("sar2811-queues.ios", "sar2811-ports.yaml"):
        copy(ROOT / "examples" / "ios" / name, tmp_path)
    monkeypatch.chdir(tmp_path)


def test_every_command_prints_what_the_page_says(here, phb, address):
    code, _, err = phb("push", "--address", address, "sar2811-queues.ios", "sar2811-ports.yaml")
    assert code == 0, err
    commands = edits = 0
    for kind, body in blocks(PAGE.read_text()):
        if kind == "yaml":
            Path("wan.expectations.yaml").write_text(body)
        elif kind == "diff":
            edit("new.yaml" if edits else "now.yaml", body)
            edits += 1
        else:
            line, _, wanted = body.partition("\n")
            assert line.startswith("$ phb "), line
            code, out, err = phb(*shlex.split(line.replace(ADDRESS, address))[2:])
            assert (err + out).replace(address, ADDRESS).strip("\n") == wanted.strip("\n"), line
            assert code == (line.startswith("$ phb diff now.yaml")), line
            commands += 1
    assert (commands, edits) == (10, 2)
    assert "2 regions" not in Path("change.html").read_text()
    code, out, _ = phb("verify", "wan.expectations.yaml", "new.yaml")
    assert code == 0, out


def test_every_command_that_is_named_in_words_is_one(phb):
    for line in re.findall(r"`(phb [a-z][^`]*)`", PAGE.read_text()):
        assert phb(line.split()[1], "--help")[0] == 0, line
