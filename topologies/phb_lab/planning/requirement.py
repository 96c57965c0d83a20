"""Requirements of a data centre: the source's solutions, a file's, or those of the command's options."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from yaml import CSafeLoader, YAMLError, load

from phb_lab.errors import UsageError
from phb_lab.planning.capacity import modes

# Decimal units, as the source has them: 18.4 MBps x 3,600 s is 66.24 GB.
_BYTES = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
_SECONDS = {"s": 1, "min": 60, "h": 3600}
_FACTORS = {"": 1, "k": 1_000, "M": 1_000_000}
# Fractions keep numbers as written: 57 % of 100,000 are 57,000, and not a little more, which would take another CIP.
_NUMBER = r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*"
_LARGEST_COUNT = 10**9


@dataclass(frozen=True)
class Requirement:
    """A load, and how it is to be carried.

    Attributes:
        mode: use of the CIPs.
        data_bytes: to be moved within ``window_s``.
        transactions_per_s: at the same time.
        lus: logical units, of which ``active`` (0 to 1) are in session.
        pus: physical units.
        lus_per_cip: sessions planned for each CIP, to leave room for those of a failed one; None is its limit.
        cips: CIPs that are there or planned; None is as many as it takes.
        spare_routers: beside those it takes.
        published: the source's own numbers, by step.
        remarks: on those numbers.
    """

    name: str
    title: str
    mode: str
    data_bytes: Fraction | None = None
    window_s: Fraction | None = None
    transactions_per_s: Fraction | None = None
    lus: int | None = None
    active: Fraction = Fraction(1)
    pus: int | None = None
    lus_per_cip: int | None = None
    cips: int | None = None
    cips_per_router: int = 2
    spare_routers: int = 0
    published: Mapping[str, float] | None = None
    remarks: tuple[str, ...] = ()


def names() -> tuple[str, ...]:
    """The source's solutions."""
    return tuple(_solutions())


def solution(name: str) -> Requirement:
    """One of the source's solutions.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in names():
        raise UsageError(f"solution {name}: expected one of: {', '.join(names())}")
    return parse(name, _solutions()[name], "solution")


@cache
def _solutions() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = load((Path(__file__).parent / "solutions.yaml").read_text(), CSafeLoader)
    return found


def from_file(path: Path) -> Requirement:
    """Read a user's own file.

    Raises:
        UsageError: it is no YAML, or has other keys or values than a requirement.
    """
    try:
        data = load(path.read_text(), CSafeLoader)
    except (YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: expected YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict) or "published" in data:
        raise UsageError(f"{path}: expected one mapping, with keys of: {', '.join(_READERS)}")
    return parse(path.stem, data, str(path))


def capacity(text: str) -> tuple[str, Fraction]:
    """Read one CIP's capacity: its kind in :mod:`phb_lab.planning.capacity`, and how much.

    Raises:
        UsageError: it is none of the three.
    """
    expected = "such as 20MB/s, 711/s or 16000 sessions"
    units = {f"{unit}/s": Fraction(count) for unit, count in _BYTES.items()}
    units |= {"/s": Fraction(1), "sessions": Fraction(1)}
    value = _measure(expected, units, "--capacity", text)
    if "sessions" in text:
        return "lus", value
    return ("bytes_per_s" if "B/s" in text else "transactions_per_s"), value


def parse(name: str, data: Mapping[Any, Any], place: str) -> Requirement:
    """Read a requirement's keys.

    Raises:
        UsageError: names the key, what was found, and what was expected.
    """
    found: dict[str, Any] = {}
    for key, value in data.items():
        if key in ("published", "remarks"):
            found[key] = tuple(value) if key == "remarks" else value
            continue
        if key not in _READERS:
            raise UsageError(f"{place}: found the key {key!r}, expected one of: {', '.join(_READERS)}")
        if value is not None:
            attribute, reader = _READERS[key]
            found[attribute] = reader(f"{place}: {key}" if place else f"--{key}", str(value))
    if "mode" not in found:
        raise UsageError(f"{place or '--mode'}: mode: expected one of {', '.join(modes())}")
    requirement = Requirement(**{"name": name, "title": name} | found)
    _check(place, requirement)
    return requirement


def _check(place: str, requirement: Requirement) -> None:
    where = f"{place}: " if place else ""
    if (requirement.data_bytes is None) != (requirement.window_s is None):
        raise UsageError(f"{where}data and window: found one of them, expected both")
    demands = (requirement.data_bytes, requirement.transactions_per_s, requirement.lus, requirement.pus)
    if all(demand is None for demand in demands):
        raise UsageError(f"{where}nothing is asked for: expected data and window, transactions, lus or pus")


def _text(place: str, text: str) -> str:
    if not text.strip():
        raise UsageError(f"{place}: found nothing, expected a text")
    return text


def _measure(expected: str, units: Mapping[str, int | Fraction], place: str, text: str) -> Fraction:
    match = re.fullmatch(_NUMBER + f"({'|'.join(units)})", text.strip())
    if match is None or Fraction(match[1]) == 0:
        raise UsageError(f"{place}: found {text!r}, expected {expected}")
    return Fraction(match[1]) * units[match[2]]


def _data(place: str, text: str) -> Fraction:
    return _measure("a positive amount such as 250 GB (MB, GB, TB)", _BYTES, place, text)


def _window(place: str, text: str) -> Fraction:
    return _measure("a positive time such as 3 h (s, min, h)", _SECONDS, place, text)


def _rate(place: str, text: str) -> Fraction:
    units = {
        f"{factor}/{unit}": Fraction(times, seconds)
        for factor, times in _FACTORS.items()
        for unit, seconds in _SECONDS.items()
    }
    return _measure("a positive rate such as 3000/s or 20M/h", units, place, text)


def _share(place: str, text: str) -> Fraction:
    share = _measure("a share such as 50 %", {"%": Fraction(1, 100)}, place, text)
    if share > 1:
        raise UsageError(f"{place}: found {text!r}, expected at most 100 %")
    return share


def _count(place: str, text: str) -> int:
    return _whole(place, text, 1)


def _count_or_none(place: str, text: str) -> int:
    return _whole(place, text, 0)


def _whole(place: str, text: str, least: int) -> int:
    expected = f"a whole number from {least} to {_LARGEST_COUNT:,}"
    if re.fullmatch("[0-9]{1,15}", text) is None or not least <= int(text) <= _LARGEST_COUNT:
        raise UsageError(f"{place}: found {text!r}, expected {expected}")
    return int(text)


# Key of a file, and option of the command -> attribute and reader.
_READERS = {
    "title": ("title", _text),
    "mode": ("mode", _text),
    "data": ("data_bytes", _data),
    "window": ("window_s", _window),
    "transactions": ("transactions_per_s", _rate),
    "lus": ("lus", _count),
    "active": ("active", _share),
    "pus": ("pus", _count),
    "lus-per-cip": ("lus_per_cip", _count),
    "cips": ("cips", _count),
    "cips-per-router": ("cips_per_router", _count),
    "spare-routers": ("spare_routers", _count_or_none),
}
