"""What a wheel consists of: bills of materials (CycloneDX, PEP 770) and the licences of the Rust in it, put into it.

The bill of Python's side is that of an environment with the wheel, in the versions that this tree is tested with.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from release.locks import pins
from release.wheels import Architecture, DistributionError, run

# The crates that a wheel is linked from, by the folder each lies in.
CRATES = {"command": "phb-switch", "python": "phb-python"}
LICENCES = "RUST-LICENSES.txt"
LICENCE_FILES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")


def rust_bills(tree: Path, architecture: Architecture) -> list[Path]:
    """Return the bill of materials of module and of program, written beside their manifests."""
    name = f"cdx-{architecture.machine}"
    run(
        [
            *(
                "cargo",
                "cyclonedx",
                "--manifest-path",
                tree / "Cargo.toml",
                "--format",
                "json",
                "--spec-version",
                "1.5",
            ),
            *("--target", architecture.triple, "--override-filename", name),
        ]
    )
    bills = []
    for folder, crate in CRATES.items():
        written = tree / "switch" / "crates" / folder / f"{name}.json"
        bills.append(written.rename(written.with_name(f"{crate}.cdx.json")))
    return bills


def licences(tree: Path, bills: list[Path]) -> Path:
    """Return a file with the licences of the crates in bills of materials: their own texts, each once.

    Raises:
        DistributionError: A crate says neither a licence nor has a text.
    """
    manifest: list[str | Path] = ["--manifest-path", tree / "Cargo.toml"]
    found = run(["cargo", "metadata", "--format-version", "1", "--locked", *manifest])
    packages = {(each["name"], each["version"]): each for each in json.loads(found)["packages"]}
    named = {(each["name"], each["version"]) for bill in bills for each in json.loads(bill.read_text())["components"]}
    under: dict[str, list[str]] = {}
    for crate in sorted(named):
        package = packages[crate]
        if package["source"] is None:
            # Ours.
            continue
        texts = sorted(
            path.read_text(errors="replace").strip()
            for path in Path(package["manifest_path"]).parent.iterdir()
            if path.is_file() and path.name.upper().startswith(LICENCE_FILES)
        )
        if not texts and not package["license"]:
            raise DistributionError(f"{' '.join(crate)}: found neither a licence nor its text")
        who = f"{' '.join(crate)}: {package['license'] or 'see below'}"
        for text in texts or ["(the crate has no text of its own)"]:
            under.setdefault(text, []).append(who)
    parts = ["The Rust crates that this wheel is linked from, by the text of their licences."]
    parts += ["\n".join(crates) + "\n\n" + text for text, crates in under.items()]
    written = tree / LICENCES
    written.write_text(f"\n\n{'=' * 80}\n\n".join(parts) + "\n")
    return written


def put_into(wheel: Path, bills: list[Path], texts: Path, work: Path) -> None:
    """Put bills of materials and licences into a wheel, in the places of PEP 770 and PEP 639."""
    shutil.rmtree(work, ignore_errors=True)
    run([sys.executable, "-m", "wheel", "unpack", "--dest", work, wheel])
    information = next(work.glob("*/*.dist-info"))
    for folder, files in (("sboms", bills), ("licenses", [texts])):
        (information / folder).mkdir(exist_ok=True)
        for each in files:
            shutil.copy(each, information / folder)
    run([sys.executable, "-m", "wheel", "pack", "--dest-dir", wheel.parent, information.parent])


def python_bill(wheel: Path, locked: Path, work: Path, out: Path) -> Path:
    """Install a wheel into an environment of its own, and write and return that one's bill of materials."""
    run([sys.executable, "-m", "venv", "--clear", work])
    constraints = work / "constraints.txt"
    constraints.write_text("\n".join(pins(locked.read_text())))
    run([work / "bin" / "pip", "install", "--quiet", "--constraint", constraints, wheel])
    bill = out / f"{wheel.name.split('-cp', 1)[0]}-python.cdx.json"
    run([sys.executable, "-m", "cyclonedx_py", "environment", work / "bin" / "python", "--output-file", bill])
    return bill


def wrong_bill(bill: Path) -> str:
    """Say what CycloneDX's own schema has against a bill of materials; empty if nothing."""
    text = bill.read_text()
    version = SchemaVersion.from_version(json.loads(text)["specVersion"])
    error = JsonStrictValidator(version).validate_str(text)
    return f"{bill}: {error}" if error else ""


def check(bills: list[Path]) -> None:
    """Raise an error if one of them is none.

    Raises:
        DistributionError: With the schema's word.
    """
    if wrong := [words for words in map(wrong_bill, bills) if words]:
        raise DistributionError("\n".join(wrong))
