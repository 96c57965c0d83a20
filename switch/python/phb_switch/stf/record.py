"""Record results of p4c's test programs: ``python -m phb_switch.stf.record TESTDATA PROGRAMS DOCUMENT``.

TESTDATA is p4c's `testdata`, PROGRAMS the folder of our own programs. They run over P4Runtime on phb-switch and, where
installed, bmv2. Exit codes: 0 every exception has a reason; 1 one has none; 2 no p4c.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from finsy.proto import p4i
from google.protobuf import text_format

from phb_switch.p4c import (
    COMPILER,
    PSA_COMPILER,
    CompileError,
    ProgramDirectory,
    compile_program,
    compiler_of,
    compiler_version,
)
from phb_switch.stf import bmv2, p4runtime
from phb_switch.stf.client import RefusedError
from phb_switch.stf.parser import parse
from phb_switch.stf.runner import RunResult
from phb_switch.stf.statements import StfError

_EXTERNS = (
    "Has an extern that the test brings along as a C++ module for bmv2 (compiled with `--emit-externs`). An artifact "
    "with externs that v1model doesn't have is refused; bmv2 takes it, but without the module it doesn't run it."
)
_ONE_HEADER = (
    "The program has one header instead of a struct of headers: p4c's artifact extracts it without declaring it, and "
    "keeps its fields with the metadata. bmv2's psa_switch refuses it, too."
)
_VARIABLE = "p4c's artifact copies a header into a variable that it doesn't declare. bmv2's psa_switch refuses it, too."
# Reasons for programs of p4c that fail or aren't loaded.
REASONS = {
    "extern-funcs-bmv2": _EXTERNS,
    "issue1882-bmv2": _EXTERNS,
    "issue1882-1-bmv2": _EXTERNS,
    "extract_for_header_union": "p4c's artifact names the header type of a header union that isn't among its header "
    "types; bmv2 takes it, but doesn't run it either.",
    "proliferation1": "A stress test of the compiler: an artifact of 30 MB with one action of 24,574 nested "
    "operations, for which the switch would need more instructions than it lets a program have.",
    "counter3": "Expects bytes with the Ethernet frame check sequence, which neither bmv2 nor we see; p4c's runner for "
    "bmv2 ignores `check_counter`.",
    **dict.fromkeys(("psa-example-logical-operations", "psa-example-switch-with-constant-expr"), _ONE_HEADER),
    **dict.fromkeys(("psa-hash-08", "psa-hash-09", "psa-hash-10"), _VARIABLE),
    "psa-meter1": "Assigns a colour to a parameter of the action, where nothing reads it: only fields can be assigned "
    "to. bmv2's psa_switch loads it.",
}
_NO_REASON = "**not explained**"
_ARGUMENTS = {name: ["--emit-externs"] for name, reason in REASONS.items() if reason is _EXTERNS}
_COMPILED, _OTHER, _NOT_COMPILED = "for its architecture", "for another", "not compiled by p4c"
# bmv2 waits most of the time.
_AT_ONCE = 4
_PASSED = ""


@dataclass(frozen=True)
class _Done:
    """`ours` and `theirs`: failures on phb-switch and on bmv2."""

    outcome: str
    ours: str = _PASSED
    theirs: str = _PASSED


@dataclass(frozen=True)
class _Kind:
    """Programs for one compiler; bmv2's switch for PSA has no P4Runtime."""

    compiler: str
    language: Sequence[str]

    def has(self, program: Path) -> bool:
        """Whether a source is one of them."""
        return "p4-14" in self.language or compiler_of(program) == self.compiler

    def on_bmv2(self) -> bool:
        """Whether they run on the bmv2 that is installed, if any."""
        return self.compiler == COMPILER and _has_bmv2()


@dataclass
class _Set:
    title: str
    on_bmv2: bool = True
    exceptions: dict[str, str] = field(default_factory=dict)
    of_bmv2: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


_Compiled = tuple[str, p4i.P4Info]


def _compiled(program: Path, language: Sequence[str], scratch: Path) -> _Compiled | None:
    artifact = scratch / f"{program.parent.name}-{program.stem}.json"
    info = artifact.with_suffix(".p4info.txtpb")
    if not info.exists():
        try:
            compile_program(program, artifact, info, [*language, *_ARGUMENTS.get(program.stem, [])])
        except CompileError:
            return None
    return artifact.read_text(encoding="utf-8"), text_format.Parse(info.read_text(encoding="utf-8"), p4i.P4Info())


def _tried(run: Callable[[], RunResult | None]) -> str:
    """Run; gives the failure in one line."""
    try:
        outcome = run()
    except (RefusedError, StfError) as error:
        return str(error).partition("\n")[0]
    if outcome is None or not outcome.failures:
        return _PASSED
    more = f" (and {len(outcome.failures) - 1} more)" if len(outcome.failures) > 1 else ""
    return f"line {outcome.failures[0].line}: {outcome.failures[0].message}{more}"


def _packets(stf: Path, kind: _Kind, scratch: Path) -> _Done:
    program = stf.with_suffix(".p4")
    if not program.exists() or not kind.has(program):
        return _Done(_OTHER)
    made = _compiled(program, kind.language, scratch)
    if made is None:
        return _Done(_NOT_COMPILED)
    return _Done(
        _COMPILED,
        _tried(lambda: p4runtime.run(*made, parse(stf))),
        _tried(lambda: bmv2.run(*made, parse(stf))) if kind.on_bmv2() else _PASSED,
    )


def _load(program: Path, kind: _Kind, scratch: Path) -> _Done:
    if not kind.has(program):
        return _Done(_OTHER)
    made = _compiled(program, kind.language, scratch)
    if made is None:
        return _Done(_NOT_COMPILED)
    return _Done(
        _COMPILED,
        _tried(lambda: p4runtime.load(*made)),
        _tried(lambda: bmv2.load(*made)) if kind.on_bmv2() else _PASSED,
    )


def _has_bmv2() -> bool:
    return shutil.which(bmv2.COMMAND) is not None


def _bmv2_version() -> str | None:
    if not _has_bmv2():
        return None
    done = subprocess.run([bmv2.COMMAND, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.strip().partition("-")[0] or "unknown"


_Check = Callable[[Path, _Kind, Path], _Done]


def _run(title: str, files: Sequence[Path], check: _Check, kind: _Kind, scratch: Path) -> _Set:
    made = _Set(title, kind.on_bmv2())
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        done = pool.map(lambda path: check(path, kind, scratch), files)
        for path, each in zip(files, done, strict=True):
            made.counts[each.outcome] += 1
            if each.ours != _PASSED:
                made.exceptions[path.stem] = each.ours
            if each.theirs != _PASSED:
                made.of_bmv2[path.stem] = each.theirs
    print(f"{title}: {dict(made.counts)}", file=sys.stderr)
    return made


def _sets(testdata: Path) -> list[_Set]:
    sixteen, fourteen = testdata / "p4_16_samples", testdata / "p4_14_samples"
    new, old = _Kind(COMPILER, ["--std", "p4-16"]), _Kind(COMPILER, ["--std", "p4-14"])
    psa = _Kind(PSA_COMPILER, ["--std", "p4-16"])
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        sets = [
            _run("packets, P4_16 (`*-bmv2.stf`)", sorted(sixteen.glob("*-bmv2.stf")), _packets, new, scratch),
            _run("loading, P4_16 (`*.p4`)", sorted(sixteen.glob("*.p4")), _load, new, scratch),
            _run("packets, PSA (`psa-*-bmv2.stf`)", sorted(sixteen.glob("psa-*-bmv2.stf")), _packets, psa, scratch),
            _run("loading, PSA (`psa-*.p4`)", sorted(sixteen.glob("psa-*.p4")), _load, psa, scratch),
            _run("packets, P4_14 (`*.stf`)", sorted(fourteen.glob("*.stf")), _packets, old, scratch),
            _run("loading, P4_14 (`*.p4`)", sorted(fourteen.glob("*.p4")), _load, old, scratch),
        ]
    # p4c is built without P4_14 by default, and may lack a compiler.
    return [each for each in sets if each.counts[_COMPILED]]


def own_programs(directory: ProgramDirectory) -> str:
    """The table of our own programs, those for PSA and PNA below it included: name, and the comment at its head."""
    lines = ["| program | what it shows |", "|---|---|"]
    sources = [each.path / f"{name}.p4" for each in (directory, *_below(directory)) for name in each.programs()]
    for source in sources:
        comment = []
        for line in source.read_text(encoding="utf-8").splitlines():
            if not line.startswith("//"):
                break
            comment.append(line.removeprefix("//").strip())
        lines.append(f"| `{source.stem}` | {re.sub('([|<>])', _escaped, ' '.join(comment))} |")
    return "\n".join(lines)


def _below(directory: ProgramDirectory) -> list[ProgramDirectory]:
    return [ProgramDirectory(directory.path / each) for each in ("psa", "pna")]


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match[1]}"


def document(versions: tuple[str, str | None], sets: Sequence[_Set], directory: ProgramDirectory) -> str:
    """The document; `versions` are p4c's and, if installed, bmv2's."""
    p4c, theirs = versions
    counts = [
        "| set | for its architecture | phb-switch | bmv2 | for another | not compiled by p4c |",
        "|---|---|---|---|---|---|",
    ]
    exceptions = ["| program | what happens | why |", "|---|---|---|"]
    of_bmv2 = ["| program | what happens |", "|---|---|"]
    for each in sets:
        meant = each.counts[_COMPILED]
        on_bmv2 = "-" if theirs is None or not each.on_bmv2 else str(meant - len(each.of_bmv2))
        others = f"{each.counts[_OTHER]} | {each.counts[_NOT_COMPILED]}"
        counts.append(f"| {each.title} | {meant} | {meant - len(each.exceptions)} | {on_bmv2} | {others} |")
        for name, message in each.exceptions.items():
            if not any(f"| `{name}` |" in line for line in exceptions):
                exceptions.append(f"| `{name}` | {_cell(message)} | {REASONS.get(name, _NO_REASON)} |")
        of_bmv2 += [
            f"| `{name}` | {_cell(message)} |"
            for name, message in each.of_bmv2.items()
            if not any(f"| `{name}` |" in line for line in of_bmv2)
        ]
    fourteen = "" if any("P4_14" in each.title for each in sets) else _WITHOUT_14
    return _DOCUMENT.format(
        p4c=p4c,
        bmv2=theirs or "not installed",
        fourteen=fourteen,
        counts="\n".join(counts),
        exceptions="\n".join(exceptions),
        of_bmv2="\n".join(of_bmv2),
        own=own_programs(directory),
    )


def _cell(message: str) -> str:
    return re.sub("([|<>])", _escaped, message)


_WITHOUT_14 = "\nThis p4c was built without P4_14, as it is unless told otherwise: its programs were not run.\n"

_DOCUMENT = """# Test programs

How `phb-switch stf` is used: [switch.md](../../inside/switch.md#programs-and-stf). This page is written by

```
make stf-record P4C=PATH
```

where PATH is p4c's source tree.

## p4c's own programs

p4c {p4c} and the programs of its source tree (`testdata/p4_16_samples`, `testdata/p4_14_samples`), which are not
part of this repository, over P4Runtime (gRPC, `SetForwardingPipelineConfig` with p4info and artifact): on phb-switch,
and to compare on bmv2 {bmv2}. *Packets*: the program runs with the entries and packets of its STF file, and exactly
the expected packets leave. *Loading*: the switch takes p4info and artifact. bmv2's switch for PSA has no P4Runtime.
{fourteen}
{counts}

Each exception and its reason:

{exceptions}

What bmv2 does otherwise. It answers that all is well to some programs that it then says it can't run; these count as
not loaded. Files that count on bmv2's own command line, on what it never had, or on time, fail here too.

{of_bmv2}

## Our own programs

In `switch/programs` (those for PSA and PNA in folders of their own), each with its packets; artifacts are committed, so
that they run without p4c. Where `simple_switch_grpc` is installed, the tests send the packets of those for v1model
through bmv2, too, and expect the same (`switch/python/tests/stf/test_programs.py` names each line where bmv2 differs,
and why).

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
    target.write_text(document((version, _bmv2_version()), sets, ProgramDirectory(programs)), encoding="utf-8")
    unexplained = [name for each in sets for name in each.exceptions if name not in REASONS]
    if unexplained:
        print(f"without a reason: {', '.join(unexplained)}", file=sys.stderr)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
