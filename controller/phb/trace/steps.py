"""Each kind of step in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from phb.trace.entries import action
from phb.trace.values import milliseconds, named, number, shown

BEGINS: Final = frozenset(
    ("arrived", "state", "condition", "table", "call", "enqueued", "dequeued", "sending", "departed", "dropped")
)
"""What stands by itself; every other step is an effect of the one of these before it."""

_QUIET = frozenset(("statement", "assign", "select", "header", "condition", "emit"))


def is_quiet(step: dict[str, Any], kind: str) -> bool:
    """Whether a step is told only when everything is: how the program comes to what it does, not what it does."""
    return kind in _QUIET or (kind == "register" and not step[kind].get("written"))


def words(step: dict[str, Any], kind: str) -> str:
    """Say what happened."""
    if kind == "condition":
        # The artifact's name of a condition is a number.
        asked = step.get("source", {}).get("fragment") or step[kind].get("name", "?")
        return f"{asked} {'holds' if step[kind].get('holds') else 'does not hold'}"
    if kind == "checksum" and step.get("part") == "deparser":
        it = step[kind]
        before, after = it.get("carried", "0x"), it.get("computed", "0x")
        return f"checksum {it.get('field', '?')}: {before}" + (f" -> {after}" if before != after else "")
    return _WORDS[kind](step[kind])


def style(step: dict[str, Any], kind: str) -> str:
    """Say how it is meant: ``good``, ``bad``, ``plain``, ``quiet``."""
    body = step[kind]
    if kind in ("dropped", "parser_error"):
        return "bad"
    if kind == "checksum":
        return "plain" if body.get("computed") == body.get("carried") or step.get("part") != "verify" else "bad"
    if kind == "meter":
        return {"green": "good", "yellow": "warn", "red": "bad"}.get(body.get("colour", ""), "plain")
    if kind == "departed":
        return "good"
    return "quiet" if is_quiet(step, kind) else "plain"


def _arrived(it: dict[str, Any]) -> str:
    where = "from the controller" if it.get("from_controller") else f"in {it.get('port', 0)}"
    return f"{where}, {it.get('length', 0)} bytes"


def _extract(it: dict[str, Any]) -> str:
    fields = f": {named(it['fields'])}" if it.get("fields") else ""
    return f"{it.get('header', '?')} at {it.get('offset', 0)}, {it.get('length', 0)} bytes{fields}"


def _select(it: dict[str, Any]) -> str:
    keys = ", ".join(it.get("keys", []))
    return f"{keys} -> {it.get('next', '?')}" if keys else f"-> {it.get('next', '?')}"


def _checksum(it: dict[str, Any]) -> str:
    computed, carried = it.get("computed", "0x"), it.get("carried", "0x")
    same = "as computed" if computed == carried else f"computed {computed}"
    return f"checksum {it.get('field', '?')}: {carried}, {same}"


def _table(it: dict[str, Any]) -> str:
    does = action(it["action"], it.get("parameters", [])) if it.get("action") else "nothing"
    found = "" if it.get("hit") is not None else "miss: " if it.get("key") else ""
    member = f" by member {it['member_plus_1'] - 1}" if it.get("member_plus_1") else ""
    counted = f", {_counts(it['direct_counter'])}" if "direct_counter" in it else ""
    metered = f", {_meter(it['direct_meter'])}" if "direct_meter" in it else ""
    return f"{it.get('name', '?')}: {found}{does}{member}{counted}{metered}"


def _header(it: dict[str, Any]) -> str:
    fields = f": {named(it['fields'])}" if it.get("fields") else ""
    return f"{it.get('name', '?')} is {'valid' if it.get('valid') else 'invalid'}{fields}"


def _register(it: dict[str, Any]) -> str:
    before, after = (shown(it.get(which, "0x")) for which in ("before", "after"))
    value = f"{before} -> {after}" if it.get("written") else before
    return f"register {it.get('name', '?')}[{it.get('index', 0)}]: {value}"


def _counts(it: dict[str, Any]) -> str:
    packets = f"{it.get('packets_before', 0)} -> {it.get('packets_after', 0)} packets"
    return f"{packets}, {it.get('bytes_before', 0)} -> {it.get('bytes_after', 0)} bytes"


def _counter(it: dict[str, Any]) -> str:
    counted = "beyond its end: not counted" if it.get("beyond") else _counts(it)
    return f"counter {it.get('name', '?')}[{it.get('index', 0)}]: {counted}"


def _meter(it: dict[str, Any]) -> str:
    head = f"meter {it.get('name', '?')}[{it.get('index', 0)}]: {it.get('colour', '?')}"
    if it.get("without_rates"):
        return f"{head}, it has no rates"
    levels = ((name, it.get(f"{name}_before", 0), it.get(f"{name}_after", 0)) for name in ("committed", "second"))
    return head + "".join(f", {name} bucket {before} -> {after}" for name, before, after in levels)


def _request(it: dict[str, Any]) -> str:
    return f"{it.get('name', '?')} {it['number']}" if it.get("number") else it.get("name", "?")


def _emit(it: dict[str, Any]) -> str:
    return f"{it.get('header', '?')} at {it.get('offset', 0)}, {it.get('length', 0)} bytes"


def _enqueued(it: dict[str, Any]) -> str:
    order = f"rank {it['rank']}" if "rank" in it else f"queue {it.get('queue', 0)}"
    ahead, depth = it.get("ahead", 0), it.get("depth", 0)
    place = f"{ahead} packets ahead ({it.get('ahead_bytes', 0)} bytes) of {depth} that wait" if depth else "none waits"
    return f"waits for port {it.get('port', 0)}, {order}: {place}"


def _dequeued(it: dict[str, Any]) -> str:
    served = it.get("served", 0)
    meanwhile = f", {served} packets served meanwhile ({it.get('served_bytes', 0)} bytes)" if served else ""
    return f"leaves the queue after {milliseconds(it.get('waited_ns', 0))}{meanwhile}, {it.get('depth', 0)} still wait"


def _departed(it: dict[str, Any]) -> str:
    where = "to the controller" if it.get("to_controller") else f"out {it.get('port', 0)}"
    return f"{where}, {it.get('length', 0)} bytes"


def _dropped(it: dict[str, Any]) -> str:
    port = f" at port {it['port']}" if "port" in it else ""
    return f"dropped: {it.get('reason', 'unknown')}{port}"


def _copied(it: dict[str, Any]) -> str:
    group = f" by group {it['group']}" if it.get("group") else ""
    return f"{it.get('kind', '?').replace('_', ' ')}{group}, trace {it.get('trace', 0)}"


_WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "arrived": _arrived,
    "state": lambda it: f"state {it.get('name', '?')}",
    "extract": _extract,
    "select": _select,
    "parser_error": lambda it: f"error {it.get('error', '?')}",
    "checksum": _checksum,
    "table": _table,
    "call": lambda it: f"calls {it.get('action', '?')}",
    "statement": lambda it: f"statement {it.get('primitive', '?')}",
    "assign": lambda it: f"{it.get('field', '?')} = {shown(it.get('value', '0x'), it.get('field', ''))}",
    "header": _header,
    "register": _register,
    "counter": _counter,
    "meter": _meter,
    "extern": lambda it: f"{it.get('name', '?')} gives {number(it.get('result', '0x'))}",
    "request": _request,
    "emit": _emit,
    "enqueued": _enqueued,
    "dequeued": _dequeued,
    "sending": lambda it: f"port {it.get('port', 0)} begins to send {it.get('length', 0)} bytes",
    "departed": _departed,
    "dropped": _dropped,
    "copied": _copied,
}
