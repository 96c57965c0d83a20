"""Thresholds of early detection (RFC 2309, RFC 7567) that can't have an effect."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.traffic import class_queues
from phb.model import Colour, DropProfile, EarlyDetection, PolicySet

NO_RANGE, ABOVE_LIMIT, REVERSED = (
    "early-detection-without-range",
    "early-detection-above-limit",
    "early-detection-reversed",
)
_COLOURS = tuple(Colour)


def _find(context: Context) -> Iterator[Finding]:
    for where, detection, limit in _all(context.policy):
        for profile in detection.profiles:
            yield from _profile(where, profile, limit)
        yield from _reversed(where, detection)


def _all(policy: PolicySet) -> Iterator[tuple[str, EarlyDetection, int | None]]:
    """Give each early detection with its place, and the most packets that its queue holds."""
    for queueing in policy.queueing:
        if queueing.early_detection is not None:
            yield f"port '{queueing.port}'", queueing.early_detection, queueing.hold_queue
    for queueing, queue in class_queues(policy):
        if queue.early_detection is not None:
            limits = [limit for limit in (queue.queue_limit, queueing.hold_queue) if limit is not None]
            where = f"class '{queue.traffic_class}' at port '{queueing.port}'"
            yield where, queue.early_detection, min(limits, default=None)


def _profile(where: str, profile: DropProfile, limit: int | None) -> Iterator[Finding]:
    if profile.minimum == profile.maximum:
        yield Finding(
            NO_RANGE,
            Severity.WARNING,
            profile.origin("minimum"),
            f"early detection of {where} has minimum {profile.minimum} at its maximum",
            "no packet is dropped early: from that average on all are, which is tail drop and synchronises TCP",
            "put the minimum well below the maximum (half of it is common)",
        )
    if limit is not None and profile.minimum >= limit:
        yield Finding(
            ABOVE_LIMIT,
            Severity.ERROR,
            profile.origin("minimum"),
            f"early detection of {where} begins at {profile.minimum} packets, and the queue holds {limit}",
            "the queue is full before anything is dropped early: only tail drop remains",
            f"put the minimum well below {limit}, or make the queue longer",
        )
    elif limit is not None and profile.maximum > limit:
        yield Finding(
            ABOVE_LIMIT,
            Severity.WARNING,
            profile.origin("maximum"),
            f"early detection of {where} ends at {profile.maximum} packets, and the queue holds {limit}",
            "the average hardly gets that far, so the highest probabilities never happen, and tail drop comes first",
            f"put the maximum at most at {limit}, or make the queue longer",
        )


def _reversed(where: str, detection: EarlyDetection) -> Iterator[Finding]:
    """Find higher drop precedences that are kept longer, which RFC 2597 section 2 forbids."""
    profiles = sorted(
        (profile for profile in detection.profiles if _precedence(profile) is not None),
        key=lambda profile: _precedence(profile) or ("", 0),
    )
    for better, worse in pairwise(profiles):
        one, other = _precedence(better), _precedence(worse)
        if one is None or other is None or one[0] != other[0]:
            continue
        if worse.minimum > better.minimum or worse.maximum > better.maximum:
            yield Finding(
                REVERSED,
                Severity.WARNING,
                worse.origin("minimum"),
                f"early detection of {where} keeps {_name(worse)} ({worse.minimum}-{worse.maximum}) longer than "
                f"{_name(better)} ({better.minimum}-{better.maximum})",
                "a higher drop precedence is to be dropped first (RFC 2597 section 2)",
                "exchange the thresholds",
            )


def _precedence(profile: DropProfile) -> tuple[str, int] | None:
    """Give the group within which a profile is compared, and its drop precedence there."""
    if profile.colour is not None:
        return "colour", _COLOURS.index(profile.colour)
    if profile.dscp is not None and is_assured(profile.dscp):
        return f"AF{profile.dscp >> 3}", profile.dscp >> 1 & 3
    return None


def is_assured(dscp: int) -> bool:
    """Whether it is one of the twelve AF code points (RFC 2597 section 6)."""
    return 1 <= dscp >> 3 <= 4 and dscp & 1 == 0 and dscp >> 1 & 3 != 0


def assured_name(dscp: int) -> str:
    """Give the name of an AF code point, such as AF31."""
    return f"AF{dscp >> 3}{dscp >> 1 & 3}"


def _name(profile: DropProfile) -> str:
    if profile.colour is not None:
        return profile.colour.value
    assert profile.dscp is not None
    return assured_name(profile.dscp)


CHECK = Check({NO_RANGE: Severity.WARNING, ABOVE_LIMIT: Severity.ERROR, REVERSED: Severity.WARNING}, _find)
