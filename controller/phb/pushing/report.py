"""The report of a push, or of a dry run."""

from __future__ import annotations

from dataclasses import dataclass, field

from phb.device.describe import Described
from phb.device.gnmi import ShaperChange
from phb.entries import Change
from phb.intent import Notice, Policy, QueueSlots, Stream
from phb.origin import Origin


@dataclass(frozen=True)
class Changed:
    """One entry that was, or in a dry run would be, changed; `origin` is unknown for deletions."""

    change: Change
    entry: Described
    origin: Origin


@dataclass(frozen=True)
class Report:
    """The changes of a push, or those that a dry run would make.

    Attributes:
        pipeline_replaced: The switch ran nothing, or another program.
        changes: What packets will meet that they didn't before: the net difference, however it is written.
        unchanged: Entries that the switch held already.
        written: Updates sent; more than there are changes where old and new are exchanged in phases.
        duration: Seconds from the first question to the last answer.
    """

    node: str | None
    address: str
    device_id: int
    dry_run: bool
    pipeline_replaced: bool
    # Not in the text of a report: asyncio.run makes one of its task, and ten thousand changes take long.
    changes: tuple[Changed, ...] = field(repr=False)
    unchanged: int
    notices: tuple[Notice, ...]
    policies: tuple[Policy, ...] = ()
    streams: tuple[Stream, ...] = ()
    queues: tuple[QueueSlots, ...] = ()
    shapers: tuple[ShaperChange, ...] = ()
    written: int = 0
    duration: float = 0.0

    @property
    def differs(self) -> bool:
        """Whether the switch did, or does, something else than the files say."""
        return bool(self.changes or self.shapers or self.pipeline_replaced)

    def count(self, change: Change) -> int:
        """Count the entries that were inserted, modified or deleted."""
        return sum(1 for changed in self.changes if changed.change is change)
