"""A trace as a whole: where its packet came from, what it was, what became of it, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from phb.explain.packet import TracedPacket
from phb.pipeline_names import DropReason
from phb.trace.messages import Trace
from phb.trace.values import milliseconds


@dataclass(frozen=True, slots=True)
class Packet:
    """What one trace says of its packet as a whole.

    Attributes:
        came: Where it came from: ``in 1``, ``from the controller``, ``a copy of 7``.
        endpoints: Source and destination; empty where its first bytes aren't in the trace.
        fate: What became of it: ``out 2``, ``dropped: policed``, of phb's program by its own reason; empty if the trace
            ends before that.
        waited_ns: Nanoseconds in queues.
        lasted_ns: From the first step to the last.
    """

    number: int
    came: str
    endpoints: str
    length: int
    fate: str
    dropped: bool
    waited_ns: int
    lasted_ns: int

    @property
    def words(self) -> str:
        """The packet in a line, without its number."""
        size = f"{self.length} bytes" if self.length else ""
        words = ", ".join(each for each in (self.endpoints, size, self.came) if each)
        waited = f", waited {milliseconds(self.waited_ns)}" if self.waited_ns else ""
        return f"{words} -> {self.fate or 'unknown: the trace ends'}{waited}"


def packet(trace: Trace) -> Packet:
    """Look at a trace as a whole."""
    steps = trace.get("steps", [])
    arrived = _only(steps, "arrived") or {}
    departed, dropped = _only(steps, "departed"), _only(steps, "dropped")
    frame = bytes.fromhex(arrived.get("frame", "") or (departed or {}).get("frame", ""))
    if dropped is not None:
        fate = f"dropped: {_own_reason(steps) or dropped.get('reason', 'unknown')}"
    elif departed is not None:
        fate = "to the controller" if departed.get("to_controller") else f"out {departed.get('port', 0)}"
    else:
        fate = ""
    if "of" in trace:
        came = f"a copy of {trace['of']}"
    elif arrived.get("from_controller"):
        came = "from the controller"
    else:
        came = f"in {arrived.get('port', 0)}" if arrived else ""
    return Packet(
        number=trace.get("number", 0),
        came=came,
        endpoints=TracedPacket.arrived(0, 0, frame).endpoints if frame else "",
        length=(arrived or departed or {}).get("length", 0),
        fate=fate,
        dropped=dropped is not None,
        waited_ns=sum(step["dequeued"].get("waited_ns", 0) for step in steps if "dequeued" in step),
        lasted_ns=steps[-1].get("time_ns", 0) - steps[0].get("time_ns", 0) if steps else 0,
    )


_DROPS = "PhbIngress.drops"


def _own_reason(steps: list[dict[str, Any]]) -> str | None:
    """Give the reason by which phb's program has counted the packet as dropped; None of other programs."""
    for step in reversed(steps):
        counter = step.get("counter", {})
        if counter.get("name") == _DROPS and counter.get("index", 0) in list(DropReason):
            return DropReason(counter["index"]).name.lower().replace("_", " ")
    return None


def _only(steps: list[dict[str, Any]], kind: str) -> dict[str, Any] | None:
    """Give the last step of this kind: of a packet that is dropped after others of its steps, what ended it."""
    return next((step[kind] for step in reversed(steps) if kind in step), None)
