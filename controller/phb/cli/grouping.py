"""Groups of options: dataclasses whose fields are options of the commands that take them, or groups again."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, get_type_hints

R = TypeVar("R")


def grouped(command: Callable[..., R]) -> Callable[..., R]:
    """Let a command take groups of options: a parameter whose type is a dataclass becomes the dataclass's fields."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    flat = [option for each in parameters for option in _options(each.name, each.annotation, each.default)]

    @functools.wraps(command)
    def called(**values: Any) -> R:
        return command(**{each.name: _built(each.name, each.annotation, values) for each in parameters})

    # Typer asks the signature for order and defaults, and the annotations for types.
    called.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return called


def _options(name: str, annotation: Any, default: Any) -> Iterator[inspect.Parameter]:
    if not dataclasses.is_dataclass(annotation):
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        return
    hints = get_type_hints(annotation, include_extras=True)
    for field in dataclasses.fields(annotation):
        yield from _options(field.name, hints[field.name], field.default)


def _built(name: str, annotation: Any, values: dict[str, Any]) -> Any:
    if not dataclasses.is_dataclass(annotation):
        return values[name]
    hints = get_type_hints(annotation, include_extras=True)
    group: Any = annotation
    return group(**{field.name: _built(field.name, hints[field.name], values) for field in dataclasses.fields(group)})
