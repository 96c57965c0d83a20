"""Arguments that several commands take, from their texts."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phb_lab.errors import UsageError
from phb_lab.study import Study


def parse_options(study: Study[Any], given: Sequence[str]) -> dict[str, int]:
    """Options of a study from NAME=VALUE texts, the rest at their defaults.

    Raises:
        UsageError: an unknown name, or a value that is no whole number or out of range.
    """
    known = {option.name: option for option in study.options}
    chosen: dict[str, int] = {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in known:
            expected = ", ".join(known) or "none: this network has no options"
            raise UsageError(f"--set {text}: found the name {name!r}, expected one of: {expected}")
        if name in chosen:
            raise UsageError(f"--set {text}: {name} has been set already")
        option = known[name]
        number = whole_number(value)
        if number is None or not option.minimum <= number <= option.maximum:
            raise UsageError(
                f"--set {text}: found {value!r}, expected a whole number from {option.minimum} to {option.maximum}"
            )
        chosen[name] = number
    return study.defaults() | chosen


def whole_number(text: str) -> int | None:
    """A number written in the digits 0 to 9; None where it isn't one."""
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None


def parse_policies(given: Sequence[str], option: str = "--policy") -> dict[str, tuple[Path, ...]]:
    """Policy files by switch from SWITCH=FILE[,FILE] texts.

    Raises:
        UsageError: not of that shape, a switch twice, or no such file.
    """
    chosen: dict[str, tuple[Path, ...]] = {}
    for text in given:
        name, _, files = text.partition("=")
        paths = tuple(Path(file) for file in files.split(",") if file)
        if not name or not paths:
            raise UsageError(f"{option} {text}: expected SWITCH=FILE or SWITCH=FILE,FILE")
        if name in chosen:
            raise UsageError(f"{option} {text}: switch {name} has been given its files already")
        for path in paths:
            if not path.is_file():
                raise UsageError(f"{option} {text}: {path}: found no file")
        chosen[name] = paths
    return chosen
