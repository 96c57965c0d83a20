"""Private buffers of streams, and the pool that they share with everything else."""

from __future__ import annotations

from collections.abc import Sequence

from phb.compiler.ports import NumberedPort
from phb.compiler.queueing.tables import IDLE_STREAM, STREAM_BUFFER
from phb.device.artifact import Artifact
from phb.errors import InputError
from phb.intent import Entry, Exact, MatchValue, Stream, Ternary
from phb.model import Buffers, PolicySet
from phb.origin import Origin


class Accounts:
    """Hands out the accounts that say how many bytes a stream holds at a port, in order."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._next = 0

    def take(self, origin: Origin) -> int:
        """Give the next account; refuse a stream when the pipeline has no more."""
        if self._next == self._limit:
            raise InputError(origin, f"{self._limit + 1} buffers", f"at most {self._limit} on one switch")
        self._next += 1
        return self._next - 1


def stream_buffers(
    policy: PolicySet,
    buffers: Buffers,
    *,
    port: NumberedPort,
    profile: int,
    streams: Sequence[Stream],
    accounts: Accounts,
    artifact: Artifact,
) -> list[Entry]:
    """Give a row for each stream with a private buffer at the port, one for everything else, and those of idle buffers.

    An action with rules of the input policy and of an output policy has two streams, each with a buffer of this size.
    An action that no rule names has no traffic, and no row.

    Raises:
        InputError: No such action, or two buffers for it.
    """
    mask = (1 << artifact.field(STREAM_BUFFER, "stream").bits) - 1
    pool = {"pool": port.number, "shared_bytes": buffers.shared_bytes, "holes": buffers.holes}
    entries: list[Entry] = []
    names = [action.name for action in policy.actions]
    seen: dict[str, Origin] = {}
    for private in buffers.private:
        if private.action not in names:
            known = ", ".join(names) or "an action of the policy; there is none"
            raise InputError(private.origin("action"), f"action '{private.action}'", f"one of {known}")
        if private.action in seen:
            raise InputError(
                private.origin(), f"a second buffer for action '{private.action}' ({seen[private.action]})", "one"
            )
        seen[private.action] = private.origin()
        for stream in streams:
            if stream.action == private.action:
                key: dict[str, MatchValue] = {"profile": Exact(profile), "stream": Ternary(stream.number, mask)}
                parameters = {"index": accounts.take(private.origin()), "private_bytes": private.bytes, **pool}
                entries.append(Entry(STREAM_BUFFER, key, "account", parameters, 2, private.origin()))
    lent = _idle_streams(buffers, profile, entries)
    parameters = {"index": accounts.take(buffers.origin()), "private_bytes": 0, **pool}
    entries.append(Entry(STREAM_BUFFER, {"profile": Exact(profile)}, "account", parameters, 1, buffers.origin()))
    return entries + lent


def _idle_streams(buffers: Buffers, profile: int, private: Sequence[Entry]) -> list[Entry]:
    """Give a row for each private buffer that may lie idle: the pipeline checks them in turn."""
    if buffers.idle_timeout_ms is None:
        return []
    timeout = {"timeout_us": 1000 * buffers.idle_timeout_ms}
    return [
        Entry(
            IDLE_STREAM,
            {"profile": Exact(profile), "turn": Exact(turn)},
            "lend",
            {name: row.parameters[name] for name in ("index", "private_bytes")}
            | timeout
            | {"next_turn": (turn + 1) % len(private)},
            0,
            buffers.origin("idle_timeout_ms"),
        )
        for turn, row in enumerate(private)
    ]
