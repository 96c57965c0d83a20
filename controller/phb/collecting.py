"""Python's garbage collector, and large trees that are being built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """No search for garbage cycles while a large tree without any is built.

    Each search looks at all of the tree so far: of 10,000 rules, that is a quarter of the time of reading and half of
    that of compiling. What is garbage by its count of references is freed as always.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
