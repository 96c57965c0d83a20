"""One file per published test network: topology, policies and traffic, as a :class:`~phb_lab.study.Study`.

The files are imported when they are asked for.
"""

from importlib import import_module
from typing import Any

from phb_lab.errors import UsageError
from phb_lab.study import Study

NAMES = ("s390", "isode", "e1", "cip", "osa")


def find(name: str) -> Study[Any]:
    """The study of a network.

    Raises:
        UsageError: there is none of that name; the message lists them.

    """
    if name not in NAMES:
        raise UsageError(f"network {name}: expected one of: {', '.join(NAMES)}")
    study: Study[Any] = import_module(f"phb_lab.networks.{name}").STUDY
    return study


def every() -> tuple[Study[Any], ...]:
    """All of them, in the order of the sources."""
    return tuple(find(name) for name in NAMES)
