"""Write down what became of p4c's own test programs: ``python -m phb_switch.stf.record TESTDATA PROGRAMS DOCUMENT``.

TESTDATA is the folder of that name in p4c's source tree, PROGRAMS the folder of our own programs. Exit codes: 0 every
exception has a reason; 1 some has none; 2 no p4c.
"""

import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from phb_switch._native import LoadError, PortConfig, Switch
from phb_switch.p4c import CompileError, ProgramDirectory, compile_program, compiler_version
from phb_switch.stf.command import run_pair
from phb_switch.stf.pairs import Pair, other_architecture
from phb_switch.stf.report import Status, why

# Why a program of p4c's doesn't do what its file says, or isn't loaded.
REASONS = {
    "extern-funcs-bmv2": "Calls an extern function that the test brings along as a C++ module for bmv2 (compiled with "
    "`--emit-externs`). An artifact with externs that v1model doesn't have is refused.",
    "extract_for_header_union": "p4c's artifact names the header type of a header union that isn't among its header "
    "types; bmv2 refuses it as well.",
    "proliferation1": "A stress test of the compiler: an artifact of 30 MB with one action of 24,574 nested "
    "operations, for which the switch would need more instructions than it lets a program have.",
    "counter3": "Expects bytes with the Ethernet frame check sequence, which neither bmv2 nor we see; p4c's runner for "
    "bmv2 ignores `check_counter`.",
}
_NO_REASON = "**not explained**"
_ARGUMENTS = {"extern-funcs-bmv2": ["--emit-externs"]}
_PASSED = "passed"


@dataclass
class _Set:
    """One set of programs, and what became of each."""

    title: str
    exceptions: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


def _compiled(program: Path, language: Sequence[str], scratch: Path) -> Path | None:
    artifact = scratch / f"{program.parent.name}-{program.stem}.json"
    if not artifact.exists():
        try:
            compile_program(program, artifact, arguments=[*language, *_ARGUMENTS.get(program.stem, [])])
        except CompileError:
            return None
    return artifact


def _packets(stf: Path, language: Sequence[str], scratch: Path) -> tuple[str, str]:
    program = stf.with_suffix(".p4")
    if not program.exists() or other_architecture(program, language):
        return "not for v1model", ""
    artifact = _compiled(program, language, scratch)
    if artifact is None:
        return "not compiled by p4c", ""
    result = run_pair(Pair(artifact, stf))
    return (_PASSED, "") if result.status is Status.PASSED else ("exceptions", why(result))


def _load(program: Path, language: Sequence[str], scratch: Path) -> tuple[str, str]:
    if other_architecture(program, language):
        return "not for v1model", ""
    artifact = _compiled(program, language, scratch)
    if artifact is None:
        return "not compiled by p4c", ""
    try:
        Switch("record", {0: PortConfig()}).load(artifact.read_text(encoding="utf-8"))
    except LoadError as error:
        return "exceptions", str(error)
    return _PASSED, ""


_Check = Callable[[Path, Sequence[str], Path], tuple[str, str]]


def _run(title: str, files: Sequence[Path], check: _Check, language: Sequence[str], scratch: Path) -> _Set:
    made = _Set(title)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = pool.map(lambda path: check(path, language, scratch), files)
        for path, (outcome, message) in zip(files, outcomes, strict=True):
            made.counts[outcome] += 1
            if outcome == "exceptions":
                made.exceptions[path.stem] = message
    print(f"{title}: {dict(made.counts)}", file=sys.stderr)
    return made


def _sets(testdata: Path) -> list[_Set]:
    sixteen, fourteen = testdata / "p4_16_samples", testdata / "p4_14_samples"
    new, old = ["--std", "p4-16"], ["--std", "p4-14"]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        return [
            _run("packets, P4_16 (`*-bmv2.stf`)", sorted(sixteen.glob("*-bmv2.stf")), _packets, new, scratch),
            _run("packets, P4_14 (`*.stf`)", sorted(fourteen.glob("*.stf")), _packets, old, scratch),
            _run("loading, P4_16 (`*.p4`)", sorted(sixteen.glob("*.p4")), _load, new, scratch),
            _run("loading, P4_14 (`*.p4`)", sorted(fourteen.glob("*.p4")), _load, old, scratch),
        ]


def own_programs(directory: ProgramDirectory) -> str:
    """The table of our own programs: name, and what the comment at its head says it shows."""
    lines = ["| program | what it shows |", "|---|---|"]
    for program in directory.programs():
        comment = []
        for line in (directory.path / f"{program}.p4").read_text(encoding="utf-8").splitlines():
            if not line.startswith("//"):
                break
            comment.append(line.removeprefix("//").strip())
        lines.append(f"| `{program}` | {re.sub('([|<>])', _escaped, ' '.join(comment))} |")
    return "\n".join(lines)


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match[1]}"


def document(version: str, sets: Sequence[_Set], directory: ProgramDirectory) -> str:
    """The whole document."""
    counts = [
        "| set | for v1model | passed | exceptions | not for v1model | not compiled by p4c |",
        "|---|---|---|---|---|---|",
    ]
    exceptions = ["| program | what happens | why |", "|---|---|---|"]
    for each in sets:
        passed, failed = each.counts[_PASSED], each.counts["exceptions"]
        others = f"{each.counts['not for v1model']} | {each.counts['not compiled by p4c']}"
        counts.append(f"| {each.title} | {passed + failed} | {passed} | {failed} | {others} |")
        for name, message in each.exceptions.items():
            if not any(f"| `{name}` |" in line for line in exceptions):
                exceptions.append(
                    f"| `{name}` | {message.replace('|', chr(92) + '|')} | {REASONS.get(name, _NO_REASON)} |"
                )
    return _DOCUMENT.format(
        version=version, counts="\n".join(counts), exceptions="\n".join(exceptions), own=own_programs(directory)
    )


_DOCUMENT = """# Test programs

How `phb-switch stf` is used: [switch.md](switch.md#programs-and-stf). This page is written by

```
make stf-record P4C=PATH
```

where PATH is p4c's source tree.

## p4c's own programs

p4c {version} and the programs of its source tree (`testdata/p4_16_samples`, `testdata/p4_14_samples`), which are not
part of this repository. *Packets*: the program runs with the entries and packets of its STF file, and exactly the
expected packets leave. *Loading*: the switch accepts the artifact.

{counts}

Each exception and its reason:

{exceptions}

## Our own programs

In `switch/programs`, each with its packets; artifacts are committed, so that they run without p4c. Where
`simple_switch_grpc` is installed, the tests send the same packets through bmv2 and expect the same
(`switch/python/tests/stf/test_programs.py` names each line where bmv2 differs, and why).

{own}
"""


def main(arguments: Sequence[str]) -> int:
    """Runs everything and writes the document."""
    testdata, programs, target = (Path(each) for each in arguments)
    version = compiler_version()
    if version is None or not (testdata / "p4_16_samples").is_dir():
        print("p4c-bm2-ss has to be on the PATH, and TESTDATA p4c's folder testdata", file=sys.stderr)
        return 2
    sets = _sets(testdata)
    target.write_text(document(version, sets, ProgramDirectory(programs)), encoding="utf-8")
    unexplained = [name for each in sets for name in each.exceptions if name not in REASONS]
    if unexplained:
        print(f"without a reason: {', '.join(unexplained)}", file=sys.stderr)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
