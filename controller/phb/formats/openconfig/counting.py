"""What OpenConfig counts of a document's terms and policers, by the names that their rules and actions have."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from phb.formats.openconfig.naming import matched_name, policed_name


@dataclass(frozen=True)
class Policed:
    """A policer at an interface: the container of its counters, and whether it has three colours."""

    path: str
    three_colours: bool


@dataclass(frozen=True)
class Counting:
    """Containers of counters: of terms by rule, of policers by action."""

    matched: Mapping[str, str] = field(default_factory=dict)
    policed: Mapping[str, Policed] = field(default_factory=dict)


def counting(content: bytes) -> Counting:
    """Read a document that has been read as a policy already."""
    qos = _member(json.loads(content), "qos")
    policies = {each["name"]: each for each in _list(_member(qos, "scheduler-policies"), "scheduler-policy")}
    classifiers = {each["name"]: each for each in _list(_member(qos, "classifiers"), "classifier")}
    matched: dict[str, str] = {}
    policed: dict[str, Policed] = {}
    for interface in _list(_member(qos, "interfaces"), "interface"):
        name = interface["interface-id"]
        given = _member(interface, "input")
        place = f"/qos/interfaces/interface[interface-id={escaped(name)}]/input"
        for each in _list(_member(given, "classifiers"), "classifier"):
            version = each["type"].rpartition(":")[2]
            classifier = classifiers.get(_named(each), {})
            for term in _list(_member(classifier, "terms"), "term"):
                at = f"{place}/classifiers/classifier[type={version}]/terms/term[id={escaped(term['id'])}]/state"
                matched[matched_name(name, version, term["id"])] = at
        policy = policies.get(_named(_member(given, "scheduler-policy")), {})
        for scheduler in _list(_member(policy, "schedulers"), "scheduler"):
            sequence = int(scheduler["sequence"])
            at = f"{place}/scheduler-policy/schedulers/scheduler[sequence={sequence}]/state"
            three = bool(_member(scheduler, "two-rate-three-color"))
            policed[policed_name(name, sequence)] = Policed(at, three)
    return Counting(matched, policed)


def escaped(key: str) -> str:
    """Write a key's value as it stands in a path."""
    return key.replace("\\", "\\\\").replace("]", "\\]")


def _member(container: Any, name: str) -> Any:
    for key, value in container.items():
        if key.rpartition(":")[2] == name:
            return value
    return {}


def _named(container: Any) -> str:
    """Give the name that a reference has; empty without one."""
    return str(_member(_member(container, "config"), "name") or "")


def _list(container: Any, name: str) -> Iterator[Any]:
    yield from _member(container, name) or ()
