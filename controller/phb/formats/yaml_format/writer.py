"""A policy as a YAML file: defaults are left out, and the keys that identify an item come first."""

from __future__ import annotations

from typing import Any

import yaml

from phb.formats.format import WRITING, Converted, WriteOptions
from phb.formats.yaml_format import document
from phb.formats.yaml_format.reader import VERSION
from phb.model import PolicySet

# Keys that identify an item.
FIRST = ("name", "kind")

# Characters of keys and values on one line: {value: 1.5, unit: Mbit/s, basis: ip}.
LINE = 60


def write(policy: PolicySet) -> str:
    """Write the policy as a YAML file; reading it back gives an equal policy."""
    data = policy.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    sections = [f"phb: {VERSION}\n"]
    sections += [_section(key, _ordered(value)) for key, value in data.items()]
    return "".join(sections)


def write_with_losses(policy: PolicySet, options: WriteOptions = WRITING) -> Converted:
    """Write as a format's writer: YAML expresses the whole model, so nothing is lost."""
    return Converted(write(policy))


def _section(key: str, value: Any) -> str:
    text = yaml.dump(_Section({key: value}), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**9, indent=2)
    # Lists and mappings are sections of the file, with space around them.
    return f"\n{text}" if isinstance(value, list | dict) else text


def _ordered(data: Any) -> Any:
    if isinstance(data, dict):
        first = [key for key in FIRST if key in data]
        return {key: _ordered(data[key]) for key in dict.fromkeys([*first, *data])}
    return [_ordered(entry) for entry in data] if isinstance(data, list) else data


class _Section(dict[str, Any]):
    """A key of the whole file: it begins a line."""


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        # A list's elements are indented under their key.
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def write_double_quoted(self, text: str, split: bool = True) -> None:
        # PyYAML leaves characters that change the order of letters, or have no width, unescaped.
        self.allow_unicode = text.isprintable()
        super().write_double_quoted(text, split)

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        return super().represent_sequence(tag, sequence, flow_style=_short(sequence))

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        short = not isinstance(mapping, _Section) and _short([*mapping, *mapping.values()])
        return super().represent_mapping(tag, mapping, flow_style=short)


def _short(values: list[Any]) -> bool:
    return (
        not any(isinstance(value, list | dict) for value in values) and sum(len(str(value)) for value in values) < LINE
    )


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None
    if not value.isprintable():
        # Other quotes fold line breaks; Unicode has several.
        style = '"'
    elif document.plain(value) != value:
        # PyYAML quotes for YAML 1.1, which isn't enough for YAML 1.2.
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(_Section, yaml.SafeDumper.represent_dict)
