"""Writes runs as the JSON document of ``phb-lab run --json``, and reads such documents.

``data/lab-results.schema.json`` is the least that every results file holds; ``data/run-results.schema.json`` is all
that ours hold. Everything but ``wall_s`` follows from the seed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from pathlib import Path
from typing import Any

import phb_examples
from phb_lab import stamps
from phb_lab.errors import UsageError
from phb_lab.figures import Figure
from phb_lab.generated import is_generated
from phb_lab.levels import telling as levels
from phb_lab.outcome import Delivery
from phb_lab.registry import relative
from phb_lab.study import Run, Study

_EXAMPLES = Path(phb_examples.__file__).resolve().parent


@dataclass(frozen=True)
class ResultsFile:
    """The parts of a results file that a comparison needs."""

    path: Path
    network: str
    mode: str
    target: str
    seed: int
    figures: tuple[Figure, ...]


def document(study: Study[Any], runs: Sequence[Run[Any]], extra: Sequence[Run[Any]]) -> dict[str, Any]:
    """The results of tests of one study, run the same way."""
    first = runs[0]
    return results(
        network=study.name,
        mode=first.mode,
        target=first.target,
        seed=first.seed,
        wall_s=sum(run.outcome.wall_s for run in runs),
        simulated_s=float(sum(run.duration_s for run in runs)),
        figures=[figure for run in runs for figure in run.figures],
        more={
            "title": study.title,
            "source": study.source,
            "options": dict(first.options),
            "tests": [
                {
                    "name": run.test.name,
                    "duration_s": run.duration_s,
                    "policies": {
                        switch.name: [policy_name(path) for path in switch.policy_files]
                        for switch in run.network.switches
                    },
                    "remarks": list(run.remarks),
                }
                for run in runs
            ],
            "conclusions": list(study.conclusions(runs, extra)),
            "assumptions": assumptions(runs),
            "adapters": {
                adapter.name: {"kind": adapter.kind, "parameters": dict(adapter.parameters)}
                for run in runs
                for adapter in run.network.adapters
            },
            "conservation": {
                run.test.name: [{**vars(node), "dropped": dict(node.dropped)} for node in run.outcome.conservation]
                for run in runs
            },
            "datagrams": {
                run.test.name: {each.flow: _datagrams(each) for each in run.outcome.deliveries if each.sent_packets}
                for run in runs
            },
            # Only where somebody asked: a run without is the same to the byte.
            **({"stamp": told} if (told := stamps.as_json(runs)) else {}),
            **({"levels": told} if (told := levels.as_json(runs)) else {}),
            "snapshots": {run.test.name: dict(shown) for run in runs if (shown := study.displays(run))},
            "extra": [
                {
                    "test": run.test.name,
                    "options": dict(run.options),
                    "figures": {
                        f"{figure.test} {figure.quantity}": round(figure.measured, 6) for figure in run.figures
                    },
                }
                for run in extra
            ],
        },
    )


def results(
    *,
    network: str,
    mode: str,
    target: str,
    seed: int,
    wall_s: float,
    simulated_s: float,
    figures: Iterable[Figure],
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """The results document."""
    return {
        "network": network,
        "mode": mode,
        "target": target,
        "seed": seed,
        "wall_s": round(wall_s, 3),
        "simulated_s": simulated_s,
        "figures": [_as_json(figure) for figure in figures],
        **more,
    }


def _as_json(figure: Figure) -> dict[str, Any]:
    document: dict[str, Any] = {
        "test": figure.test,
        "quantity": figure.quantity,
        "unit": figure.unit,
        "published": figure.published,
        "measured": _rounded(figure.measured),
    }
    more = {"note": figure.note, "low": figure.low, "high": figure.high}
    return document | {key: value for key, value in more.items() if value is not None}


def _rounded(value: float) -> float:
    """Round to a millionth, or to six digits if smaller than one: a delay in microseconds keeps them."""
    return round(value, 6 if value == 0 or abs(value) >= 1 else 5 - floor(log10(abs(value))))


def _datagrams(delivery: Delivery) -> dict[str, int]:
    return {
        "sent": delivery.sent_packets,
        "received": delivery.received_packets,
        "in_flight": delivery.in_flight_packets,
        "lost": delivery.lost_packets,
    }


def assumptions(runs: Sequence[Run[Any]]) -> list[str]:
    """List the assumptions of all runs, each once."""
    return list(dict.fromkeys(line for run in runs for line in run.network.assumptions))


def policy_name(path: Path) -> str:
    """A policy file's name in documents: those that come with phb below ``examples/``, others as given."""
    if is_generated(path):
        return path.name
    if (own := relative(path)) is not None:
        return own
    try:
        return str(Path("examples") / path.resolve().relative_to(_EXAMPLES))
    except ValueError:
        return str(path)


def read(path: Path) -> ResultsFile:
    """Read a results file that follows ``lab-results.schema.json``.

    Raises:
        UsageError: it is no results file; the message says where and why.
    """
    try:
        data = json.loads(path.read_text(), parse_constant=_no_number)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: found bytes that are no text, expected JSON") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: {error.msg}, expected JSON") from None
    except ValueError as error:  # NaN, or more digits than Python reads
        raise UsageError(f"{path}: {error}") from None
    except RecursionError:
        raise UsageError(f"{path}: nested too deep, expected results of phb-lab run --json") from None
    if not isinstance(data, dict):
        raise UsageError(f"{path}: found {_kind(data)}, expected results of phb-lab run --json")
    figures = _get(path, data, "", "figures", list)
    return ResultsFile(
        path=path,
        network=_get(path, data, "", "network", str),
        mode=_get(path, data, "", "mode", str),
        target=data["target"] if isinstance(data.get("target"), str) else "phb-switch",
        seed=_get(path, data, "", "seed", int),
        figures=tuple(_figure(path, f"figures[{number}]", figure) for number, figure in enumerate(figures)),
    )


def _figure(path: Path, where: str, data: Any) -> Figure:
    if not isinstance(data, dict):
        raise UsageError(f"{path}: {where}: found {_kind(data)}, expected an object")
    text = {key: _get(path, data, f"{where}.", key, str) for key in ("test", "quantity", "unit")}
    measured = _get(path, data, f"{where}.", "measured", int | float)
    numbers = {
        key: _get(path, data, f"{where}.", key, int | float)
        for key in ("published", "low", "high")
        if data.get(key) is not None
    }
    note = _get(path, data, f"{where}.", "note", str) if data.get("note") is not None else None
    return Figure(**text, measured=measured, note=note, **numbers)


def _get(path: Path, data: dict[str, Any], where: str, key: str, kind: Any) -> Any:
    value = data.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        found = _kind(value) if key in data else "nothing"
        expected = {str: "a text", list: "a list", int: "a whole number"}.get(kind, "a number")
        raise UsageError(f"{path}: {where}{key}: found {found}, expected {expected}")
    return value


def _no_number(word: str) -> float:
    raise ValueError(f"found {word}, expected a number")


def _kind(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    words = ((str, "a text"), (list, "a list"), (dict, "an object"))
    return next((word for kind, word in words if isinstance(value, kind)), "a number")
