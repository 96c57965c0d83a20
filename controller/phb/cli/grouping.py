"""Groups of options: dataclasses whose fields are options of the commands that take them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

R = TypeVar("R")


def grouped(command: Callable[..., R]) -> Callable[..., R]:
    """Let a command take groups of options: a parameter whose type is a dataclass becomes the dataclass's fields."""
    groups: dict[str, type] = {}
    names: dict[str, list[str]] = {}
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if not dataclasses.is_dataclass(parameter.annotation):
            flat.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        group: Any = parameter.annotation
        groups[parameter.name] = group
        names[parameter.name] = []
        hints = get_type_hints(group, include_extras=True)
        for field in dataclasses.fields(group):
            names[parameter.name].append(field.name)
            flat.append(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=field.default,
                    annotation=hints[field.name],
                )
            )

    @functools.wraps(command)
    def called(**values: Any) -> R:
        built = {name: group(**{field: values.pop(field) for field in names[name]}) for name, group in groups.items()}
        return command(**values, **built)

    # Typer asks the signature for order and defaults, and the annotations for types.
    called.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return called
