"""docs/start/by-hand.md and getting-started.md: each `phb` command runs in turn, on a switch for each page."""

import re
import shlex
from pathlib import Path

import pytest

from phb_switch import P4RuntimeServer, PortConfig, Switch

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"docs/start/by-hand.md": "# By hand", "docs/start/getting-started.md": "# Getting started"}


def commands(page):
    """The page's `phb` commands about policies and switches, without comments."""
    text = (ROOT / page).read_text().partition(PAGES[page])[2]
    for block in re.findall(r"^```\n(.*?)```$", text, re.DOTALL | re.MULTILINE):
        for line in re.findall(r"^(?:\.venv/bin/)?phb (.*)$", block, re.MULTILINE):
            words = shlex.split(line, comments=True)
            if words[0] != "conform":  # ptf-tests runs it
                yield words


@pytest.mark.parametrize("page", PAGES)
def test_every_command_runs(page, phb, monkeypatch):
    monkeypatch.chdir(ROOT)
    switch = Switch("dut", {port: PortConfig() for port in range(1, 5)})
    server = P4RuntimeServer(switch, device_id=1)
    address = f"127.0.0.1:{server.start()}"
    ran = 0
    try:
        for command, *words in commands(page):
            where = [] if command in ("check", "explain") else ["--address", address]
            place = 1 if command == "show" else 0
            code, _, err = phb(command, *words[:place], *where, *words[place:])
            assert code == 0, (command, words, err)
            ran += 1
    finally:
        server.stop()
    assert ran > 4


def test_the_mistake_is_told_as_the_page_says(phb, write_file, monkeypatch, tmp_path):
    write_file(
        "my.yaml", "phb: 1\nports:\n  - {number: 1, name: line}\n\n\nqueueing:\n  - port: line\n    holdqueue: 3\n"
    )
    monkeypatch.chdir(tmp_path)
    code, _, err = phb("check", "my.yaml")
    assert code == 2
    assert err in (ROOT / "docs" / "start" / "getting-started.md").read_text()
