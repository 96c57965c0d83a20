"""The programs of `switch/programs` do what their STF files say, here and on bmv2."""

import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from finsy.proto import p4i
from google.protobuf import text_format

from phb_switch.p4c import ProgramDirectory
from phb_switch.stf import bmv2, p4runtime
from phb_switch.stf.command import run_pair
from phb_switch.stf.compare import rows
from phb_switch.stf.pairs import Pair
from phb_switch.stf.parser import parse
from phb_switch.stf.report import Status
from phb_switch.stf.runner import RunResult
from phb_switch.stf.statements import Command

DIRECTORY = ProgramDirectory(Path(__file__).parents[3] / "programs")
FILES = sorted(DIRECTORY.path.glob("*.stf"))
# bmv2's switches for these have no P4Runtime.
OTHERS = [ProgramDirectory(DIRECTORY.path / each) for each in ("psa", "pna")]
ALL = [*FILES, *(stf for each in OTHERS for stf in sorted(each.path.glob("*.stf")))]

# Lines of files where bmv2 does otherwise, and why ours is meant.
BMV2_DIFFERS = {
    ("parser_lookahead", 21): "bmv2 takes no frame without a byte from its gRPC",
    ("parser_errors", 15): "bmv2 accepts where no case of a select fits; P4_16 has error.NoMatch",
}

# Each waits most of the time.
AT_ONCE = 4


def told(failures) -> str:
    return "\n".join(
        line for failure in failures for line in (f"line {failure.line}: {failure.message}", *rows(failure))
    )


def directory_of(stf):
    return next(each for each in (DIRECTORY, *OTHERS) if each.path == stf.parent)


@pytest.mark.parametrize("stf", ALL, ids=lambda path: path.stem)
def test_a_program_does_what_its_file_says(stf):
    result = run_pair(Pair(directory_of(stf).artifact(stf.stem), stf))
    assert result.status is Status.PASSED, result.reason or told(result.failures)
    assert result.packets
    assert result.elsewhere == {}


def test_every_program_has_a_file():
    assert [path.stem for path in ALL] == [name for each in (DIRECTORY, *OTHERS) for name in each.programs()]


def info(stf):
    return text_format.Parse(directory_of(stf).p4info(stf.stem).read_text(), p4i.P4Info())


@pytest.mark.parametrize("stf", ALL, ids=lambda path: path.stem)
def test_over_p4runtime_it_does_the_same(stf):
    outcome = p4runtime.run(directory_of(stf).artifact(stf.stem).read_text(), info(stf), parse(stf))
    assert not outcome.failures, told(outcome.failures)
    assert outcome.packets


@pytest.fixture(scope="module")
def on_bmv2():
    """The result of each file on bmv2."""
    if shutil.which(bmv2.COMMAND) is None:
        pytest.skip(f"{bmv2.COMMAND} is not on the PATH")
    failing = bmv2.failing()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        started: dict[Path, Future[RunResult]] = {}
        for stf in FILES:
            if stf.stem not in failing:
                artifact = DIRECTORY.artifact(stf.stem).read_text()
                started[stf] = pool.submit(bmv2.run, artifact, info(stf), parse(stf))
    return started, failing


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
    outcome = started[stf].result()
    commands = {each.line: each.name for each in parse(stf) if isinstance(each, Command)}
    refused = sorted({commands[failure.line] for failure in outcome.failures if failure.line in commands})
    if refused:
        pytest.skip(f"bmv2 can't be asked without its own CLI: {', '.join(refused)}")
    differing = {line for name, line in BMV2_DIFFERS if name == stf.stem}
    assert differing <= {failure.line for failure in outcome.failures}, (
        "bmv2 does as we do: take the line from BMV2_DIFFERS"
    )
    failures = [failure for failure in outcome.failures if failure.line not in differing]
    assert not failures, told(failures)
