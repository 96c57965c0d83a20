"""docs/policies/explain.md prints what the tree prints, and lists every word of the notation."""

import re
import shlex
from pathlib import Path

import pytest

from phb.cli import run
from phb.explain.notation import WORDS

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = (ROOT / "docs" / "policies" / "explain.md").read_text()
EXAMPLE = re.findall(r"```console\n\$ phb ([^\n]+)\n(.*?)```", DOCUMENT, flags=re.DOTALL)


def test_every_word_is_in_the_table():
    assert set(re.findall(r"^\| `(\w+)` \|", DOCUMENT, flags=re.MULTILINE)) == set(WORDS)


@pytest.mark.parametrize(("command", "output"), EXAMPLE, ids=lambda text: text[:30])
def test_examples_print_what_stands_there(command, output, capsys, monkeypatch, examples):
    monkeypatch.chdir(examples)
    assert run(shlex.split(command)) == 0
    assert capsys.readouterr().out == output


def test_there_are_examples():
    assert len(EXAMPLE) >= 2
