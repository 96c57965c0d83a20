"""What the C library does with memory that the switch has given back."""

import ctypes

# malloc.h of glibc.
_TRIM_THRESHOLD, _ARENA_MAX = -1, -8
_KEPT_BYTES = 1 << 20
_ARENAS = 2


def give_back() -> None:
    """Have freed memory go back to the system; to be called before there are threads.

    By default each of a server's threads gets an arena of its own, and each keeps what a request of megabytes or a
    program had once taken: loading phb's program eight times left 90 MB that nobody used. Does nothing where the C
    library isn't glibc.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_ARENA_MAX, _ARENAS)
        set_option(_TRIM_THRESHOLD, _KEPT_BYTES)
