"""Forwarding: errors; what is right stands in the golden files."""

from datetime import datetime

import pytest

from phb.compiler import compile_policy
from phb.errors import InputError
from phb.formats import yaml_format

AT = datetime(1999, 3, 1, 12, 0)
PORTS = "phb: 1\nports:\n  - {number: 1, name: a}\n"
ROUTE = "destination: 10.0.0.0/8, source-mac: 02:00:00:00:00:01, destination-mac: 02:00:00:00:00:02"

ERRORS = {
    "unknown end": (
        PORTS + "cross-connects:\n  - between: [a, b]\n",
        "f:5: found port 'b', expected one of 'a' (1)",
    ),
    "connected to itself": (
        PORTS + "cross-connects:\n  - between: [a, 1]\n",
        "f:5: found port 1 connected to itself, expected two ports",
    ),
    "unknown port of a route": (
        PORTS + f"routes:\n  - {{{ROUTE}, port: b}}\n",
        "f:5: found port 'b', expected one of 'a' (1)",
    ),
    "no ports at all": (
        f"phb: 1\nroutes:\n  - {{{ROUTE}, port: b}}\n",
        "f:3: found port 'b', expected a port that a 'ports' section names; there is none",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error(case, artifact):
    text, message = ERRORS[case]
    with pytest.raises(InputError) as caught:
        compile_policy(yaml_format.read(text, "f"), artifact, at=AT)
    assert str(caught.value) == message
