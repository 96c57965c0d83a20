"""A trace as a tree of words: the parts that the packet passed, under them what each did.

Made of plain nodes, which the command draws and tests read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from phb.trace import entries
from phb.trace.messages import KINDS, Trace
from phb.trace.packets import packet
from phb.trace.steps import BEGINS, is_quiet, style, words
from phb.trace.values import changed, milliseconds, named


@dataclass(slots=True)
class Node:
    """A line of the tree.

    Attributes:
        style: How it is meant: ``good``, ``warn``, ``bad``, ``plain``, ``quiet``, or ``part``, a heading.
        beside: Where it comes from: a line of the program, of a policy.
        aside: It says nothing unless there is something below it.
    """

    words: str
    style: str = "plain"
    beside: tuple[str, ...] = ()
    below: list[Node] = field(default_factory=list)
    aside: bool = False


@dataclass(frozen=True)
class Telling:
    """How much is told, and what stands beside it.

    Attributes:
        everything: Also statements and assignments.
        wants: Which steps; None is all.
        line: The text of a place in the program, where it is known.
        policy: The lines of a policy that entries of a trace come from, by the `id` of their dicts: `policies.places`.
    """

    everything: bool = False
    wants: Callable[[dict[str, Any]], bool] | None = None
    line: Callable[[dict[str, Any]], str | None] | None = None
    policy: Callable[[Trace], Mapping[int, str]] | None = None

    def tree(self, trace: Trace) -> Node:
        """Tell what happened to a packet."""
        whole = packet(trace)
        top = Node(f"{whole.number}. {whole.words}", "bad" if whole.dropped else "good")
        steps = trace.get("steps", [])
        start = steps[0].get("time_ns", 0) if steps else 0
        places = {} if self.policy is None else self.policy(trace)
        # Where a step's effects belong: to the table, call or state before it.
        part: Node | None = None
        place, frame = top, b""
        for step in steps:
            kind = kind_of(step)
            if kind is None or (self.wants is not None and not self.wants(step)):
                continue
            name = step.get("part", "?")
            if self.wants is None and (part is None or part.words.partition(" ")[0] != name):
                part = place = Node(f"{name} +{milliseconds(step.get('time_ns', 0) - start)}", "part")
                top.below.append(part)
            if not self.everything and is_quiet(step, kind):
                continue
            node = self._node(step, kind, places)
            if kind == "arrived":
                frame = bytes.fromhex(step[kind].get("frame", ""))
            if kind == "departed":
                node.below += _changes(frame, bytes.fromhex(step[kind].get("frame", "")))
            if kind in BEGINS or part is None:
                (part or top).below.append(node)
                place = node
            else:
                place.below.append(node)
        top.below = [_pruned(each) for each in top.below]
        top.below += _left_out(trace)
        return top

    def _node(self, step: dict[str, Any], kind: str, places: Mapping[int, str]) -> Node:
        node = Node(words(step, kind), style(step, kind), tuple(self._beside(step)))
        # What the compiler makes of statements outside of actions.
        node.aside = not self.everything and (kind == "call" or (kind == "table" and not step["table"].get("key")))
        if kind == "table":
            node.below += _entries(step["table"], places)
        elif kind in ("enqueued", "dequeued"):
            node.below += _behind(step[kind], step.get("time_ns", 0), kind)
        return node

    def _beside(self, step: dict[str, Any]) -> Iterator[str]:
        source = step.get("source")
        if not source or not source.get("file"):
            return
        at = f"{source['file']}:{source.get('line', 0)}"
        text = self.line(source) if self.line is not None else None
        if text is None and self.everything:
            text = source.get("fragment")
        yield f"{at}: {text}" if text else at


def kind_of(step: dict[str, Any]) -> str | None:
    """Give what a step is; None of one that this version doesn't know."""
    return next((name for name in step if name in KINDS), None)


def _entries(table: dict[str, Any], places: Mapping[int, str]) -> Iterator[Node]:
    def beside(entry: dict[str, Any]) -> tuple[str, ...]:
        return (places[id(entry)],) if id(entry) in places else ()

    key = table.get("key", [])
    if key:
        yield Node(f"key {named(key)}", "quiet")
    winner = table.get("hit")
    if winner is not None:
        yield Node(f"won: {entries.entry(winner, key)}", "good", beside(winner))
    for other in table.get("others", []):
        does = f": {entries.action(other['action'], other.get('parameters', []))}" if other.get("action") else ""
        why = entries.why_lost(other, winner or {})
        yield Node(f"lost, {why}: {entries.entry(other, key)}{does}", "quiet", beside(other))
    if table.get("others_left_out"):
        yield Node(f"and {table['others_left_out']} more that match", "quiet")


MOST_BEHIND: Final = 16


def _behind(step: dict[str, Any], now: int, kind: str) -> Iterator[Node]:
    for each in step.get("behind", [])[:MOST_BEHIND]:
        who = f"trace {each['trace']}" if each.get("trace") else "a packet"
        rank = f"rank {each['rank']}" if "rank" in each else f"queue {each.get('queue', 0)}"
        since = f", waiting for {milliseconds(now - each.get('since_ns', 0))}" if kind == "enqueued" else ""
        came = f"in {each.get('ingress_port', 0)}"
        verb = "behind" if kind == "enqueued" else "after"
        yield Node(f"{verb} {who}: {rank}, {each.get('length', 0)} bytes, {came}{since}", "quiet")


def _changes(before: bytes, after: bytes) -> Iterator[Node]:
    if not before or not after:
        return
    found = [f"{at}: {old.hex() or 'nothing'} -> {new.hex() or 'nothing'}" for at, old, new in changed(before, after)]
    yield Node(f"changed bytes {'; '.join(found)}" if found else "no byte changed", "plain" if found else "quiet")


def _pruned(node: Node) -> Node:
    node.below = [_pruned(each) for each in node.below if each.below or not each.aside]
    return node


def _left_out(trace: Trace) -> Iterator[Node]:
    if trace.get("steps_left_out"):
        yield Node(f"{trace['steps_left_out']} more steps found no room in the trace", "bad")
    if trace.get("traces_left_out"):
        yield Node(f"{trace['traces_left_out']} traces before this one were lost: the reader was slow", "bad")
