"""phb's controller: policy files in, P4Runtime table entries out.

    policy files -> policy model -> node intent -> difference from what the switch holds -> one atomic write
    (formats)       (model)         (compiler)     (difference)                             (session, pushing)

A caller needs only the names below; `phb.cli` is the command ``phb`` on top of them.
"""

from phb.artifact import Artifact
from phb.compiler import compile_policy
from phb.difference import Change
from phb.errors import ArtifactError, InputError, PhbError, SwitchError
from phb.formats import read_file, read_files
from phb.intent import NodeIntent, Notice
from phb.model import PolicySet
from phb.origin import Origin
from phb.pushing import (
    Changed,
    Report,
    Target,
    load_intent,
    push,
    push_all,
    push_all_sync,
    push_intent,
    push_sync,
    read_counters,
    read_counters_sync,
    read_entries,
    read_entries_sync,
)
from phb.session import CounterValue

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
    "push_all_sync",
    "push_intent",
    "push_sync",
    "read_counters",
    "read_counters_sync",
    "read_entries",
    "read_entries_sync",
    "read_file",
    "read_files",
]
