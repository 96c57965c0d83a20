"""Targets that were missed, and what the captures say of those runs."""

from collections.abc import Sequence

from phb_lab.figures import Figure
from phb_lab.study import Run

from .evaluation import STREAMS
from .tests import TESTS, Setting

LABELS = {
    f"throughput_percent_of_link.{stream}.{counter}": f"{stream}'s share of the line, as {counts} it"
    for stream in STREAMS
    for counter, counts in (("router", "the router counts"), ("application", "the receivers count"))
} | {
    f"{test.published_delays}.{test.mtu_bytes}.{stream}{suffix}": words.format(stream)
    for test in TESTS
    for stream in STREAMS
    for suffix, words in (("", "mean one-way delay of {}"), (".p99", "99th percentile of {}'s one-way delay"))
}


def finding(runs: Sequence[Run[Setting]]) -> str:
    """Compare how long EF and the others wait."""
    delays: dict[bool, float] = {}
    for figure in (figure for run in runs for figure in run.figures if figure.unit == "ms"):
        if not figure.quantity.endswith(".p99"):
            is_ef = figure.quantity.endswith(".EF")
            delays[is_ef] = max(delays.get(is_ef, 0.0), figure.measured)
    if len(delays) < 2:
        return ""
    return (
        f"EF waits {delays[True]:.1f} ms at most on average while the five streams beside it wait up to "
        f"{delays[False]:.0f} ms; what a stream may hold of the buffers decides what it gets of the line, so shares "
        "come near to the policy's and do not reach them."
    )


def conclusions(runs: Sequence[Run[Setting]]) -> list[str]:
    """Say which figures are as asked, and what the captures say of runs that missed theirs."""
    asked = [figure for run in runs for figure in run.figures if figure.met is not None]
    missed = [figure for figure in asked if not figure.met]
    lines = [f"{len(asked) - len(missed)} of {len(asked)} figures lie where they were asked to"]
    lines += [
        f"{figure.test}: {figure.quantity} is {figure.measured:.2f} {figure.unit}, asked was {_asked(figure)}"
        for figure in missed
    ]
    for run in runs:
        if any(figure in missed and figure.unit == "%" for figure in run.figures):
            waits = ", ".join(f"{stream} {run.details.silent[stream]:.0f} %" for stream in STREAMS[1:])
            lines.append(f"{run.test.name}: of the time, connections waited for their retransmission timers: {waits}")
    return lines


def _asked(figure: Figure) -> str:
    if figure.low is None:
        return f"at most {figure.high:g}"
    return f"{figure.low:g} to {figure.high:g}"
