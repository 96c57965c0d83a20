"""Run p4c on programs: ``python -m phb_switch.p4c DIRECTORY ...`` compiles every program of directories.

p4c-bm2-ss compiles those for v1model, p4c-bm2-psa those that include PSA's ``bmv2/psa.p4``, p4c-bm2-pna those that
include PNA's ``bmv2/pna.p4``. A manifest with the SHA-256
of sources and artifacts shows that they match, even without p4c.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

COMPILER = "p4c-bm2-ss"
PSA_COMPILER = "p4c-bm2-psa"
PNA_COMPILER = "p4c-bm2-pna"
# Else the p4info has no externs.
_ARCHITECTURES = {PSA_COMPILER: "psa", PNA_COMPILER: "pna"}

# The parts of an artifact whose positions in the sources are worth their bytes.
_WITH_STATEMENTS = ("parsers", "actions", "pipelines", "deparsers")

_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)

# Older compilers write no other suffix than .txt.
_P4INFO_BY_COMPILER = "p4info.txt"


class CompileError(Exception):
    """P4c is missing, or refused the program for the reason in the message."""


def compiler_of(source: Path) -> str | None:
    """The compiler for the architecture that a P4_16 source includes, itself or by files beside it; None if neither."""
    waiting = [source]
    seen = {source.resolve()}
    while waiting:
        including = waiting.pop()
        for name in _INCLUDE.findall(including.read_text(encoding="utf-8", errors="replace")):
            if name.endswith("v1model.p4"):
                return COMPILER
            if name in ("psa.p4", "bmv2/psa.p4"):
                return PSA_COMPILER
            if name == "bmv2/pna.p4":
                return PNA_COMPILER
            included = (including.parent / name).resolve()
            if included.is_file() and included not in seen:
                seen.add(included)
                waiting.append(included)
    return None


def compiler_version(compiler: str = COMPILER) -> str | None:
    """Version of the installed p4c, if any."""
    if shutil.which(compiler) is None:
        return None
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"Version (\S+)", done.stdout + done.stderr)
    return found.group(1) if found else "unknown"


def include_directory() -> Path | None:
    """Directory of ``core.p4`` and ``v1model.p4``: ``P4C_INCLUDE``, or below the compiler's prefix."""
    compiler = shutil.which(COMPILER)
    candidates = [Path(os.environ["P4C_INCLUDE"])] if "P4C_INCLUDE" in os.environ else []
    if compiler is not None:
        candidates.append(Path(compiler).resolve().parent.parent / "share" / "p4c" / "p4include")
    return next((path for path in candidates if (path / "v1model.p4").exists()), None)


def compile_program(
    source: Path,
    artifact: Path,
    p4info: Path | None = None,
    arguments: Sequence[str] = (),
    *,
    positions: bool = False,
) -> str:
    """Compile a P4 program to bmv2 JSON (:func:`compact`) and P4Info (protobuf text); returns p4c's version.

    Includes are found beside `source` and where p4c keeps its own. `arguments` are p4c's; `--std` replaces P4_16.
    With `positions` the artifact says where in the sources its statements are, so that traces can.

    Raises:
        CompileError: p4c is not on the PATH, or refuses the program.
    """
    compiler = COMPILER if "p4-14" in arguments else compiler_of(source) or COMPILER
    if shutil.which(compiler) is None:
        raise CompileError(f"{source}: {compiler} is not on the PATH")
    include = include_directory()
    with tempfile.TemporaryDirectory() as scratch:
        # The artifact records file names: beside the sources they have no paths.
        command = [compiler, source.name, "-o", f"{scratch}/artifact.json", *arguments]
        if "--std" not in arguments:
            command += ["--std", "p4-16"]
        if compiler in _ARCHITECTURES:
            command += ["--arch", _ARCHITECTURES[compiler]]
        if p4info is not None:
            command += ["--p4runtime-files", f"{scratch}/{_P4INFO_BY_COMPILER}"]
        if include is not None:
            command += ["-I", str(include)]
        done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not Path(scratch, "artifact.json").exists():
            raise CompileError(f"{compiler} refused {source}:\n{done.stderr.strip() or 'it wrote no JSON'}")
        artifact.write_text(compact(Path(scratch, "artifact.json").read_text(), positions=positions))
        if p4info is not None:
            shutil.move(f"{scratch}/{_P4INFO_BY_COMPILER}", p4info)
    # The others have no version of their own: they say 0.0.1 in every p4c.
    return compiler_version() or compiler_version(compiler) or "unknown"


def compact(artifact: str, *, positions: bool = False) -> str:
    """Removes blanks and source positions from an artifact, two thirds of its bytes.

    With `positions` those of statements, tables and conditions stay.
    """
    parts = json.loads(artifact)
    kept = _WITH_STATEMENTS if positions else ()
    thin = {name: value if name in kept else _without_positions(value) for name, value in parts.items()}
    return json.dumps(thin, separators=(",", ":")) + "\n"


def _without_positions(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _without_positions(value) for name, value in part.items() if name != "source_info"}
    return [_without_positions(value) for value in part] if isinstance(part, list) else part


def digests(root: Path, files: Sequence[Path]) -> dict[str, str]:
    """SHA-256 of files, by path below `root`."""
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)}


def write_manifest(manifest: Path, version: str, sha256: dict[str, str]) -> None:
    """Records p4c's version and the digests of sources and artifacts."""
    manifest.write_text(json.dumps({"p4c": version, "sha256": sha256}, indent=2) + "\n")


def read_manifest(manifest: Path) -> tuple[str, dict[str, str]]:
    """P4c's version and the digests."""
    recorded = json.loads(manifest.read_text())
    return recorded["p4c"], recorded["sha256"]


class ProgramDirectory:
    """A directory in which each file `*.p4` is a program.

    Artifacts are in `build`; without that they are beside the programs, with P4Info only where there is some already.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.build = self.path / "build"
        self._beside = not self.build.is_dir()
        if self._beside:
            self.build = self.path
        self.manifest = self.build / "manifest.json"

    def programs(self) -> list[str]:
        """Sorted names."""
        return sorted(path.stem for path in self.path.glob("*.p4"))

    def artifact(self, program: str) -> Path:
        """The bmv2 JSON of a program."""
        return self.build / f"{program}.json"

    def p4info(self, program: str) -> Path:
        """The P4Info (protobuf text) of a program."""
        return self.build / f"{program}.p4info.txtpb"

    def compile(self, program: str, destination: Path) -> str:
        """Compiles a program into `destination`; returns p4c's version."""
        artifact, p4info = destination / self.artifact(program).name, destination / self.p4info(program).name
        wanted = not self._beside or self.p4info(program).exists()
        return compile_program(self.path / f"{program}.p4", artifact, p4info if wanted else None)

    def made(self) -> list[Path]:
        """All artifacts."""
        return [
            path for suffix in ("json", "txtpb") for path in self.build.glob(f"*.{suffix}") if path != self.manifest
        ]

    def digests(self) -> dict[str, str]:
        """SHA-256 of programs, their includes and artifacts, by path below the directory."""
        return digests(self.path, [*self.path.glob("*.p4"), *self.path.glob("*.p4i"), *self.made()])


def main(arguments: Sequence[str]) -> int:
    """Compiles all programs of directories; exit code 2 if p4c is missing or refuses one."""
    for each in arguments:
        directory = ProgramDirectory(Path(each))
        version = ""
        for program in directory.programs():
            try:
                version = directory.compile(program, directory.build)
            except CompileError as error:
                print(f"{error}; the artifacts in {directory.build} stay as they are", file=sys.stderr)
                return 2
        for path in directory.made():
            if path.name.split(".")[0] not in directory.programs():
                path.unlink()
        write_manifest(directory.manifest, version, directory.digests())
        print(f"{directory.build}: {len(directory.programs())} programs compiled with p4c {version}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
