"""Policy set -> node intent.

One module per part of the pipeline: `rules` (classify, admit, mark), `forwarding`, `applicability`, `user_priority`,
`queueing` (conversation, buffer, schedule); `objectives`, of notices alone. Each gives entries and notices; a statement
that the pipeline can't carry out and that would change behaviour is an error.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from phb import targets
from phb.collecting import without_collecting
from phb.compiler import applicability, forwarding, objectives, queueing, rules, user_priority
from phb.device.artifact import Artifact
from phb.errors import InputError
from phb.intent import Entry, NodeIntent
from phb.model import PolicySet
from phb.targets import DEFAULT_TARGET


def compile_policy(policy: PolicySet, artifact: Artifact, *, at: datetime, target: str = DEFAULT_TARGET) -> NodeIntent:
    """Compile the entries that a switch with this program should hold at this moment.

    `at` is the moment at which validity (days, time of day) is judged; `target` is a name of `phb.targets`.

    Raises:
        InputError: A statement refers to something that isn't there, or asks for something that the pipeline or the
            target can't do.
        ArtifactError: The program lacks a table, field or action, or its tables are too small.
    """
    with without_collecting():
        return _compiled(policy, artifact, at, target)


def _compiled(policy: PolicySet, artifact: Artifact, at: datetime, target: str) -> NodeIntent:
    classified = rules.compile_rules(policy, artifact, at)
    forwarded = forwarding.compile_forwarding(policy)
    applicable, without_effect = applicability.compile_applicability(policy)
    queued = queueing.compile_queueing(policy, artifact, targets.load(target), classified.streams)
    user_priorities, only_of_queues = user_priority.compile_user_priorities(policy)
    entries = (*classified.entries, *forwarded, *user_priorities, *applicable, *queued.entries)
    _check_sizes(entries, artifact)
    notices = sorted(
        (
            *policy.notices,
            *classified.notices,
            *only_of_queues,
            *without_effect,
            *objectives.notices(policy),
            *queued.notices,
        ),
        key=lambda notice: (notice.origin.file, notice.origin.line),
    )
    return NodeIntent(
        policy.node,
        entries,
        classified.policies,
        tuple(notices),
        profiles=tuple(queued.profiles),
        queues=tuple(queued.queues),
        streams=classified.streams,
        classes=classified.classes,
        track_connections=classified.track_connections or bool(applicable),
        shapers=tuple(queued.shapers),
        target=target,
    )


def _check_sizes(entries: tuple[Entry, ...], artifact: Artifact) -> None:
    counts = Counter(entry.table for entry in entries)
    for table, count in counts.items():
        size = artifact.table(table).size
        if count > size:
            last = [entry for entry in entries if entry.table == table][size]
            raise InputError(last.origin, f"{count} entries for table '{table}'", f"at most {size}")
