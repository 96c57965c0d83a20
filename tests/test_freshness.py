"""The committed artifacts, of phb's own program and of every test program, are what p4c makes of the committed sources.

Digests say so on any machine. Where p4c is installed, programs are compiled again. The version of the manifest makes
the same bytes. What others make is no reason to fail: they may name and order anything differently, or refuse what was
right once. So there it is only said whether what the sources name is the same, and whether a program that has an STF
file does what that says as this p4c compiles it, too.
"""

import json
import re
import shutil
from pathlib import Path

import pytest
from finsy.proto import p4i
from google.protobuf import text_format

import phb_p4
import phb_p4.compile
from phb_switch.p4c import CompileError, ProgramDirectory, compiler_of, compiler_version, read_manifest
from phb_switch.stf.command import run_pair
from phb_switch.stf.pairs import Pair
from phb_switch.stf.report import Status, why

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = sorted({path.parent for path in (ROOT / "switch").rglob("*.p4")})


class Phb:
    """`p4src` as if it were a directory of one program."""

    path = phb_p4.SOURCE_DIRECTORY
    manifest = phb_p4.compile.MANIFEST

    def programs(self):
        return ["phb"]

    def artifact(self, program):
        return phb_p4.artifact_path()

    def p4info(self, program):
        return phb_p4.p4info_path()

    def compile(self, program, destination):
        return phb_p4.compile.compile_program(destination)

    def digests(self):
        return phb_p4.compile.digests()


DIRECTORIES = [Phb(), *map(ProgramDirectory, FOLDERS)]
PROGRAMS = [
    pytest.param(each, name, id=f"{each.path.relative_to(ROOT)}/{name}")
    for each in DIRECTORIES
    for name in each.programs()
]


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda each: str(each.path.relative_to(ROOT)))
def test_sources_and_artifacts_are_those_of_the_manifest(directory):
    recorded = read_manifest(directory.manifest)[1]
    assert directory.digests() == recorded, "run `make p4` where p4c is installed and commit what it makes"
    assert {directory.artifact(program).name for program in directory.programs()} <= {
        Path(each).name for each in recorded
    }


@pytest.mark.parametrize(("directory", "program"), PROGRAMS)
def test_p4c_makes_the_same_artifacts(tmp_path, directory, program):
    recorded, installed = read_manifest(directory.manifest)[0], compiler_version()
    if installed is None:
        pytest.skip("p4c-bm2-ss is not on the PATH")
    if installed != recorded:
        different = differences(directory, program, tmp_path)
        if different:
            pytest.skip(f"artifacts are those of p4c {recorded}; {installed} {' and '.join(different)}")
        return
    compiler = compiler_of(directory.path / f"{program}.p4")
    if shutil.which(compiler) is None:
        pytest.skip(f"this p4c has no {compiler}")
    directory.compile(program, tmp_path)
    artifact, p4info = directory.artifact(program), directory.p4info(program)
    made = tmp_path / artifact.name
    if p4info.exists():
        assert interface(tmp_path / p4info.name) == interface(p4info)
    assert json.loads(made.read_text()) == json.loads(artifact.read_text())
    assert not p4info.exists() or (tmp_path / p4info.name).read_text() == p4info.read_text()


def differences(directory, program, scratch):
    """Remove what a p4c of another version than the manifest's does otherwise."""
    try:
        directory.compile(program, scratch)
    except CompileError as error:
        return [f"refuses {program}: {str(error).splitlines()[-1]}"]
    artifact, p4info = directory.artifact(program), directory.p4info(program)
    made = scratch / artifact.name
    found = []
    if p4info.exists() and interface(scratch / p4info.name) != interface(p4info):
        found.append(f"makes another p4info of {program}")
    if named(json.loads(made.read_text())) != named(json.loads(artifact.read_text())):
        found.append(f"names otherwise what is in {program}")
    stf = directory.path / f"{program}.stf"
    if stf.exists():
        result = run_pair(Pair(made, stf))
        if result.status is not Status.PASSED:
            found.append(f"makes of {program} what doesn't do as {stf.name} says: {why(result)}")
    return found


# Each stands for a p4c-bm2-ss: what it does instead of compiling.
OTHER_COMPILERS = {
    "refuses": ("echo 'error: no longer P4' >&2; exit 1", "refuses router: error: no longer P4"),
    "makes other artifacts": (
        'case "$7" in *.txt) cp "$OTHER/bits.p4info.txtpb" "$7";; esac; cp "$OTHER/bits.json" "$3"',
        "makes of router what doesn't do as router.stf says",
    ),
}


@pytest.mark.parametrize("case", OTHER_COMPILERS)
def test_a_p4c_of_another_version_breaks_nothing(tmp_path, monkeypatch, case):
    does, said = OTHER_COMPILERS[case]
    compiler = tmp_path / "p4c-bm2-ss"
    compiler.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ echo "Version 9.9"; exit; }}\n{does}\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("OTHER", str(ROOT / "switch" / "programs" / "build"))
    directory = ProgramDirectory(ROOT / "switch" / "programs")
    with pytest.raises(pytest.skip.Exception) as skipped:
        test_p4c_makes_the_same_artifacts(tmp_path, directory, "router")
    assert f"artifacts are those of p4c {read_manifest(directory.manifest)[0]}; 9.9 " in str(skipped.value)
    assert said in str(skipped.value)


def interface(p4info):
    """A P4Info without what older compilers leave out."""
    info = text_format.Parse(p4info.read_text(), p4i.P4Info())
    for table in info.tables:
        table.ClearField("initial_default_action")
        table.ClearField("has_initial_entries")
    return info


# Kept apart from the names of the sources by all versions: what p4c makes up.
MADE_UP = re.compile(r"^(tbl_|node_|act|scalars|tmp)|_\d+$|^$")


def named(artifact):
    """Of an artifact, what is named and laid down by the sources, not the code that p4c makes between."""
    parts = ("headers", "header_stacks", "header_unions", "header_union_stacks", "errors", "enums", "deparsers")
    parts += ("counter_arrays", "register_arrays", "meter_arrays", "calculations", "checksums", "learn_lists")
    parts += ("field_lists", "parse_vsets", "extern_instances")
    tables = [table for pipeline in artifact["pipelines"] for table in pipeline["tables"]]
    shape = ("name", "key", "match_type", "type", "max_size", "with_counters", "support_timeout", "direct_meters")
    return {
        **{part: without_ids(artifact.get(part, [])) for part in parts},
        "header_types": [each["fields"] for each in artifact["header_types"] if not MADE_UP.search(each["name"])],
        "parsers": [sorted(state["name"] for state in each["parse_states"]) for each in artifact["parsers"]],
        "tables": sorted(
            (without_ids({part: table[part] for part in shape}) for table in tables if not made_up(table)),
            key=lambda table: table["name"],
        ),
    }


def made_up(table):
    return not table["key"] or MADE_UP.search(table["name"])


def without_ids(part):
    """Without numbers that p4c gives."""
    if isinstance(part, dict):
        return {name: without_ids(value) for name, value in part.items() if name != "id"}
    return [without_ids(each) for each in part] if isinstance(part, list) else part


@pytest.mark.parametrize(("directory", "program"), PROGRAMS)
def test_an_artifact_has_neither_blanks_nor_paths_and_only_ours_has_positions_in_sources(directory, program):
    text = directory.artifact(program).read_text()
    assert text == json.dumps(json.loads(text), separators=(",", ":")) + "\n"
    positions = list(positions_of(json.loads(text)))
    assert bool(positions) == isinstance(directory, Phb)
    files = {position["filename"] for position in positions}
    assert files <= {path.name for path in directory.path.glob("*.p4")}
    for position in positions:
        text = text.replace(json.dumps(position["filename"]), "")
    assert '.p4"' not in text.replace(f'"program":"{program}.p4"', "")


def positions_of(part):
    """Where p4c says that parts of an artifact are in the sources."""
    if isinstance(part, dict):
        if "source_info" in part:
            yield part["source_info"]
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from positions_of(each)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("register_arrays", lambda part: part[0].update(size=part[0]["size"] + 1)),
        ("header_types", lambda part: part[-1]["fields"].pop()),
        ("parsers", lambda part: part[0]["parse_states"].pop()),
        ("pipelines", lambda part: next(each for each in part[0]["tables"] if each["key"])["key"].pop()),
    ],
)
def test_other_sources_are_told_by_what_versions_share(part, change):
    artifact = json.loads(phb_p4.artifact_path().read_text())
    before = named(json.loads(phb_p4.artifact_path().read_text()))
    change(artifact[part])
    assert named(artifact) != before
