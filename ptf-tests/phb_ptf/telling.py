"""Differences between frames, in words."""

from __future__ import annotations

from collections.abc import Mapping

from scapy.layers.l2 import Ether

from phb_ptf.cases import Left

_MOST_BYTES = 64


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
