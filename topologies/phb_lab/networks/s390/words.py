"""Why the figures differ, with those of the run."""

from collections.abc import Sequence
from statistics import fmean

from phb_lab.study import Run

from .tables import details_of, ring_of
from .tests import Setting

_TRAFFIC = {"interactive": "the interactive traffic", "ftp": "the file transfers", "total": "all traffic"}
_MEASURES = {
    "n": "transactions of {}",
    "avg": "response of {}, mean of the connections",
    "avg_pooled": "response of {}, mean of all transactions",
    "min": "shortest response of {}",
    "max": "longest response of {}",
    "pair_min_n": "fewest transactions of a connection of {}",
    "bytes_sent": "bytes sent by {}",
    "bytes_received": "bytes received by {}",
}
LABELS = {
    f"{group}.{measure}": words.format(traffic)
    for group, traffic in _TRAFFIC.items()
    for measure, words in _MEASURES.items()
} | {
    "show_queue.weight": "weight of a conversation in show queue",
    "show_queue.tos": "type of service of a conversation in show queue",
    "show_queue.length": "packet length in show queue",
}


def finding(runs: Sequence[Run[Setting]]) -> str:
    """Compare the interactive response under both queueing disciplines; empty where one did not run."""
    measured, published = {}, {}
    for queueing in ("fifo", "wfq"):
        figures = [run.figure("interactive.avg") for run in runs if run.test.queueing == queueing]
        if not figures:
            return ""
        measured[queueing] = fmean(figure.measured for figure in figures)
        published[queueing] = fmean(figure.published or 0.0 for figure in figures)
    return (
        f"People at terminals wait {measured['fifo']:.1f} s for an answer under FIFO and {measured['wfq']:.1f} s under "
        f"flow WFQ, with the same line and the same file transfers (published: {published['fifo']:.1f} s and "
        f"{published['wfq']:.1f} s)."
    )


def conclusions(main: Sequence[Run[Setting]], others: Sequence[Run[Setting]]) -> list[str]:
    """Explain the differences, with the figures of this run."""
    fair = [run for run in main if "-wfq-" in run.test.name]
    said = []
    if fair:
        response = fmean(run.figure("interactive.avg_pooled").measured for run in fair)
        inside = fmean(details_of(run).passages["interactive"].mean_s for run in fair)
        published = fmean(run.figure("interactive.avg").published or 0.0 for run in fair)
    if fair and response < published:
        said.append(
            f"WFQ, interactive response (and with it n, total.n and total.bytes_sent): {inside:.3f} s of our "
            f"{response:.3f} s are spent in the 7513. The published {published:.3f} s need "
            f"{published - response:.3f} s more per transaction, and nothing that the source describes spends them."
        )
    by_ring = {
        ring: fmean(run.figure("interactive.avg").measured for run in (*main, *others) if _is(run, ring))
        for ring in sorted({ring_of(run) for run in (*main, *others)})
        if any(_is(run, ring) for run in (*main, *others))
    }
    if len(by_ring) > 1:
        low, high = min(by_ring), max(by_ring)
        slope = (by_ring[high] - by_ring[low]) / (high - low)
        said.append(
            f"WFQ by transmit ring: {', '.join(f'{ring}: {value:.3f} s' for ring, value in by_ring.items())}; a packet "
            f"of ring costs {slope:.3f} s. About six packets behind the scheduler would give the published response. "
            "The source's configuration says one; its text says that the hardware buffers were lowered, not to what. "
            "So six fits; it is not a finding."
        )
    said.append(
        "Minima and maxima are single transactions out of hundreds; over seeds they scatter by seconds. The published "
        "FIFO minima of 0.06 to 1.1 s are those of a line that is not congested yet (a request and its reply take "
        "50 ms); our interactive traffic starts when it is."
    )
    if not fair:
        return said
    said.append(
        "Our WFQ interactive maxima lie in the first seconds, when the thirty transfers' finish tags still coincide: "
        "self-clocked fair queueing lets a packet wait for one packet of every other conversation, here 30 x 47 ms."
    )
    said.append(
        "Averages are means over pairs of each pair's average, as in the source: its total rows are the group averages "
        "weighted by 3 and 30 pairs. So its WFQ transfers, whose n x average comes to 383 s in 300 s, need not be "
        "wrong: a mean over pairs exceeds the mean over transactions where pairs are served unequally."
    )
    return said


def _is(run: Run[Setting], ring: int) -> bool:
    return "-wfq-" in run.test.name and ring_of(run) == ring
