"""Machine instructions of a packet in the pipeline, and where they go, by valgrind's callgrind.

The example `throughput` of phb-pipeline runs some packets, and once more with more of them: the difference is the
packets' alone, without loading, compiling and writing entries. Valgrind counts the same whatever else the machine does.

A part is told by the source file that an instruction comes from; what was inlined from the standard library belongs to
the code it was inlined into. Native code has no symbols: it belongs to the part that the function calling it has.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.programs import build_example

FEWER, MORE = 2_000, 10_000
PROGRAMS = ("qos", "router")
CRATES = "switch/crates/"

# The first pattern found in "file function" counts; what no pattern is found in is glue: metadata, verdicts, calls.
PARTS = (
    ("classifier", r"tables/classifier"),
    ("tables", r"state/tables|\blook_up\b|FlatMap"),
    ("externs", r"externs|calculate|hash|checksum|effects"),
    ("deparser", r"deparse|write_header|Writer"),
    ("parser", r"pars|chosen_case"),
    ("clearing", r"memset|Pipeline::fresh|Packet::reset|Native::clear"),
    ("program", r"interpreter/|machine/"),
    ("copying", r"memcpy|memmove"),
)
ANONYMOUS = re.compile(r"0x[0-9a-f]{16}")


def part(place: str, function: str, callers: Iterable[str] = ()) -> str:
    """Return the part that a function in a file belongs to; `callers` tell it where the function has no name."""
    otherwise = "glue"
    if ANONYMOUS.match(function):
        # The controls are called by the packet's path itself.
        place, function, otherwise = "", " ".join(callers), "program"
    return next((name for name, pattern in PARTS if re.search(pattern, f"{place} {function}")), otherwise)


def parts(lines: Iterable[str]) -> Counter[str]:
    """Return instructions by part, of the lines of a file that callgrind wrote."""
    names: dict[tuple[str, str], str] = {}

    def named(space: str, text: str) -> str:
        number, _, name = text.partition(" ")
        return names.setdefault((space, number), name)

    costs: Counter[tuple[str, str]] = Counter()
    callers: dict[str, set[str]] = {}
    file = place = function = called = ""
    calling = False
    for line in lines:
        key, equals, value = line.rstrip("\n").partition("=")
        if key in ("fl", "fi", "fe") and equals:
            source = named("file", value)
            if key == "fl":
                file = source
            # Code inlined from elsewhere stays with the last place of this tree.
            if CRATES in source or key == "fl":
                place = source.partition(CRATES)[2]
        elif key == "fn" and equals:
            function, place = named("function", value), file.partition(CRATES)[2]
        elif key in ("cfi", "cfl") and equals:
            named("file", value)
        elif key == "cfn" and equals:
            called = named("function", value)
        elif key == "calls" and equals:
            calling = True
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            if calling:
                callers.setdefault(called, set()).add(function)
                calling = False
            else:
                costs[place, function] += int(line.split()[1])
    sums: Counter[str] = Counter()
    for (where, name), cost in costs.items():
        sums[part(where, name, callers.get(name, ()))] += cost
    return sums


def per_packet(command: list[str]) -> dict[str, float]:
    """Return instructions per packet by part, of a program that takes the number of packets as its last argument."""
    with tempfile.TemporaryDirectory(prefix="phb-bench-") as folder:
        counts = []
        for packets in (FEWER, MORE):
            path = Path(folder) / str(packets)
            # Native code lies in memory that was written before.
            valgrind = ["valgrind", "--tool=callgrind", "--smc-check=all-non-file", f"--callgrind-out-file={path}"]
            subprocess.run([*valgrind, *command, str(packets)], check=True, capture_output=True)
            with path.open() as lines:
                counts.append(parts(lines))
    fewer, more = counts
    return {part: (more[part] - fewer[part]) / (MORE - FEWER) for part in more if more[part] != fewer[part]}


def figures(name: str, command: list[str]) -> list[Figure]:
    """Measure `NAME`, all instructions of a packet, and `NAME.PART`, largest first."""
    counts = per_packet(command)
    found = [Figure(name, sum(counts.values()), "1/packet")]
    by_size = sorted(counts.items(), key=lambda item: -item[1])
    return found + [Figure(f"{name}.{part}", count, "1/packet") for part, count in by_size]


def measure() -> list[Figure]:
    """Count for both programs and both executors; nothing where valgrind is missing."""
    if shutil.which("valgrind") is None:
        print("instructions: left out: needs the command valgrind", file=sys.stderr)
        return []
    throughput = build_example("phb-pipeline", "throughput")
    found = []
    for program in PROGRAMS:
        found += figures(f"instructions.{program}", [throughput, "--native", program])
        found += figures(f"instructions.{program}.interpreter", [throughput, "--interpreter", program])
    return found
