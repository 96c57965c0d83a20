"""docs/operate/operating.md: its inventory is one, and every event and limit in it is the program's."""

import re
from pathlib import Path

from phb.inventory import read_inventory
from phb.state.history import KEPT
from phb.watching import Kind, Options, switches

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "operate" / "operating.md").read_text()


def test_the_inventory_is_one(tmp_path):
    (text,) = re.findall(r"^```yaml\n(.*?)^```", DOCUMENT, flags=re.MULTILINE | re.DOTALL)
    path = tmp_path / "network.yaml"
    path.write_text(text)
    assert [switch.name for switch in read_inventory(path)] == ["c7513", "c3640"]


def test_every_event_is_named():
    (events,) = re.findall(r"Events: ([^.]*)\.", DOCUMENT)
    assert set(re.findall(r"`([a-z-]+)`", events)) == {kind.value for kind in Kind}


def test_the_figures_are_the_programs():
    assert f"The last {KEPT} pushes" in DOCUMENT
    assert f"every `--interval` seconds ({Options().interval_s:g})" in DOCUMENT
    assert f"after {switches.PROBE_S:g} s without an answer" in DOCUMENT
    assert f"(after {switches.GRACE_S:g} s, so" in DOCUMENT
