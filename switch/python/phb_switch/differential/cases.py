"""What is tried: programs of p4c's testdata, of this repository, and of folders, with their packets or random ones."""

import json
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from random import Random

from finsy.proto import p4i
from google.protobuf import text_format

from phb_switch._native import Switch
from phb_switch.differential.making import made
from phb_switch.p4c import COMPILER, CompileError, compile_program, compiler_of, compiler_version
from phb_switch.stf.parser import parse
from phb_switch.stf.statements import CheckCounter, Expect, NoPacket, SendPacket, Statement

PACKETS, RANDOM = "packets of its file", "random"


@dataclass(frozen=True)
class Program:
    """A program: its set (a title), its name, artifact, and p4info and STF file, if it has them."""

    group: str
    name: str
    artifact: str
    info: p4i.P4Info | None
    stf: Path | None


@dataclass(frozen=True)
class Case:
    """A program and what to do with it; `what` is PACKETS or RANDOM."""

    program: Program
    what: str
    statements: Sequence[Statement]

    @property
    def packets(self) -> int:
        """How many frames it sends."""
        return sum(isinstance(each, SendPacket) for each in self.statements)

    def without(self, lines: Set[int]) -> "Case":
        """The same without some lines."""
        return Case(self.program, self.what, [each for each in self.statements if each.line not in lines])

    def first(self, packets: int) -> "Case":
        """The same with its first packets only."""
        left, statements = packets, []
        for each in self.statements:
            if isinstance(each, SendPacket):
                if not left:
                    break
                left -= 1
            statements.append(each)
        return Case(self.program, self.what, statements)


class CaseError(Exception):
    """A folder or file that isn't what it is thought to be; `str()` is one line."""


@dataclass(frozen=True)
class Source:
    """A program that is still to be compiled: its set, its file, and arguments of p4c."""

    group: str
    path: Path
    arguments: Sequence[str]


def samples(testdata: Path) -> Iterator[Source]:
    """P4c's own programs for v1model."""
    for folder, group, standard in (("p4_16_samples", "P4_16", "p4-16"), ("p4_14_samples", "P4_14", "p4-14")):
        for source in sorted((testdata / folder).glob("*.p4")):
            if standard == "p4-14" or compiler_of(source) == COMPILER:
                yield Source(f"p4c's samples, {group}", source, ["--std", standard])


def compiled(source: Source, kept: Path) -> Program | None:
    """A program of a source, which is compiled once and kept in a folder; None if p4c doesn't take it."""
    path = source.path
    artifact = kept / f"{path.parent.name}-{path.stem}.json"
    info, refused = artifact.with_suffix(".p4info.txtpb"), artifact.with_suffix(".refused")
    if not info.exists() and not refused.exists():
        try:
            compile_program(path, artifact, info, source.arguments)
        except CompileError as error:
            refused.write_text(str(error), encoding="utf-8")
    if refused.exists():
        return None
    return _program(source.group, path.stem, artifact, info, path.with_suffix(".stf"))


def folder(group: str, path: Path) -> Iterator[Program]:
    """Artifacts of a folder and of those in it, each with the p4info and the STF file that lie with it, if they do."""
    if not path.is_dir():
        raise CaseError(f"{path}: no such folder")
    for artifact in sorted(path.rglob("*.json")):
        if not _is_artifact(artifact):
            continue
        beside = artifact.with_suffix(".stf")
        stf = beside if beside.exists() else path / beside.name
        name = str(artifact.relative_to(path).with_suffix("")).removeprefix("build/")
        yield _program(group, name, artifact, artifact.with_suffix(".p4info.txtpb"), stf)


def kept_folder(base: Path) -> Path:
    """Where compiled programs are kept, by p4c's version; CaseError without p4c."""
    version = compiler_version()
    if version is None:
        raise CaseError(f"{COMPILER} is not on the PATH, which p4c's samples need")
    made = base / f"p4c-{version.partition(' ')[0]}"
    made.mkdir(parents=True, exist_ok=True)
    return made


def cases(program: Program, seed: int, frames: int) -> Iterator[Case]:
    """A program's cases; StfError for a file that can't be read, LoadError for a program that we don't load."""
    if program.stf is not None:
        yield Case(program, PACKETS, [each for each in parse(program.stf) if not _is_left_out(each)])
    if frames:
        tables = Switch("tables", {})
        tables.load(program.artifact)
        random = Random(f"{seed} {program.group} {program.name}")
        yield Case(program, RANDOM, made(json.loads(program.artifact), tables.tables(), program.info, frames, random))


def _is_left_out(statement: Statement) -> bool:
    # What both do is compared, not what the file expects; and bmv2's gRPC takes no frame without a byte.
    is_empty = isinstance(statement, SendPacket) and not statement.data
    return is_empty or isinstance(statement, Expect | NoPacket | CheckCounter)


def _is_artifact(path: Path) -> bool:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and {"header_types", "parsers", "pipelines"} <= content.keys()


def _program(group: str, name: str, artifact: Path, info: Path, stf: Path) -> Program:
    try:
        known = text_format.Parse(info.read_text(encoding="utf-8"), p4i.P4Info()) if info.exists() else None
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise CaseError(f"{info}: no p4info: {error}") from None
    return Program(group, name, artifact.read_text(encoding="utf-8"), known, stf if stf.exists() else None)
