"""Entries -> policy: what a switch holds, as a policy that compiles to the same entries.

The compiler's inverse, as far as entries remember: they know no dates, no interfaces of actions and no conversations
kept for RSVP; a name is what the last push gave to a number, or made of the number. Rates come back in the basis in
which the pipeline counts. Pushing the policy back changes nothing; where exceptions of a rule overlap each other or
its alternatives it may take other entries for the same decisions.

One module per part: `rules` (`boxes`, `exceptions`), `actions`, `queueing` (`shares`, `early_detection`), `forwarding`,
`applicability`, `user_priority`.
"""

from __future__ import annotations

from collections.abc import Iterable

from phb.decompiler.actions import Actions
from phb.decompiler.applicability import applicability
from phb.decompiler.forwarding import cross_connects, routes
from phb.decompiler.ports import Ports
from phb.decompiler.queueing import decompile_queueing
from phb.decompiler.rows import NotAPolicyError, Rows
from phb.decompiler.rules import announce, behaviour_aggregates, decompile_rules
from phb.decompiler.user_priority import subnet_priorities
from phb.intent import Entry, PortShaper
from phb.model import PolicySet, TrafficClass
from phb.names import Names

__all__ = ["NotAPolicyError", "decompile"]


def decompile(
    entries: Iterable[Entry], names: Names | None = None, shapers: Iterable[PortShaper] = (), node: str | None = None
) -> PolicySet:
    """Give the policy that compiles to these entries, which the compiler made or a switch holds at rest.

    Raises:
        NotAPolicyError: No policy of the model has these entries: somebody else wrote them.
    """
    rows = Rows(entries)
    names = names or Names()
    ports = Ports(rows, names)
    actions = Actions(rows, names)
    announce(rows, names, ports, actions)
    rules = decompile_rules(rows, names, ports, actions)
    aggregates = behaviour_aggregates(rows, names, ports, actions)
    queueing = decompile_queueing(rows, names, ports, actions, {shaper.port: shaper for shaper in shapers})
    return PolicySet(
        node=node,
        routes=routes(rows, ports),
        cross_connects=cross_connects(rows, ports),
        queueing=queueing,
        rules=rules,
        behaviour_aggregates=aggregates,
        actions=actions.items,
        classes=tuple(TrafficClass(name=name) for name in actions.classes.values()),
        ports=ports.items,
        subnet_priorities=subnet_priorities(rows, ports),
        applicability=applicability(rows, ports),
    )
