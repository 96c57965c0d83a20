"""An inventory that is read again: files when they change, commands when their time has come, all of it when asked."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from phb.errors import InputError, raise_all
from phb.files import state_of
from phb.inventory.commands import end
from phb.inventory.items import Inventory, Source
from phb.inventory.parts import Part, files_of, folder_of, read_main, read_source
from phb.inventory.reading import assembled

LOOK_S: Final = 1.0
"""Seconds between two looks at files; a change counts when two looks in a row have seen the same."""
MOST_COMMANDS: Final = 8
"""Commands that run at the same time."""

State = tuple[Any, ...]


@dataclass(eq=False)
class _Held:
    """What is held of a source, or of the inventory's own file.

    Attributes:
        parts: What it said, as far as it is believed.
        offered: What it says instead, until that is believed.
        small_since: Since when it offers too few switches to be believed.
        seen, used: States of its files at the last look, and of when it was read last.
        asked: When it was read last, and `failed` whether that failed.
        told: What is wrong with it, or doubted, and told already.
    """

    source: Source
    parts: Sequence[Part] = ()
    offered: Sequence[Part] | None = None
    small_since: float | None = None
    seen: State = ()
    used: State = ()
    asked: float = float("-inf")
    failed: bool = False
    told: str = ""


class FollowedInventory:
    """An inventory as it is now: `current` is replaced when its file or a source says something else.

    A source that is wrong, or can't be asked, is told once, and what it said before holds on. One that suddenly gives
    less than half of its switches isn't believed until it has said so for as long as its `doubt` says, or until all is
    read at somebody's request. Of the inventory's own file, and all that it names, the same holds.

    Args:
        told: Called with what is wrong, or doubted.
        clock: Seconds.

    Raises:
        InputError: At the start, something is wrong with it.
    """

    def __init__(self, path: Path, told: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._folder = path, folder_of(path)
        self._told = told
        self._to_say: list[str] = []
        self._clock = clock
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._whole_is_wrong = ""
        self._sources: list[_Held] = []
        self._own = _Held(Source.model_construct(file=path.name))
        self._own.seen = self._state(self._own)
        self._main, self._sources = self._read()
        for held in self._sources:
            self._settle(held, believe=True)
        self.current = self._assembled()

    def look(self, *, believe: bool = False) -> Inventory | None:
        """Read what has changed or is due, and give the inventory if it is another one now; may take long.

        With `believe` all is read, and believed.
        """
        found = self._look(believe)
        self._say()
        return found

    def _look(self, believe: bool) -> Inventory | None:
        changed = self._look_at_file(believe)
        due = [held for held in self._sources if believe or self._is_due(held)]
        for held, error in self._ask(due):
            held.offered = held.small_since = None
            self._tell(held, f"{error}; what it said before holds on")
        for held in self._sources:
            changed |= self._settle(held, believe)
        if not changed:
            return None
        try:
            found = self._assembled()
        except InputError as error:
            if str(error) != self._whole_is_wrong:
                self._whole_is_wrong = str(error)
                self._to_say.append(f"{error}; the inventory before holds on")
            return None
        self._whole_is_wrong = ""
        if found == self.current:
            return None
        self.current = found
        return found

    async def follow(self, take: Callable[[Inventory], None], asked: asyncio.Event) -> None:
        """Call `take` with each other inventory until cancelled; when `asked` is set, all is read and believed."""
        try:
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(asked.wait(), LOOK_S)
                believe = asked.is_set()
                asked.clear()
                # Commands take their time, and thousands of switches a moment: others go on meanwhile.
                found = await asyncio.to_thread(self._look, believe)
                self._say()
                if found is not None:
                    take(found)
        finally:
            for process in list(self._processes):
                end(process)

    # -- the file itself ------------------------------------------------------

    def _look_at_file(self, believe: bool) -> bool:
        """Take the file itself, with the sources that it names, if it has changed."""
        own = self._own
        if believe or self._is_due(own):
            try:
                main, sources = self._read()
            except InputError as error:
                self._tell(own, f"{error}; the inventory before holds on")
                return False
            self._newer = main, sources
            own.offered = [self._part(main)]
        if own.offered is None:
            return False
        main, sources = self._newer
        found = len(main.switches) + sum(_size(held.offered or held.parts) for held in sources)
        if not self._is_believable(own, found, len(self.current.switches), believe):
            return False
        own.offered, own.told = None, ""
        changed = main != self._main or sources != self._sources
        self._main, self._sources = main, sources
        return changed

    def _read(self) -> tuple[Inventory, list[_Held]]:
        """Read the file, and the sources that are new in it."""
        own = self._own
        own.asked, own.used, own.failed = self._clock(), own.seen, True
        main = read_main(self._path)
        sources = [self._hold(source) for source in main.sources]
        raise_all([error for _, error in self._ask([held for held in sources if held not in self._sources])])
        own.failed = False
        return main, sources

    def _hold(self, source: Source) -> _Held:
        """Give what is held of a source; one that stands in the file as before keeps it."""
        for held in self._sources:
            if held.source == source:
                held.source = source  # which may stand in another line
                return held
        held = _Held(source)
        with suppress(InputError):  # which is said when it is read
            held.seen = self._state(held)
        return held

    def _part(self, main: Inventory) -> Part:
        return Part(str(self._path), self._folder, main)

    def _assembled(self) -> Inventory:
        parts = [part for held in self._sources for part in held.parts]
        return assembled(self._main, self._folder, [self._part(self._main), *parts])

    # -- sources ------------------------------------------------------------

    def _is_due(self, held: _Held) -> bool:
        if held.source.command is not None:
            return self._clock() - held.asked >= held.source.every
        try:
            seen = self._state(held)
        except InputError as error:
            self._tell(held, f"{error}; what it said before holds on")
            return False
        settled, held.seen = seen == held.seen, seen
        # A command that the file names may have failed, and do better without another state of files.
        again = held.failed and self._clock() - held.asked >= held.source.every
        return settled and (seen != held.used or again)

    def _ask(self, sources: Sequence[_Held]) -> list[tuple[_Held, InputError]]:
        """Read these sources, so that they offer what they say; give those that failed."""

        def ask(held: _Held) -> tuple[_Held, InputError] | None:
            held.asked, held.used = self._clock(), held.seen
            process: list[subprocess.Popen[bytes]] = []

            def started(new: subprocess.Popen[bytes]) -> None:
                process.append(new)
                self._processes.add(new)

            try:
                held.offered = read_source(held.source, self._folder, started)
            except InputError as error:
                return held, error
            finally:
                self._processes.difference_update(process)
            return None

        if not sources:
            return []
        with ThreadPoolExecutor(MOST_COMMANDS) as pool:
            return [each for each in pool.map(ask, sources) if each is not None]

    def _settle(self, held: _Held, believe: bool) -> bool:
        """Take what a source offers unless it is to be doubted; give whether something else holds now."""
        new = held.offered
        if new is None or not self._is_believable(held, _size(new), _size(held.parts), believe):
            return False
        changed = held.parts != new
        held.parts, held.offered, held.told = new, None, ""
        return changed

    def _is_believable(self, held: _Held, found: int, before: int, believe: bool) -> bool:
        if found * 2 >= before or believe:
            held.small_since = None
            return True
        now, doubt = self._clock(), held.source.doubt
        if held.small_since is None:
            held.small_since = now
        if now - held.small_since >= doubt:
            held.small_since = None
            return True
        self._tell(
            held,
            f"{held.source}: gives {found} switches instead of {before}; what it said before holds on until it has "
            f"said so for {doubt} s, or until SIGHUP",
        )
        return False

    def _tell(self, held: _Held, problem: str) -> None:
        if held.told != problem:
            held.told = problem
            self._to_say.append(problem)

    def _say(self) -> None:
        problems, self._to_say = self._to_say, []
        for problem in problems:
            self._told(problem)

    def _state(self, held: _Held) -> State:
        """Tell what a source's files hold from something else; nothing for a command."""
        if held.source.command is not None or (held is self._own and self._path.is_dir()):
            return ()
        return tuple((file, *state_of(file)) for file in files_of(held.source, self._folder))


def _size(parts: Sequence[Part]) -> int:
    return sum(len(part.content.switches) for part in parts)
