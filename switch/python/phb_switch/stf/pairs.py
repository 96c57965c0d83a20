"""Pairs of a program and an STF file, and the program's artifact."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phb_switch.p4c import compile_program, compiler_of


class PairError(Exception):
    """Arguments without pairs; `str()` is one line."""


@dataclass(frozen=True)
class Pair:
    """A program, as source or artifact, and the packets for it."""

    program: Path
    stf: Path
    named: bool = False
    """Whether the program was named itself, not its directory."""


def pairs(paths: Sequence[Path]) -> list[Pair]:
    """Pairs of arguments: program and STF file, or directories; PairError if a file has no partner, or is missing."""
    found: list[Pair] = []
    rest = list(paths)
    while rest:
        first = rest.pop(0)
        if first.is_dir():
            found += _of_directory(first)
            continue
        if first.suffix not in (".p4", ".json"):
            raise PairError(f"{first}: expected a directory, or a program (.p4, .json) and its .stf")
        if not rest or rest[0].suffix != ".stf":
            raise PairError(f"{first}: found {rest[0] if rest else 'nothing'} behind it, expected its .stf")
        found.append(Pair(first, rest.pop(0), named=True))
    for each in found:
        for path in (each.program, each.stf):
            if not path.is_file():
                raise PairError(f"{path}: no such file")
    return found


def _of_directory(directory: Path) -> list[Pair]:
    found = []
    for stf in sorted(directory.glob("*.stf")):
        # An artifact needs no compiler.
        places = [stf.with_suffix(".json"), directory / "build" / f"{stf.stem}.json", stf.with_suffix(".p4")]
        program = next((path for path in places if path.is_file()), None)
        if program is None:
            raise PairError(f"{stf}: expected {stf.stem}.json, build/{stf.stem}.json or {stf.stem}.p4 beside it")
        found.append(Pair(program, stf))
    if not found:
        raise PairError(f"{directory}: expected files *.stf in it")
    return found


def other_architecture(program: Path, compiler_arguments: Sequence[str]) -> bool:
    """Whether a P4_16 source, with its included files beside it, includes neither v1model nor bmv2's PSA or PNA."""
    if program.suffix != ".p4" or "p4-14" in compiler_arguments:
        return False
    return compiler_of(program) is None


def artifact(program: Path, compiler_arguments: Sequence[str]) -> str:
    """The bmv2 JSON of a program; a source is compiled.

    Raises:
        CompileError: p4c is not there, or refuses the program.
        OSError: the file can't be read.
        UnicodeDecodeError: it is not UTF-8.
    """
    if program.suffix != ".p4":
        return program.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch, "program.json")
        compile_program(program, made, arguments=compiler_arguments)
        return made.read_text(encoding="utf-8")
