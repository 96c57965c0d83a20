"""The programs of `switch/programs` do what their STF files say, here and on bmv2."""

import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from phb_switch.p4c import ProgramDirectory
from phb_switch.stf.command import run_pair
from phb_switch.stf.compare import Sent, compare, first_difference, rows
from phb_switch.stf.pairs import Pair
from phb_switch.stf.parser import parse
from phb_switch.stf.report import Status
from phb_switch.stf.statements import Expect

from . import bmv2

DIRECTORY = ProgramDirectory(Path(__file__).parents[3] / "programs")
FILES = sorted(DIRECTORY.path.glob("*.stf"))

# Lines of files where bmv2 does otherwise, and why ours is meant.
BMV2_DIFFERS = {
    ("parser_errors", 15): "bmv2 accepts where no case of a select fits; P4_16 has error.NoMatch",
}

AT_ONCE = 12


def told(failures) -> str:
    return "\n".join(
        line for failure in failures for line in (f"line {failure.line}: {failure.message}", *rows(failure))
    )


@pytest.mark.parametrize("stf", FILES, ids=lambda path: path.stem)
def test_a_program_does_what_its_file_says(stf):
    result = run_pair(Pair(DIRECTORY.artifact(stf.stem), stf))
    assert result.status is Status.PASSED, result.reason or told(result.failures)
    assert result.packets
    assert result.elsewhere == {}


def test_every_program_has_a_file():
    assert {path.stem for path in FILES} == set(DIRECTORY.programs())


@pytest.fixture(scope="module")
def on_bmv2(tmp_path_factory):
    """What bmv2 sends for each file, or why it wasn't asked; most of the time it waits, so all run at once."""
    if shutil.which("simple_switch_grpc") is None:
        pytest.skip("simple_switch_grpc is not on the PATH")
    failing = bmv2.failing()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        started: dict[Path, list[Future[dict[int, list[bytes]]]]] = {}
        for stf in FILES:
            if stf.stem in failing:
                continue
            artifact, p4info = DIRECTORY.artifact(stf.stem), DIRECTORY.p4info(stf.stem)
            started[stf] = [
                pool.submit(bmv2.run, artifact, p4info, burst, tmp_path_factory.mktemp(stf.stem))
                for burst in bmv2.bursts(parse(stf))
            ]
    return started, failing


def without_pairs(expected: list[Expect], frames: list[Sent]) -> tuple[list[Expect], list[Sent]]:
    """Leaves out what fits, in any order: bmv2 gets all packets at once, and some pass others that go round again."""
    left = list(frames)
    missing = []
    for each in expected:
        fitting = next((frame for frame in left if first_difference(each, frame.frame) is None), None)
        if fitting is None:
            missing.append(each)
        else:
            left.remove(fitting)
    return missing, left


def test_what_a_bmv2_fails_at_is_known_by_its_build(tmp_path, monkeypatch):
    for name, words in (("checks", "Attempted to read register at out-of-bounds index 4"), ("unchecked", "nothing")):
        (tmp_path / name).write_text(f"#!/bin/sh\n# {words}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert bmv2.failing("checks").keys() == {"hash_random"}
    assert bmv2.failing("unchecked").keys() == {"hash_random", "counters", "registers"}
    assert bmv2.failing("unchecked").keys() <= set(DIRECTORY.programs())


@pytest.mark.parametrize("stf", FILES, ids=lambda path: path.stem)
def test_bmv2_does_the_same(on_bmv2, stf):
    started, failing = on_bmv2
    if stf.stem in failing:
        pytest.skip(failing[stf.stem])
    try:
        sent = [burst.result() for burst in started[stf]]
    except bmv2.UnsupportedError as error:
        pytest.skip(f"bmv2 can't be asked without its own CLI: {error}")
    expected = [each for each in parse(stf) if isinstance(each, Expect)]
    failures = []
    for port in sent[0]:
        frames = [Sent(0, frame) for burst in sent for frame in burst[port]]
        failures += compare(port, *without_pairs([each for each in expected if each.port == port], frames))
    differing = {line for name, line in BMV2_DIFFERS if name == stf.stem}
    assert differing <= {failure.line for failure in failures}, "bmv2 does as we do: take the line from BMV2_DIFFERS"
    failures = [failure for failure in failures if failure.line not in differing]
    assert not failures, told(failures)
