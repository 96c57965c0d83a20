"""Random entries and frames: the same for the same seed, taken by every program, and meeting each other."""

import json
from pathlib import Path
from random import Random

import pytest
from finsy.proto import p4i
from google.protobuf import text_format

from phb_switch import Switch
from phb_switch.differential.making import made
from phb_switch.stf import p4runtime, thrift
from phb_switch.stf.statements import Add, SendPacket

PROGRAMS = Path(__file__).parents[3] / "programs"
ARTIFACTS = sorted([*PROGRAMS.glob("build/*.json"), *PROGRAMS.glob("older/*.json")])
ARTIFACTS = [path for path in ARTIFACTS if path.name != "manifest.json"]


def p4info(path: Path) -> p4i.P4Info | None:
    info = path.with_suffix(".p4info.txtpb")
    return text_format.Parse(info.read_text(), p4i.P4Info()) if info.exists() else None


def statements(path: Path, frames: int, seed: int = 1):
    tables = Switch("tables", {})
    tables.load(path.read_text())
    return made(json.loads(path.read_text()), tables.tables(), p4info(path), frames, Random(seed))


@pytest.mark.parametrize("path", ARTIFACTS, ids=lambda path: path.stem)
def test_nothing_that_is_made_up_is_refused(path):
    made_up = statements(path, 4)
    assert sum(isinstance(each, SendPacket) for each in made_up) == 4
    assert [each.line for each in made_up] == list(range(1, len(made_up) + 1))
    assert all(each.data for each in made_up if isinstance(each, SendPacket))
    assert thrift.run(path.read_text(), made_up).refused == {}
    info = p4info(path)
    if info is not None:
        assert p4runtime.run(path.read_text(), info, made_up).refused == {}


def test_the_seed_decides():
    path = PROGRAMS / "build" / "router.json"
    assert statements(path, 20) == statements(path, 20)
    assert statements(path, 20) != statements(path, 20, seed=2)


def test_frames_take_every_transition_and_entries_meet_them():
    made_up = statements(PROGRAMS / "build" / "router.json", 60)
    frames = [each.data for each in made_up if isinstance(each, SendPacket)]
    # EtherType of IPv4, and others.
    kinds = {frame[12:14] == b"\x08\x00" for frame in frames if len(frame) > 13}
    assert kinds == {True, False}
    assert any(isinstance(each, Add) for each in made_up)
    sent = thrift.run((PROGRAMS / "build" / "router.json").read_text(), made_up).sent
    assert sum(map(len, sent.values())) > 1
