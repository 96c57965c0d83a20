"""Names of figures in words, and why some gains are far from the published ones."""

from collections.abc import Sequence

from phb_lab.study import Run

from .tests import Setting

REASONS = {
    "mixed_rr_tps_gain": "The gain falls with the number of connections, which the source doesn't give.",
    "mixed_response_gain": "The gain falls with the number of connections, which the source doesn't give.",
    "mixed_streaming_gain": "Here the stream is limited by the processor that receives it, with and without requests.",
    "pure_streaming_gain_zos": "A sender that waits for its own processors fills the receiver's less often.",
}

_GAINS = {
    "inbperf": "INBPERF",
    "dynamic_lan_idle": "dynamic LAN idle",
    "inbound_workload_queueing": "inbound workload queueing",
    "rr1_tps_gain": "gain in transaction rate, RR1",
    "rr1_response_gain": "gain in response time, RR1",
    "rr10_tps_gain": "gain in transaction rate, RR10",
    "rr10_response_gain": "gain in response time, RR10",
    "mixed_rr_tps_gain": "gain in transaction rate beside a stream",
    "mixed_response_gain": "gain in response time beside a stream",
    "mixed_streaming_gain": "gain of the stream beside requests",
    "pure_streaming_gain_aix": "gain of streams from AIX",
    "pure_streaming_gain_zos": "gain of streams from z/OS",
    "times": "rate, right-sized over fixed",
}
# Sides of a comparison, and what is measured on each.
_SIDES = (
    (
        {name: name.upper() for name in ("minlatency", "balanced", "mincpu", "dynamic", "iwq")},
        {
            "rr1_tps": "transaction rate of RR1",
            "streaming": "rate of the stream",
            "packets_per_interrupt": "packets per interrupt",
            "out_of_order": "segments out of order",
        },
    ),
    (
        {"one-queue": "one queue", "mapped": "four queues"},
        {
            f"queue{number}.{key}": f"{word} of priority {number}"
            for number in range(1, 5)
            for key, word in (("delay", "delay"), ("lost", "loss"))
        },
    ),
    (
        {"none": "no offload", "checksum": "checksum offload", "both": "checksum and segmentation offload"},
        {"processor_s_per_gb": "processor time per gigabyte", "throughput": "rate"},
    ),
    (
        {"stack": "through the stack", "accelerator": "through the accelerator"},
        {"rr20_tps": "transaction rate of RR20", "processor_us_per_packet": "processor time per packet"},
    ),
    ({"fixed": "fixed window", "right-sized": "dynamic right sizing"}, {"throughput": "rate"}),
)
LABELS = _GAINS | {
    f"{side}.{key}": f"{measure}, {side_words}"
    for sides, measures in _SIDES
    for side, side_words in sides.items()
    for key, measure in measures.items()
}


def finding(runs: Sequence[Run[Setting]]) -> str:
    """Compare the gains in transaction rate that the source prints with ours; empty where neither was measured."""
    figures = {figure.quantity: figure for run in runs for figure in run.figures}
    said = [
        f"{cause} {figure.measured:+.0%} (published {figure.published:+.0%})"
        for quantity, cause in (
            ("rr10_tps_gain", "a dynamic LAN-idle timer changes the rate of requests by"),
            ("mixed_rr_tps_gain", "inbound queues of their own change it, beside a stream, by"),
        )
        if (figure := figures.get(quantity)) is not None and figure.published is not None
    ]
    sentence = ", and ".join(said)
    return f"{sentence[0].upper()}{sentence[1:]}." if said else ""


def conclusions(runs: Sequence[Run[Setting]]) -> list[str]:
    """Say how far each gain is from the published one, where it is further than asked."""
    missed = [figure for run in runs for figure in run.figures if figure.met is False]
    return [
        f"{figure.test} {figure.quantity}: {figure.measured:+.0%}, published {figure.published:+.0%}. "
        f"{REASONS.get(figure.quantity, 'docs/networks/osa.md says why.')}"
        for figure in missed
    ]
