"""One page of traces: choose a packet, follow it through the program step by step, compare it with another.

The page is one file and asks for nothing: its script, style and data are in it, and its content security policy lets
nothing else run. What traces and artifacts hold is data, of which the script makes text only.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any, Final

from phb.errors import InputError
from phb.origin import Origin
from phb.trace.page.program import Section, program_map

__all__ = ["MOST_BYTES", "MOST_TRACES", "Page", "page", "read_program", "told_in"]

MOST_TRACES: Final = 5_000
"""Traces that a page has room for; it says how many more there were."""

MOST_BYTES: Final = 64 << 20
"""Bytes of traces that a page has room for."""

_FOLDER: Final = Path(__file__).parent
_SCRIPTS: Final = ("values.js", "packets.js", "replay.js", "flow.js", "steps.js", "compare.js", "main.js")


class Page:
    """A page that traces are added to.

    Args:
        program: what :func:`read_program` gives; without it the page shows what the packets passed.
        likely: a program that is shown if it has all states, tables and conditions that the packets passed.
    """

    def __init__(self, program: Sequence[Section] = (), likely: Sequence[Section] = ()) -> None:
        self._program = program
        self._likely = likely
        self._passed: set[tuple[str, str]] = set()
        self._traces: list[str] = []
        self._size = 0
        self._left_out = 0

    def add(self, trace: Mapping[str, Any], policy: Mapping[int, str] | None = None) -> None:
        """Add a trace, the dict that a line of a trace file is; what has no room is counted.

        Args:
            trace: what happened to a packet.
            policy: the lines of policy files that entries come from, by the `id` of the trace's entries.
        """
        if len(self._traces) >= MOST_TRACES:
            self._left_out += 1
            return
        text = _as_data(_with_lines(trace, policy) if policy else trace)
        if self._size + len(text) > MOST_BYTES:
            self._left_out += 1
            return
        self._traces.append(text)
        self._size += len(text)
        self._passed |= _passed(trace)

    def text(self, title: str = "Traces of packets") -> str:
        """Give the page."""
        there = {(node["kind"], node["name"]) for section in self._likely for node in section["nodes"]}
        likely = self._likely if self._passed and self._passed <= there else ()
        sections = _as_data(list(self._program or likely))
        told = f'{{"traces":[{",".join(self._traces)}],"sections":{sections},"left_out":{self._left_out}}}'
        # Traces say the same names over and over: a ninth is left, in base64.
        data = b64encode(zlib.compress(told.encode(), 6)).decode()
        style, script = _style(), _script()
        return Template((_FOLDER / "page.html").read_text("utf-8")).substitute(
            title=escape(title),
            style=style,
            style_hash=_hash(style),
            script=script,
            script_hash=_hash(script),
            data=data,
        )


def page(traces: Iterable[Mapping[str, Any]], program: Sequence[Section] = (), title: str = "Traces of packets") -> str:
    """Give the page of these traces, in the order in which they are listed."""
    made = Page(program)
    for trace in traces:
        made.add(trace)
    return made.text(title)


def _with_lines(trace: Mapping[str, Any], policy: Mapping[int, str]) -> dict[str, Any]:
    def entry(one: Any) -> Any:
        return one | {"policy": policy[id(one)]} if id(one) in policy else one

    steps = []
    for step in trace.get("steps", ()):
        table = step.get("table")
        if table is not None:
            table = {**table, "others": [entry(one) for one in table.get("others", ())]}
            step = {**step, "table": table | ({"hit": entry(table["hit"])} if "hit" in table else {})}
        steps.append(step)
    return {**trace, "steps": steps}


def _passed(trace: Mapping[str, Any]) -> set[tuple[str, str]]:
    steps = [step for step in trace.get("steps", ()) if isinstance(step, dict)]
    return {
        (kind, str(step[kind].get("name", "")))
        for step in steps
        for kind in ("state", "table", "condition")
        if isinstance(step.get(kind), dict)
    }


def told_in(text: str) -> str:
    """Give the JSON that lies in a page: ``traces``, ``sections`` of the program, and how many traces were left out."""
    return zlib.decompress(b64decode(text.split('id="data">')[1].split("<")[0])).decode()


def read_program(path: Path) -> list[Section]:
    """Read what the page shows of a program from its artifact, bmv2 JSON.

    Raises:
        InputError: it can't be read, or isn't an artifact.
    """
    try:
        artifact = json.loads(path.read_text("utf-8"))
        if not isinstance(artifact, dict) or "pipelines" not in artifact:
            raise InputError(Origin(str(path)), "no member pipelines", "an artifact: JSON as p4c makes it for bmv2")
        return program_map(artifact)
    except OSError as error:
        raise InputError(Origin(str(path)), error.strerror or str(error), "an artifact that can be read") from None
    except (ValueError, RecursionError) as error:
        raise InputError(Origin(str(path)), f"no JSON ({error})", "an artifact of p4c for bmv2") from None
    except (AttributeError, KeyError, TypeError) as error:
        found = f"members of another shape ({error!r})"
        raise InputError(Origin(str(path)), found, "an artifact as p4c makes it for bmv2") from None


def _as_data(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def _style() -> str:
    return (_FOLDER / "page.css").read_text("utf-8")


@cache
def _script() -> str:
    parts = [(_FOLDER / name).read_text("utf-8") for name in _SCRIPTS]
    return f'(() => {{\n"use strict";\n{"".join(parts)}}})()\n'
