"""The page of what others' code does with phb-switch in bmv2's place: a table that the tests' runs write."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from .apart import bmv2_version

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "recorded" / "peers.md"
RULE = "|---|---|---|---|---|\n"


def wanted() -> bool:
    """Whether this run is to be written down: PHB_RECORD is set."""
    return bool(os.environ.get("PHB_RECORD"))


def commit(checkout: str | Path) -> str:
    """The commit of a checkout, and its day."""
    command = ["git", "-C", str(checkout), "log", "-1", "--format=%h of %cs"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _in_words(result: dict[str, object]) -> str:
    return f"{'passes' if result['passed'] else 'fails'}: {result['seen']}"


def record(peer: str, what: str, ours: dict[str, object], theirs: dict[str, object] | None, version: str) -> None:
    """Put a row into the table.

    Args:
        peer: the repository.
        what: the exercise or example.
        ours: what it showed on phb-switch: `passed`, and `seen` in words.
        theirs: the same on bmv2, or nothing.
        version: the version of the peer's code.
    """
    before, rows = PAGE.read_text().split(RULE)
    table = {tuple(row.split("|")[1:3]): row for row in rows.splitlines() if row}
    bmv2 = f"{_in_words(theirs)} ({bmv2_version()})" if theirs else "not run"
    cells = [cell.replace("|", "\\|") for cell in (peer, f"`{what}`", _in_words(ours), bmv2, version)]
    row = f"| {' | '.join(cells)} |"
    table[tuple(row.split("|")[1:3])] = row
    PAGE.write_text(f"{before}{RULE}" + "".join(f"{table[each]}\n" for each in sorted(table)))
