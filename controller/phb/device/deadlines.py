"""How long a switch may take and how much it may say: a server that hangs, or never ends, must not hold us.

One answer may be silent for so many seconds; a stream of them lasts `PATIENCE` times as long at most, and holds no more
than was asked for. Calls of a command are counted, so that every command ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from phb.errors import SwitchError

TIMEOUT_S: Final = 60.0
"""Seconds, unless somebody says otherwise. A batch of bmv2 takes milliseconds, 100,000 entries some seconds."""
PATIENCE: Final = 10
"""Times that, in which an answer of many messages has to end, though each comes in time."""
LARGEST_MESSAGE: Final = 256 << 20
"""Bytes: twice what a switch would send that is full of entries, with all of them in one message."""
MOST_ENTRIES: Final = 1 << 21
"""Entries of a program that we don't know: twice as many as phb's own has room for."""


@contextmanager
def understood(address: str) -> Iterator[None]:
    """Raise one SwitchError for whatever a wrong answer leads to: numbers that nothing has, values that don't fit."""
    try:
        yield
    except (LookupError, ValueError, TypeError, NotImplementedError) as error:
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise SwitchError(address, f"the switch's answer makes no sense ({problem})") from None
