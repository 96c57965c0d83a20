"""Queueing statements, compiled."""

from datetime import datetime

import pytest

from phb.compiler import compile_policy
from phb.formats import yaml_format

AT = datetime(1999, 3, 1, 12, 0)


@pytest.fixture
def compiled(artifact):
    """The intent of a node with ports p0, p1, ..., classes a to d and these queueing statements."""

    def compile_text(queueing, ports=1, **options):
        text = "phb: 1\nclasses: [{name: a}, {name: b}, {name: c}, {name: d}]\nports:\n"
        text += "".join(f"  - {{number: {number}, name: p{number}}}\n" for number in range(ports))
        return compile_policy(yaml_format.read(text + "queueing:\n" + queueing, "f"), artifact, at=AT, **options)

    return compile_text


def of_table(intent, name):
    return [entry for entry in intent.entries if entry.table.endswith(f".{name}")]
