"""Table entries written by hand: from the p4info and gRPC alone, so that no mistake of the controller's is repeated.

    entry("classify.multi_field_ipv4", {"destination_port": (80, 90)}, "set_class", priority=9,
          policy=1, stream=0, traffic_class=2)

finsy (a kept P4Runtime library) puts names and values into messages; numbers come from the p4info.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from finsy import P4Schema, P4TableAction, P4TableEntry, P4TableMatch
from finsy.proto import p4r


@dataclass(frozen=True)
class Entry:
    """One table entry, or with ``default`` a table's default action.

    Attributes:
        table: The last words of its name, as docs/inside/pipeline.md has them: ``classify.multi_field_ipv4``.
        match: By key field. A number is exact (or the value of an optional field), ``(low, high)`` a range, a string is
            finsy's notation: ``"0xb8/&0xfc"`` ternary, ``"10.0.0.0/8"`` a prefix. A field left out matches everything.
        action: The last word of the action's name.
        priority: The larger one wins; 0 in tables of exact keys and prefixes.
    """

    table: str
    match: Mapping[str, Any]
    action: str
    parameters: Mapping[str, int]
    priority: int = 0
    default: bool = False

    def update(self, schema: P4Schema, kind: int = p4r.Update.INSERT) -> p4r.Update:
        """Return the message that writes it; a default action is always a modification.

        Raises:
            ValueError: The p4info has no such table, field, action or parameter, or a value doesn't fit.
        """
        name = f"PhbIngress.{self.table}"
        action = P4TableAction(f"PhbIngress.{self.table.rpartition('.')[0]}.{self.action}", **self.parameters)
        match = None if self.default else P4TableMatch(self.match)
        entry = P4TableEntry(
            name, match=match, action=action, priority=self.priority, is_default_action=self.default
        ).encode(schema)
        return p4r.Update(type=p4r.Update.MODIFY if self.default else kind, entity=entry)  # type: ignore[arg-type]


def entry(table: str, match: Mapping[str, Any], action: str, *, priority: int = 0, **parameters: int) -> Entry:
    """Return an entry; `parameters` are those of the action."""
    return Entry(table, match, action, parameters, priority)


def default_action(table: str, action: str, **parameters: int) -> Entry:
    """Return the default action of a table."""
    return Entry(table, {}, action, parameters, default=True)
