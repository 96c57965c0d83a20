"""Runs as the JSON document that ``phb-lab run --json`` writes."""

from collections.abc import Sequence
from typing import Any

from phb_lab.results import results
from phb_lab.study import Run, Study


def document(study: Study, runs: Sequence[Run], extra: Sequence[Run]) -> dict[str, Any]:
    """The results of tests of one study, run the same way; everything but ``wall_s`` follows from the seed."""
    first = runs[0]
    return results(
        network=study.name,
        mode=first.mode,
        target=first.target,
        seed=first.seed,
        wall_s=sum(run.outcome.wall_s for run in runs),
        simulated_s=float(sum(run.duration_s for run in runs)),
        figures=[figure for run in runs for figure in run.figures],
        more={
            "options": dict(first.options),
            "assumptions": list(dict.fromkeys(line for run in runs for line in run.network.assumptions)),
            "explanations": [*(line for run in runs for line in run.remarks), *study.conclusions(runs, extra)],
            "conservation": {run.test.name: [vars(node) for node in run.outcome.conservation] for run in runs},
            "snapshots": {run.test.name: dict(run.outcome.snapshots) for run in runs if run.outcome.snapshots},
            "extra": [
                {
                    "test": run.test.name,
                    "options": dict(run.options),
                    **{figure.quantity: round(figure.measured, 6) for figure in run.figures},
                }
                for run in extra
            ],
        },
    )
