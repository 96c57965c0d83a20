"""The native policy format: YAML 1.2, checked against the model, every error with its line.

A file starts with ``phb: 1``, the version of the format; docs/policies/yaml.md has all its keys.

    document (text, lines) > shape (possible keys) > explanations (errors) > reader > writer, json_schema
"""

from phb.formats.yaml_format.json_schema import schema, schema_of
from phb.formats.yaml_format.reader import VERSION, item_of, read, read_as
from phb.formats.yaml_format.writer import write, write_with_losses

__all__ = ["VERSION", "item_of", "read", "read_as", "schema", "schema_of", "write", "write_with_losses"]
