"""phb's controller: policy files in, P4Runtime table entries out.

    policy files -> policy model -> node intent -> difference from what the switch holds -> one atomic write
    (formats)       (model)         (compiler)     (entries)                                (device, pushing)

A caller needs only the names below; `phb.cli` is the command ``phb`` on top of them. They are imported when they are
asked for, so that a command that needs none of them, such as ``phb --help``, doesn't wait for gRPC.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phb.compiler import compile_policy
    from phb.device.artifact import Artifact
    from phb.device.reading import read_counters, read_entries
    from phb.device.session import CounterValue
    from phb.entries import Change
    from phb.errors import ArtifactError, InputError, PhbError, SwitchError
    from phb.formats import read_file, read_files
    from phb.intent import NodeIntent, Notice
    from phb.model import PolicySet
    from phb.origin import Origin
    from phb.pushing.push import Target, load_intent, push, push_all, push_intent
    from phb.pushing.report import Changed, Report

_MODULES = {
    "phb.device.artifact": ("Artifact",),
    "phb.compiler": ("compile_policy",),
    "phb.entries": ("Change",),
    "phb.errors": (
        "ArtifactError",
        "InputError",
        "PhbError",
        "SwitchError",
    ),
    "phb.formats": (
        "read_file",
        "read_files",
    ),
    "phb.intent": (
        "NodeIntent",
        "Notice",
    ),
    "phb.model": ("PolicySet",),
    "phb.origin": ("Origin",),
    "phb.pushing.push": ("Target", "load_intent", "push", "push_all", "push_intent"),
    "phb.pushing.report": ("Changed", "Report"),
    "phb.device.reading": ("read_counters", "read_entries"),
    "phb.device.session": ("CounterValue",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Artifact",
    "ArtifactError",
    "Change",
    "Changed",
    "CounterValue",
    "InputError",
    "NodeIntent",
    "Notice",
    "Origin",
    "PhbError",
    "PolicySet",
    "Report",
    "SwitchError",
    "Target",
    "compile_policy",
    "load_intent",
    "push",
    "push_all",
    "push_intent",
    "read_counters",
    "read_entries",
    "read_file",
    "read_files",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'phb' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
