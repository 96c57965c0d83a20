"""The native policy format: YAML 1.2, checked against the model, every error with its line.

A file starts with ``phb: 1``, the version of the format. `schema()` gives its JSON schema.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from phb.errors import InputError
from phb.formats.format import READING, WRITING, Converted, ReadOptions, WriteOptions
from phb.model import Item, PolicySet
from phb.origin import Origin

VERSION = 1


class Document(PolicySet):
    """A policy file: the version of its format, then a policy set."""

    phb: Literal[1]


def read(text: str, file: str, options: ReadOptions = READING) -> PolicySet:
    """Read a YAML policy file.

    Raises:
        InputError: With the line of the first thing that is wrong.

    """
    data = _load(text, file)
    if not isinstance(data, CommentedMap):
        raise InputError(Origin(file, 1), _show(data), "a mapping that starts with 'phb: 1'")
    if "phb" not in data:
        raise InputError(Origin(file, 1), "no 'phb' key", "'phb: 1', the version of the format")
    try:
        document = Document.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as errors:
        # A misspelt key is also a missing one; the misspelling is what the user wants to hear of.
        details = errors.errors()
        misspelt = [detail for detail in details if detail["type"] == "extra_forbidden"]
        raise min(
            (_explain(detail, data, file) for detail in misspelt or details), key=lambda error: error.origin.line
        ) from None
    policy = PolicySet(**{name: getattr(document, name) for name in PolicySet.model_fields})
    _attach_origins(policy, data, file, "")
    return policy


def write(policy: PolicySet) -> str:
    """The policy as a YAML file; reading it back gives an equal policy."""
    data = {"phb": VERSION, **_ordered(policy.model_dump(mode="json", by_alias=True, exclude_defaults=True))}
    stream = io.StringIO()
    yaml = YAML()
    yaml.width = 110
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.dump(data, stream)
    return stream.getvalue()


def write_with_losses(policy: PolicySet, options: WriteOptions = WRITING) -> Converted:
    """`write` as a format's writer: YAML says everything that the model does, so nothing is lost."""
    return Converted(write(policy))


def _ordered(data: Any) -> Any:
    """The same, with what tells items apart before what they say."""
    if isinstance(data, dict):
        first = [key for key in ("name", "kind") if key in data]
        return {key: _ordered(data[key]) for key in dict.fromkeys([*first, *data])}
    return [_ordered(entry) for entry in data] if isinstance(data, list) else data


def schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of a policy file."""
    result = Document.model_json_schema(by_alias=True)
    result["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    result["title"] = "phb policy file"
    return result


def _load(text: str, file: str) -> Any:
    yaml = YAML(typ="rt")
    try:
        return yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        # Of a duplicate key ruamel also prints both values, however large.
        problem = " ".join((error.problem or "text that isn't YAML").split()).partition(" with value ")[0]
        raise InputError(Origin(file, line), f"broken YAML ({problem})", "YAML 1.2 without duplicate keys") from None
    except YAMLError as error:
        problem = " ".join(str(error).split())
        raise InputError(Origin(file, 1), f"broken YAML ({problem})", "YAML 1.2") from None


# ---------------------------------------------------------------------------
# Lines
# ---------------------------------------------------------------------------


def _attach_origins(item: Item, data: CommentedMap, file: str, path: str) -> None:
    fields = {
        name: Origin(file, data.lc.key(alias)[0] + 1, f"{path}{alias}")
        for name, alias in _aliases(type(item))
        if alias in data
    }
    item.at(Origin(file, data.lc.line + 1, path.rstrip(".")), fields)
    for name, alias in _aliases(type(item)):
        value = getattr(item, name)
        written = data.get(alias)
        if isinstance(value, Item) and isinstance(written, CommentedMap):
            _attach_origins(value, written, file, f"{path}{alias}.")
        elif isinstance(value, tuple) and isinstance(written, CommentedMap):
            # A list of one may stand without its brackets.
            for child in value:
                _attach_origins(child, written, file, f"{path}{alias}.")
        elif isinstance(value, tuple) and isinstance(written, CommentedSeq):
            for number, (child, child_data) in enumerate(zip(value, written, strict=True)):
                if isinstance(child, Item) and isinstance(child_data, CommentedMap):
                    name_of_child = child_data.get("name", number)
                    _attach_origins(child, child_data, file, f"{path}{alias}[{name_of_child}].")


def _aliases(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        yield name, field.alias or name


def _line(data: CommentedMap | CommentedSeq, location: tuple[str | int, ...], key: str) -> int:
    """Line of what `location` leads to, from 1; parts that the file lacks (union tags, missing keys) are skipped."""
    here: Any = data
    line: int = data.lc.line
    for part in (*location, key):
        if isinstance(here, CommentedMap) and part in here:
            line = here.lc.key(part)[0]
            here = here[part]
        elif isinstance(here, CommentedSeq) and isinstance(part, int) and part < len(here):
            line = here.lc.item(part)[0]
            here = here[part]
    return line + 1


# ---------------------------------------------------------------------------
# Words
# ---------------------------------------------------------------------------


def _explain(detail: ErrorDetails, data: CommentedMap, file: str) -> InputError:
    location = tuple(detail["loc"])
    context = detail.get("ctx") or {}
    found = _show(detail["input"])
    key = ""
    match detail["type"]:
        case "extra_forbidden":
            found = f"unknown key '{location[-1]}'"
            expected = "one of " + ", ".join(sorted(_known_keys(location[:-1]))) + " here"
        case "missing":
            found = f"no '{location[-1]}'"
            expected = f"the key '{location[-1]}'"
        case "unexpected":
            found, expected, key = context["found"], context["expected"], context["field"]
        case "value_error":
            expected = str(context["error"])
        case "enum" | "literal_error":
            choices = str(context["expected"]).replace(" or ", ", ")
            expected = f"one of {choices}" if "," in choices else choices
        case "union_tag_invalid":
            found, key = f"'{context['tag']}'", "kind"
            expected = f"one of {context['expected_tags']}"
        case "union_tag_not_found":
            found, expected = "no 'kind'", "the key 'kind'"
        case "tuple_type" | "list_type":
            expected = "a list"
        case "model_type" | "model_attributes_type" | "dict_type":
            expected = "a mapping"
        case "string_type":
            expected = "text"
        case "bool_type":
            expected = "true or false"
        case "too_long":
            found, expected = f"{context['actual_length']} items", f"at most {context['max_length']}"
        case "too_short":
            found, expected = f"{context['actual_length']} items", f"at least {context['min_length']}"
        case "string_too_long":
            expected = f"text of at most {context['max_length']} characters"
        case "string_too_short":
            expected = "text that isn't empty"
        case "greater_than":
            expected = f"a number greater than {context['gt']}"
        case "less_than_equal":
            expected = f"a number of at most {context['le']}"
        case "decimal_type" | "decimal_parsing":
            expected = "a number"
        case _:
            expected = detail["msg"].removeprefix("Input should be ")
    return InputError(Origin(file, _line(data, location, key), _statement(location)), found, expected)


def _show(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_show(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_show(entry) for entry in value) + "]"
    return str(value)


def _statement(location: tuple[str | int, ...]) -> str:
    return ".".join(str(part) for part in location)


def _known_keys(location: tuple[str | int, ...]) -> set[str]:
    models: list[type[BaseModel]] = [Document]
    for part in location:
        found = [
            child
            for model in models
            for name, alias in _aliases(model)
            if alias == part
            for child in _models_in(model.model_fields[name].annotation)
        ]
        tagged = [
            model
            for model in models
            if "kind" in model.model_fields and part in get_args(model.model_fields["kind"].annotation)
        ]
        models = found or tagged or models
    return {alias for model in models for _, alias in _aliases(model)}


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and get_origin(annotation) is None:
        if issubclass(annotation, BaseModel):
            yield annotation
        return
    arguments = get_args(annotation)
    for argument in arguments[:1] if get_origin(annotation) is Annotated else arguments:
        yield from _models_in(argument)
