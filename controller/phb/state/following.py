"""A state that is looked at again and again by one who only reads, and that may come later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phb.database import Place, place_of
from phb.state.database import State
from phb.state.history import History


class FollowedHistory:
    """The history of a state, which stays open; a file may be replaced by another one."""

    def __init__(self, place: Place | Path | str) -> None:
        self._place = place_of(place)
        self._state: State | None = None
        self._seen: object = None
        self._file: tuple[int, int] | None = None

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._state is not None:
            self._state.close()
            self._state = None

    @contextmanager
    def look(self, *, again: bool = False) -> Iterator[History | None]:
        """Give the history; None where no push has begun or ended since the last look, unless it is wanted `again`.

        Raises:
            InputError: It isn't a state that can be read.
            DatabaseAwayError: The database is away.
        """
        file = self._which()
        if file != self._file:
            self.close()
        if not self._place.is_there():
            yield None
            return
        if self._state is None:
            self._state = State(self._place, patience_s=0)
            self._file = self._which()
        history = History(self._state)
        seen = history.mark()
        yield history if again or seen != self._seen else None
        self._seen = seen

    def _which(self) -> tuple[int, int] | None:
        """Give which file it is now; None of a server, or where there is none."""
        try:
            about = None if self._place.path is None else self._place.path.stat()
        except OSError:
            return None
        return None if about is None else (about.st_dev, about.st_ino)
