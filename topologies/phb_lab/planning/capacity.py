"""Capacities of one CIP: published, measured by a run of ours, or given."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from yaml import CSafeLoader, load

from phb_lab.errors import UsageError

# Kinds of capacities: the unit shown, and how many stored units it is.
KINDS = {
    "bytes_per_s": ("MB/s", 1_000_000),
    "transactions_per_s": ("transactions/s", 1),
    "lus": ("sessions", 1),
    "pus": ("physical units", 1),
}

# Capacities in a results file of `phb-lab run cip`: (mode, kind, sessions) -> quantity, and its unit in ours.
_MEASURED = {
    ("ip-datagram", "bytes_per_s", None): ("ip_datagram.tcp_stream_two_channels_MBps", 1_000_000),
    ("csna", "transactions_per_s", None): ("csna.transactions_per_s", 1),
    ("tn3270", "transactions_per_s", 1_000): ("tn3270_server.lus_1000_tps", 1),
    ("tn3270", "transactions_per_s", 16_000): ("tn3270_server.lus_16000_tps", 1),
}


@dataclass(frozen=True)
class Capacity:
    """One figure of one CIP, in byte/s, transactions/s or a count; ``at`` so many sessions, where that matters."""

    value: Fraction
    at: int | None
    origin: str


Capacities = Mapping[str, Sequence[Capacity]]


def modes() -> tuple[str, ...]:
    """Give the modes of a CIP."""
    return tuple(_published())


def of_mode(mode: str, results: Path | None = None, given: Mapping[str, Fraction] | None = None) -> Capacities:
    """Capacities of one CIP in a mode, by kind.

    Figures of ``results``, a file of ``phb-lab run cip``, take the place of the published ones; ``given`` that of
    either.

    Raises:
        UsageError: the mode or the file is none of these.
    """
    if mode not in modes():
        raise UsageError(f"mode {mode}: expected one of: {', '.join(modes())}")
    measured = _read(results) if results is not None else {}
    found: dict[str, tuple[Capacity, ...]] = {}
    for kind, entries in _published()[mode].items():
        capacities = []
        for entry in entries:
            capacity = Capacity(Fraction(entry["value"]), entry.get("at"), f"published: {entry['place']}")
            quantity, scale = _MEASURED.get((mode, kind, capacity.at), ("", 1))
            if quantity in measured:
                capacity = Capacity(measured[quantity] * scale, capacity.at, f"simulated: {quantity} in {results}")
            capacities.append(capacity)
        found[kind] = tuple(capacities)
    for kind, value in (given or {}).items():
        found[kind] = (Capacity(value, None, "given"),)
    return found


@cache
def _published() -> dict[str, dict[str, list[dict[str, Any]]]]:
    found: dict[str, dict[str, list[dict[str, Any]]]] = load(
        (Path(__file__).parent / "capacities.yaml").read_text(), CSafeLoader
    )
    return found


def _read(path: Path) -> dict[str, Fraction]:
    try:
        document: Any = json.loads(path.read_text())
        if document["network"] != "cip":
            raise UsageError(f"--results {path}: found network {document['network']}, expected cip")
        return {
            f"{entry['test']}.{entry['quantity']}": Fraction(str(entry["measured"])) for entry in document["figures"]
        }
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"--results {path}: expected what `phb-lab run cip --json` writes") from None
