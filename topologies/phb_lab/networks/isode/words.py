"""Why the source's settings failed and ours do not."""

from collections.abc import Sequence

from phb_lab.study import Run

from .evaluation import Transfer
from .tables import details_of
from .tests import Setting


def conclusions(runs: Sequence[Run[Setting]]) -> list[str]:
    """Why the source's settings failed and ours do not, with the figures of these runs."""
    by_name = {run.test.name: run for run in runs}
    said = []
    if "shaped" in by_name:
        transfer = details_of(by_name["shaped"]).transfers[0]
        if transfer.transaction is not None:
            said.append(
                f"Shaped: {transfer.kbps:.0f} kbit/s of a message are {transfer.ip_kbps:.0f} kbit/s of IP packets "
                '(published: 359 and "just over 400").'
            )
    if "one-queue-load-defaults" in by_name:
        loaded = _loaded(by_name["one-queue-load-defaults"])
        said.append(
            "One queue, Cisco's thresholds: the load brings twice what the line takes, and early detection drops at "
            "most one packet of ten below its maximum of 40 packets. So the average stands at 40, where everything is "
            f"dropped whatever its mark: {loaded.lost} of the CS2 message's {loaded.segments} segments, each "
            f"{loaded.inside_s:.2f} s late. TCP gives up its window after a few of them."
        )
    if "one-queue-load-printed" in by_name:
        run = by_name["one-queue-load-printed"]
        loaded = _loaded(run)
        window = run.options["window_bytes"]
        said.append(
            "One queue, printed thresholds: the average stands at 40 packets, the load's maximum, where CS2 begins to "
            f"be dropped: {loaded.lost} of {loaded.segments} segments. But each waits {loaded.inside_s:.2f} s behind "
            f"the load, and a window of {window:,} bytes per {loaded.inside_s:.2f} s is "
            f"{window * 8 / 1000 / loaded.inside_s:.0f} kbit/s at most; the message got "
            f"{loaded.kbps:.0f}. A window of 8,760 bytes, or losses, bring it closer to the published 59."
            if loaded.transaction is not None
            else "One queue, printed thresholds: the message was not delivered in this run."
        )
    if "answer" in by_name:
        loaded = _loaded(by_name["answer"])
        said.append(
            f"The answer: {loaded.lost} of the CS2 message's {loaded.segments} segments dropped, {loaded.inside_s:.2f} "
            "s in the router. The load has 16 of 512 kbit/s at its own mark; the rest is marked down and dropped as "
            "soon as two packets wait, so it fills what the messages leave, and messages at CS0 and CS1 do not share "
            "its losses. A message of 1 MByte loses another 3 % to the load that the shaper's burst of 64,000 bytes "
            "gives a message on an idle line."
        )
    return said


def _loaded(run: Run[Setting]) -> Transfer:
    """The message beside the load: the second one of its test."""
    return details_of(run).transfers[1]
