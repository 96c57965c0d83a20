"""The policy files of many switches, read again when they change: names, objectives, and ports for the monitor.

Switches with the same files share what is made of them. A source that is wrong or can't be read is told once; what it
said before holds on.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from phb.deploying import Prepared, prepare
from phb.device.artifact import Artifact
from phb.errors import PhbError
from phb.inventory import Switch
from phb.sources import Document, FileSource, Source, open_source
from phb.validity import next_change

LOOK_S: Final = 2.0
"""Seconds between two looks at files."""

Told = Callable[[Sequence[str], str], None]
"""Is told which switches have no names, or old ones, and why."""


@dataclass
class _Files:
    """What several switches share.

    Attributes:
        documents: What the sources held at the last look, or why they couldn't be read.
        seen, used: Digests of what they held at the last look, and of what was compiled or refused last.
    """

    switches: list[Switch]
    sources: list[Source]
    prepared: Prepared | None = None
    due: datetime | None = None
    seen: str = ""
    used: str = ""
    told: str = ""
    documents: dict[int, Document | PhbError] = field(default_factory=dict)
    asked: dict[int, float] = field(default_factory=dict)

    async def poll(self) -> None:
        """Ask the sources whose time has come."""
        now = asyncio.get_running_loop().time()
        for index, source in enumerate(self.sources):
            if now - self.asked.get(index, float("-inf")) < source.interval_s:
                continue
            self.asked[index] = now
            try:
                slow = not isinstance(source, FileSource)
                self.documents[index] = await asyncio.to_thread(source.poll) if slow else source.poll()
            except PhbError as error:
                self.documents[index] = error

    def read(self) -> list[Document]:
        """Give what they hold, or raise why one doesn't."""
        for held in self.documents.values():
            if isinstance(held, PhbError):
                raise held
        return [held for _, held in sorted(self.documents.items()) if isinstance(held, Document)]


class Policies:
    """What the files of switches say.

    Args:
        told: Called with the names of switches and what is wrong with their files.
        pushed: The policies of switches that have no files.
    """

    def __init__(
        self,
        switches: Sequence[Switch],
        artifact: Artifact,
        told: Told,
        pushed: Mapping[str, Prepared] = MappingProxyType({}),
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self._artifact = artifact
        self._told = told
        self._pushed = pushed
        self._now = now
        self._files: dict[Any, _Files] = {}
        self._of: dict[str, _Files] = {}
        self.follow_switches(switches)

    def follow_switches(self, switches: Sequence[Switch]) -> None:
        """Follow the files of these switches from now on."""
        before = self._files
        self._files, self._of = {}, {}
        for switch in switches:
            key = switch.policies, switch.format, switch.dialect, switch.target
            files = self._files.get(key)
            if files is None:
                files = before.get(key) or _Files([], [open_source(name) for name in switch.policies])
                files.switches = []
                self._files[key] = files
            files.switches.append(switch)
            self._of[switch.name] = files

    def prepared(self, switch: str) -> Prepared | None:
        """Give what the files of a switch say; None where there are none that were right once."""
        files = self._of.get(switch)
        found = None if files is None else files.prepared
        return found or self._pushed.get(switch)

    async def follow(self) -> None:
        """Look at the files again and again."""
        while True:
            await asyncio.sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Read what has changed.

        A change counts when two looks have seen the same: an editor may be half way through.
        """
        for files in list(self._files.values()):
            if not files.sources:
                continue
            await files.poll()
            seen, before, moment = _signature(files), files.seen, self._now()
            files.seen = seen
            first, settled = not before, seen == before and seen != files.used
            if first or settled or (files.due is not None and moment >= files.due):
                await self._take(files, moment)

    async def _take(self, files: _Files, moment: datetime) -> None:
        files.used, files.due = files.seen, None
        try:
            # Ten thousand rules take seconds, and switches have to be read meanwhile.
            made = await asyncio.to_thread(
                prepare, files.switches[0], self._artifact, at=moment, documents=files.read()
            )
        except PhbError as error:
            self._tell(files, str(error))
            return
        files.prepared, files.told = made, ""
        files.due = next_change(made.policy.rules, moment, made.policy.time_zone)

    def _tell(self, files: _Files, problem: str) -> None:
        if files.told == problem:
            return
        files.told = problem
        instead = "until then there are no objectives" if files.prepared is None else "the policy before holds on"
        self._told([switch.name for switch in files.switches], f"{problem}; {instead}")


def _signature(files: _Files) -> str:
    whole = hashlib.sha256()
    for _, held in sorted(files.documents.items()):
        content = held.content if isinstance(held, Document) else str(held).encode()
        whole.update(b"%d %d " % (isinstance(held, Document), len(content)) + content)
    return whole.hexdigest()
