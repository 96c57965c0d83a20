"""What the page shows of a program: its states, tables and conditions in order, and where each leads.

The artifact is bmv2 JSON of any architecture. Only names, order and conditions in words come of it; entries don't.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from phb.trace.page.expressions import fields_of, text_of

# What of a trace's parts each kind of the artifact's members shows.
_PARTS: Final = {"ingress": "ingress", "main_control": "ingress", "egress": "egress"}

Node = dict[str, Any]
Section = dict[str, Any]


def program_map(artifact: Mapping[str, Any]) -> list[Section]:
    """Give the sections of a program in the order in which a packet passes them.

    A section has ``part`` (of the trace), ``name``, ``first`` (a node's id, or None) and ``nodes`` in their order.
    A node has ``id``, ``kind`` (state, checksum, condition, table, emit), ``name``, ``next`` (each with ``to``, None at
    the end, and ``label``), where it is known ``source`` and ``detail`` (its condition or key in words), and ``reads``,
    the fields that decide. A table that a compiler made of statements is ``made``, and ``calls`` is its action.
    """
    parsers = [_parser(one) for one in artifact.get("parsers", ())]
    pipelines = [_pipeline(one) for one in artifact.get("pipelines", ())]
    deparsers = [_deparser(one) for one in artifact.get("deparsers", ())]
    checksums = list(artifact.get("checksums", ()))
    verified = _checksums("verify", [one for one in checksums if one.get("verify", True)])
    updated = _checksums("deparser", [one for one in checksums if one.get("update", not one.get("verify", True))])
    first, second = pipelines[:1], pipelines[1:]
    if len(parsers) > 1:  # PSA: each half parses and deparses for itself.
        found = [parsers[0], *verified, *first, *deparsers[:1], _queue(), *parsers[1:], *second, *deparsers[1:]]
    else:
        found = [*parsers, *verified, *first, _queue(), *second, *updated, *deparsers]
    return [section for section in found if section["nodes"]]


def _queue() -> Section:
    node = {"id": "queue", "kind": "queue", "name": "queue", "next": [{"to": None, "label": ""}]}
    return {"part": "queue", "name": "queue", "first": "queue", "nodes": [node]}


def _parser(parser: Mapping[str, Any]) -> Section:
    name = str(parser.get("name", "parser"))
    nodes: dict[str, Node] = {}
    for state in parser.get("parse_states", ()):
        key = [text_of(part) for part in state.get("transition_key", ())]
        steps = [
            {"to": _id(name, move["next_state"]) if move.get("next_state") else None, "label": _when(move)}
            for move in state.get("transitions", ())
        ]
        nodes[_id(name, state["name"])] = _node(
            _id(name, state["name"]),
            "state",
            state,
            steps or [{"to": None, "label": ""}],
            f"select ({', '.join(key)})" if key else "",
            [field for part in state.get("transition_key", ()) for field in fields_of(part)],
        )
    first = parser.get("init_state")
    return _section("parser", name, _id(name, first) if first else None, nodes)


def _when(move: Mapping[str, Any]) -> str:
    if move.get("type", "default") == "default" or move.get("value") in (None, "default"):
        return "default"
    mask = move.get("mask")
    return f"{move['value']} &&& {mask}" if mask else str(move["value"])


def _pipeline(pipeline: Mapping[str, Any]) -> Section:
    name = str(pipeline.get("name", "ingress"))
    nodes: dict[str, Node] = {}
    for one in pipeline.get("conditionals", ()):
        steps = [
            {"to": _id(name, one[member]) if one.get(member) else None, "label": label}
            for member, label in (("true_next", "yes"), ("false_next", "no"))
        ]
        fragment = one.get("source_info", {}).get("source_fragment")
        expression = one.get("expression")
        node = _node(_id(name, one["name"]), "condition", one, steps, fragment or text_of(expression), [])
        node["reads"] = fields_of(expression)
        nodes[node["id"]] = node
    for one in pipeline.get("tables", ()):
        nexts: dict[str | None, list[str]] = {}
        for action, to in (one.get("next_tables") or {}).items():
            words = {"__HIT__": "hit", "__MISS__": "miss"}.get(action, action)
            nexts.setdefault(_id(name, to) if to else None, []).append(words)
        if one.get("base_default_next") and not nexts:
            nexts[_id(name, one["base_default_next"])] = []
        alone = len(nexts) == 1
        steps = [{"to": to, "label": "" if alone else ", ".join(words)} for to, words in nexts.items()]
        key = [f"{_field(part)} {part.get('match_type', '')}".strip() for part in one.get("key", ())]
        reads = [".".join(part["target"]) for part in one.get("key", ()) if isinstance(part.get("target"), list)]
        node = _node(_id(name, one["name"]), "table", one, steps or [{"to": None, "label": ""}], ", ".join(key), reads)
        # Tables that compilers make of single statements have neither key nor a name of the program's.
        node["made"] = not key and one["name"].startswith("tbl_")
        # Traces have the call of the one action that such a table has.
        if node["made"] and len(one.get("actions") or ()) == 1:
            node["calls"] = one["actions"][0]
        nodes[node["id"]] = node
    first = pipeline.get("init_table")
    return _section(_PARTS.get(name, name), name, _id(name, first) if first else None, nodes)


def _field(part: Mapping[str, Any]) -> str:
    target = part.get("target")
    return str(part.get("name") or (".".join(target) if isinstance(target, list) else target))


def _deparser(deparser: Mapping[str, Any]) -> Section:
    name = str(deparser.get("name", "deparser"))
    return _chain("deparser", name, [("emit", str(header), {}, "") for header in deparser.get("order", ())])


def _checksums(part: str, checksums: Sequence[Mapping[str, Any]]) -> list[Section]:
    words = "verify checksums" if part == "verify" else "update checksums"
    return [
        _chain(
            part, words, [("checksum", ".".join(one["target"]), one, text_of(one.get("if_cond"))) for one in checksums]
        )
    ]


def _chain(part: str, name: str, members: Sequence[tuple[str, str, Mapping[str, Any], str]]) -> Section:
    ids = [_id(name, member) for _, member, _, _ in members]
    nodes = {
        own: _node(own, kind, {**described, "name": member}, [{"to": to, "label": ""}], detail, [])
        for own, to, (kind, member, described, detail) in zip(ids, [*ids[1:], None], members, strict=False)
    }
    return _section(part, name, ids[0] if ids else None, nodes)


def _id(section: str, name: str) -> str:
    return f"{section}/{name}"


def _node(
    own: str, kind: str, member: Mapping[str, Any], steps: list[dict[str, Any]], detail: str, reads: Sequence[str]
) -> Node:
    node: Node = {"id": own, "kind": kind, "name": member["name"], "next": steps}
    if detail:
        node["detail"] = detail
    if reads:
        node["reads"] = list(reads)
    if source := member.get("source_info"):
        node["source"] = {
            "file": str(source.get("filename", "")),
            "line": source.get("line", 0),
            "fragment": str(source.get("source_fragment", "")),
        }
    return node


def _section(part: str, name: str, first: str | None, nodes: Mapping[str, Node]) -> Section:
    order = list(_in_order(first, nodes))
    seen = set(order)
    rest = [own for own in nodes if own not in seen]
    return {"part": part, "name": name, "first": first, "nodes": [nodes[own] for own in (*order, *rest)]}


def _in_order(first: str | None, nodes: Mapping[str, Node]) -> Iterator[str]:
    """Nodes so that each comes before those that it leads to, except where a parser goes back (depth first)."""
    done: list[str] = []
    seen: set[str] = set()
    waiting: list[tuple[str, Iterable[str]]] = []

    def enter(own: str | None) -> None:
        if own in nodes and own not in seen:
            assert own is not None
            seen.add(own)
            # Backwards, for what is finished last comes first: of two branches, the first of the artifact.
            waiting.append((own, iter([step["to"] for step in reversed(nodes[own]["next"]) if step["to"]])))

    enter(first)
    while waiting:
        own, rest = waiting[-1]
        to = next(iter(rest), None)
        if to is None:
            done.append(own)
            waiting.pop()
        else:
            enter(to)
    return reversed(done)
