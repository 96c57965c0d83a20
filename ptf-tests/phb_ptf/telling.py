"""Differences between frames, and what traces say of packets, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scapy.layers.l2 import Ether

from phb.trace.messages import Trace
from phb.trace.telling import Node, Telling
from phb_ptf.cases import Left

_MOST_BYTES = 64
_MOST_TRACES = 8
_TOLD = ("table", "parser_error", "meter", "request", "enqueued", "dequeued", "departed", "dropped", "copied")


def packets_in_words(taken: Sequence[Trace]) -> str:
    """Tell what happened to packets, the short way: tables, queues, ends; of many packets the last."""
    telling = Telling(wants=lambda step: any(kind in step for kind in _TOLD))
    left_out = len(taken) - _MOST_TRACES
    lines = [f"{left_out} traces before these"] if left_out > 0 else []
    for trace in taken[-_MOST_TRACES:]:
        lines += _lines(telling.tree(trace), 0)
    return "\n".join(lines)


def _lines(node: Node, depth: int) -> Iterator[str]:
    yield "  " * depth + "  ".join((node.words, *node.beside))
    for each in node.below:
        yield from _lines(each, depth + 1)


def frames_differ(wanted: Left, seen: Left, names: Mapping[bytes, str] | None = None) -> str:
    """Describe the frames that should have left and those that did, and the first byte that differs.

    Frames have `names` where only their order differs.
    """
    missing = _without(wanted, seen)
    extra = _without(seen, wanted)
    lines = []
    for port, frame in missing:
        twin = next((other for its_port, other in extra if its_port == port), None)
        if twin is None:
            lines.append(f"did not leave port {port}: {_tell(frame)}")
        else:
            offset = next(
                (index for index, (one, other) in enumerate(zip(frame, twin, strict=False)) if one != other),
                min(len(frame), len(twin)),
            )
            lines.append(f"left port {port} other than wanted, from byte {offset} on:")
            lines += [f"  wanted {_tell(frame, offset)}", f"  seen   {_tell(twin, offset)}"]
            extra = _without(extra, [(port, twin)])
    lines += [f"left port {port} and shouldn't have: {_tell(frame)}" for port, frame in extra]
    called = names or {}
    orders = [" ".join(called.get(frame, frame.hex()) for _, frame in each) for each in (seen, wanted)]
    return "\n".join(lines) or "left in the order {}; wanted {}".format(*orders)


def _without(left: Left, others: Left) -> list[tuple[int, bytes]]:
    remaining = list(others)
    found = []
    for each in left:
        if each in remaining:
            remaining.remove(each)
        else:
            found.append(each)
    return found


def _tell(frame: bytes, offset: int = 0) -> str:
    start = max(0, offset - 8)
    shown = frame[start : start + _MOST_BYTES].hex()
    dots = "..." if len(frame) > start + _MOST_BYTES else ""
    return f"{len(frame)} bytes, {Ether(frame).summary()}, from byte {start}: {shown}{dots}"
