"""Why the source's settings failed and ours do not."""

import re
from collections.abc import Sequence

from phb_lab.study import Run

from .evaluation import Transfer
from .tables import details_of
from .tests import Setting

_SIZE = re.compile(r"(\d+)([kM])")
_UNITS = {"k": "kByte", "M": "MByte"}
_MEASURES = {"s": "time of {}", "kbps": "rate of {}", "of_base": "rate of {}, as a share of the unloaded one"}
_SETTINGS = {"first_settings": "under Cisco's thresholds", "standard_wred": "under the printed thresholds"}
_WHEN = {"alone": ", alone", "before": ", before the load"}
_TESTS = {
    "round1_unshaped_2mbps.single": "messages alone, unshaped",
    "round2_shaped_512k": "the load alone, shaped to 512 kbit/s",
    "round2_shaped_512k.single": "messages alone, shaped to 512 kbit/s",
    "round2_shaped_512k.two_queues_cs1_50_cs2_50.message_vs_message": "a queue per class: message beside message",
    "round2_shaped_512k.two_queues_cs1_50_cs2_50.with_cs1_background": "a queue per class: messages beside the load",
    "round2_shaped_512k.single_queue_ordered_dropping.single": "one queue, ordered dropping: messages alone",
    "round2_shaped_512k.single_queue_ordered_dropping.cs1_background_vs_cs2_1M": (
        "one queue, ordered dropping: a CS2 message beside the CS1 load"
    ),
}
_PARALLEL = "round1_unshaped_2mbps.parallel_10M_s."


def label(name: str) -> str:
    """Name a quantity (``immediate_1M_alone.kbps``) or a test of the source in words."""
    if name in _TESTS:
        return _TESTS[name]
    if name.startswith(_PARALLEL):
        return f"{int(name.removeprefix(_PARALLEL)) + 2} messages of 10 MByte at once, unshaped"
    if name.endswith("background_utilisation_bps"):
        return "rate of the load"
    message, _, measure = name.partition(".")
    start, _, last = message.rpartition("_")
    kind, when = (start, _WHEN[last]) if last in _WHEN else (message, "")
    said = f"the message {_SETTINGS[kind]}" if kind in _SETTINGS else _message(kind)
    return _MEASURES[measure or "s"].format(said + when)


def _message(kind: str) -> str:
    """Name a message by precedence and size, ``flash_1M``, of which one may be missing."""
    words = kind.split("_")
    size = _SIZE.fullmatch(words[-1])
    precedence = words[: -1 if size else None]
    return " ".join(("the", *precedence, "message")) + (f" of {size[1]} {_UNITS[size[2]]}" if size else "")


def finding(runs: Sequence[Run[Setting]]) -> str:
    """Say what the answer to the source's open question keeps of a message's rate."""
    for run in runs:
        if run.test.name == "answer":
            kept = run.figure("immediate_1M.of_base").measured
            return (
                "One queue is enough where the load's excess is marked down and dropped first: a message beside the "
                f"load keeps {kept:.0%} of its unloaded rate, which the source had left open."
            )
    return ""


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
