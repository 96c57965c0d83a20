"""What table entries make of packets: the entries of one switch as a behaviour.

They are read as p4info says what a field can match and as the P4 program applies the tables; nothing of how a policy
is compiled is known here, so that a proof compares two independent readings.

    rows < matching, marking < treating < classifying
           forwarding, priorities, queueing
"""

from __future__ import annotations

from collections.abc import Iterable

from phb.behaviour.behaviour import Behaviour
from phb.device.artifact import Artifact
from phb.intent import Entry, PortShaper
from phb.proving.tables.classifying import Hooks
from phb.proving.tables.forwarding import forwarding
from phb.proving.tables.priorities import user_priorities
from phb.proving.tables.queueing import Queues
from phb.proving.tables.rows import TableFaultError, Tables

__all__ = ["TableFaultError", "behaviour_of_entries"]


def behaviour_of_entries(
    entries: Iterable[Entry],
    artifact: Artifact,
    shapers: Iterable[PortShaper] = (),
    *,
    track_connections: bool = True,
) -> Behaviour:
    """Give what a switch with these entries does at one moment: its only epoch.

    Args:
        entries: Of one version of the policies: no field `version`.
        artifact: The program.
        shapers: Of ports, beside the entries.
        track_connections: What the program's switch for all connections is set to.

    Raises:
        TableFaultError: The entries don't say one thing, such as two of a priority for the same packets.
        ArtifactError: The program has no such table, field or action.
    """
    tables = Tables(entries, artifact)
    hooks = Hooks(tables, track_connections=track_connections)
    queues = Queues(tables, shapers)
    return Behaviour(
        input=hooks.input,
        forwarding=tuple(forwarding(tables)),
        output=hooks.output,
        user_priorities=user_priorities(tables),
        services=queues.services,
        buffers=queues.buffers,
    )
