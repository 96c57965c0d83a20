"""docs/policies/yaml.md knows every key of the YAML format, and its example is one."""

import re
from pathlib import Path

import pytest

from phb.formats import yaml_format

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "policies" / "yaml.md").read_text()


def test_every_key_and_choice_is_there():
    said = set(re.findall(r"[\w.-]+", PAGE))
    schema = yaml_format.schema()
    items = [schema, *schema["$defs"].values()]
    keys = {key for item in items for key in item.get("properties", ())}
    choices = {choice for item in items for choice in item.get("enum", ())} - {"bit/s", "kbit/s", "Mbit/s"}
    # The page says "monday to sunday".
    days = {"tuesday", "wednesday", "thursday", "friday", "saturday"}
    assert keys | choices - days <= said


@pytest.mark.parametrize("example", re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
def test_example(example):
    assert yaml_format.read(example, "docs/policies/yaml.md").rules


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (Path(__file__).resolve().parents[2] / "docs" / "policies" / link).exists(), link
