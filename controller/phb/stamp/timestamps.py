"""Times on the wire, and how wrong they may be (RFC 4656 section 4.1.2, RFC 8762 section 4.2.1)."""

from __future__ import annotations

import ctypes
import struct
import time
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

_NTP_EPOCH: Final = 2_208_988_800
"""Seconds from 1900 to 1970."""

_ERA: Final = 1 << 32
_NANOSECONDS: Final = 1_000_000_000


def to_ntp(time_ns: int) -> int:
    """Give a Unix time as 64 bits of NTP: seconds since 1900, and their fraction."""
    seconds, rest = divmod(time_ns, _NANOSECONDS)
    # Rounded to the nearest, so that reading it gives the same nanosecond.
    fraction = (rest * _ERA + _NANOSECONDS // 2) // _NANOSECONDS
    return (((seconds + _NTP_EPOCH) << 32) + fraction) & ((1 << 64) - 1)


def from_ntp(stamp: int) -> int:
    """Read 64 bits of NTP as a Unix time; a time before 1968 is one of the era that begins in 2036 (RFC 4330)."""
    seconds, fraction = stamp >> 32, stamp & (_ERA - 1)
    if not seconds & 1 << 31:
        seconds += _ERA
    return (seconds - _NTP_EPOCH) * _NANOSECONDS + (fraction * _NANOSECONDS + _ERA // 2) // _ERA


def from_ptp(stamp: int) -> int:
    """Read 64 bits of truncated PTPv2, seconds and nanoseconds, as they are: whoever counts by TAI is 37 s ahead."""
    return (stamp >> 32) * _NANOSECONDS + (stamp & (_ERA - 1))


@dataclass(frozen=True, slots=True)
class ErrorEstimate:
    """How wrong a clock may be.

    Attributes:
        synchronised: Whether it follows UTC from outside.
        ptp: Whether its stamps are truncated PTPv2 instead of NTP.
        error_s: Its bound of the error, in seconds.
    """

    synchronised: bool = False
    ptp: bool = False
    error_s: float = 0.0

    def encode(self) -> int:
        """Give the 16 bits: S, Z, a scale of 6 bits and a multiplier of 8, which is never 0."""
        multiplier, scale = max(1, round(self.error_s * _ERA)), 0
        while multiplier > 255 and scale < 63:
            multiplier, scale = (multiplier + 1) >> 1, scale + 1
        return self.synchronised << 15 | self.ptp << 14 | scale << 8 | min(multiplier, 255)

    @classmethod
    def decode(cls, bits: int) -> ErrorEstimate:
        """Read them."""
        error = (bits & 0xFF) * 2.0 ** ((bits >> 8 & 0x3F) - 32)
        return cls(bool(bits & 0x8000), bool(bits & 0x4000), error)

    def read(self, stamp: int) -> int:
        """Read a stamp of the clock that this speaks of as a Unix time in nanoseconds."""
        return from_ptp(stamp) if self.ptp else from_ntp(stamp)


def kernel_clock() -> ErrorEstimate:
    """Ask the kernel whether somebody disciplines its clock, and how wrong it may be (``adjtimex``)."""
    answer = ctypes.create_string_buffer(256)
    if _libc().adjtimex(answer) < 0:
        return ErrorEstimate()
    # struct timex: modes, offset, freq, maxerror (us), esterror, status; longs are aligned.
    *_, most_us, _, status = struct.unpack_from("@Illlli", answer)
    return ErrorEstimate(not status & _UNSYNCHRONISED, error_s=most_us / 1e6)


_UNSYNCHRONISED: Final = 0x40
"""``STA_UNSYNC`` of Linux."""


STEP_NS: Final = 1_000_000
"""By how much a clock is set at least, for that to be noticed."""


class Steps:
    """Notices when this machine's clock is set: it then goes otherwise than the one that nobody sets."""

    def __init__(self) -> None:
        self._ahead_ns, self._doubt_ns = _ahead_ns()

    def stepped(self) -> bool:
        """Whether it was set since this was asked last."""
        ahead_ns, doubt_ns = self._ahead_ns, self._doubt_ns
        self._ahead_ns, self._doubt_ns = _ahead_ns()
        return abs(self._ahead_ns - ahead_ns) > STEP_NS + doubt_ns + self._doubt_ns


def _ahead_ns() -> tuple[int, int]:
    """Give by how much the clock is ahead of the one that nobody sets, and how wrong that may be."""
    before = time.monotonic_ns()
    now = time.time_ns()
    after = time.monotonic_ns()
    return now - (before + after) // 2, (after - before) // 2


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)
