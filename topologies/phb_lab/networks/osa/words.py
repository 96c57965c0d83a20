"""How far a gain is from the published one, and why."""

from collections.abc import Sequence

from phb_lab.study import Run

from .tests import Setting

REASONS = {
    "mixed_rr_tps_gain": "The gain falls with the number of connections, which the source doesn't give.",
    "mixed_response_gain": "The gain falls with the number of connections, which the source doesn't give.",
    "mixed_streaming_gain": "Here the stream is limited by the processor that receives it, with and without requests.",
    "pure_streaming_gain_zos": "A sender that waits for its own processors fills the receiver's less often.",
}


def conclusions(runs: Sequence[Run[Setting]]) -> list[str]:
    """Say how far each gain is from the published one, where it is further than asked."""
    missed = [figure for run in runs for figure in run.figures if figure.met is False]
    return [
        f"{figure.test} {figure.quantity}: {figure.measured:+.0%}, published {figure.published:+.0%}. "
        f"{REASONS.get(figure.quantity, 'docs/networks/osa.md says why.')}"
        for figure in missed
    ]
