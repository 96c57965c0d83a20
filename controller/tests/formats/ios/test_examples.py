"""The published configurations: the same model as what is written by hand in YAML."""

import re

import pytest

from phb.formats import read_files
from phb.model import Dialect


def test_c7513_queues_as_its_yaml_says(examples):
    ios = read_files([examples.parent / "ios" / name for name in ("c7513.ios", "c7513-ports.yaml")])
    yaml = read_files([examples / name for name in ("c7513.yaml", "c7513-wfq.yaml")])
    assert ios.queueing == yaml.queueing
    assert ios.routes == yaml.routes
    assert [(port.name, port.number, port.address) for port in ios.ports] == [
        (port.name, port.number, port.address)
        for port in sorted(yaml.ports, key=lambda port: (port.number != 1, -port.number))
    ]


@pytest.mark.parametrize(("name", "dialect"), [("c7513.ios", Dialect.IOS_11_3), ("sar2811.ios", Dialect.IOS_12)])
def test_dialect_of_an_example(examples, name, dialect):
    assert re.search(r"phb: dialect (\S+)", (examples.parent / "ios" / name).read_text())[1] == dialect.value
