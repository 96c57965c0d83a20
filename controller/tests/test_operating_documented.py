"""docs/operate/operating.md and state.md: the inventory is one, every event and limit in them is the program's."""

import re
from pathlib import Path

from phb.database.database import ANSWER_SECONDS
from phb.database.postgresql import MARGIN_S
from phb.inventory import read_inventory
from phb.state.database import PATIENCE_S
from phb.state.history import KEPT
from phb.state.members import LEASE_S, LOST_S
from phb.state.recording import MOST
from phb.watching import Kind, Options, switches

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs" / "operate"
DOCUMENT = (DOCUMENTS / "operating.md").read_text()
STATE = (DOCUMENTS / "state.md").read_text()


def test_the_inventory_is_one(tmp_path):
    (text,) = re.findall(r"^```yaml\n(.*?)^```", DOCUMENT, flags=re.MULTILINE | re.DOTALL)
    path = tmp_path / "network.yaml"
    path.write_text(text)
    assert [switch.name for switch in read_inventory(path)] == ["c7513", "c3640"]


def test_every_event_is_named():
    (events,) = re.findall(r"Events: ([^.]*)\.", DOCUMENT)
    assert set(re.findall(r"`([a-z-]+)`", events)) == {kind.value for kind in Kind}


def test_the_figures_are_the_programs():
    assert f"The last {KEPT} pushes" in STATE
    assert f"up to {MOST} beginnings and ends" in STATE
    assert f"wait for {PATIENCE_S:g} s" in STATE
    assert f"a server that hangs within {ANSWER_SECONDS + MARGIN_S:g} s" in STATE
    assert f"last beat ---- {LOST_S:g} s: lost, begins nothing more ---- {LEASE_S:g} s: dead" in STATE
    assert f"every `--interval` seconds ({Options().interval_s:g})" in DOCUMENT
    assert f"after {switches.PROBE_S:g} s without an answer" in DOCUMENT
    assert f"(after {switches.GRACE_S:g} s, so" in DOCUMENT
