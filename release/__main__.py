"""`make dist`: a source distribution, of it a wheel for each architecture, their bills of materials and digests."""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

from release import contents, wheels

TREE = Path(__file__).resolve().parents[1]
WORK = TREE / "build" / "dist"
# Cargo's files, of all architectures: a second run compiles what has changed.
TARGET = TREE / "target" / "dist"


def main(arguments: list[str]) -> int:
    """Write everything into a folder that is made anew; return 1 where this machine's own wheel can't be made."""
    out = Path(arguments[0]).resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    try:
        make(out)
    except wheels.DistributionError as error:
        print(f"make dist: {error}", file=sys.stderr)
        return 1
    return 0


def make(out: Path) -> None:
    """Write a release into a folder, with a line for each file, and for each wheel that isn't made."""
    distribution = wheels.source(TREE, out)
    tree = wheels.unpack(distribution, WORK / "source")
    for architecture in wheels.ARCHITECTURES:
        if why := wheels.missing(architecture):
            if architecture.is_host:
                raise wheels.DistributionError(f"no wheel for {architecture.machine}: {why}")
            print(f"no wheel for {architecture.machine}: {why}")
            continue
        made = wheels.wheel(tree, architecture, out, TARGET)
        bills = contents.rust_bills(tree, architecture)
        contents.check(bills)
        contents.put_into(made, bills, contents.licences(tree, bills), WORK / "wheel")
        if architecture.is_host:
            contents.check([contents.python_bill(made, TREE / "requirements/setup.lock", WORK / "environment", out)])
    written = sorted(out.iterdir())
    digests = [f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}" for each in written]
    (out / "SHA256SUMS").write_text("\n".join(digests) + "\n")
    print("\n".join(f"{each} ({each.stat().st_size / 1e6:.1f} MB)" for each in written))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
