"""Where the runs of a sweep are run: dask.distributed, on this machine or on a real cluster."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from phb_lab.errors import LabError, UsageError
from phb_lab.sweeping.job import Job, Sample, run_job

# A scheduler that is there answers at once; a mistyped address should not take a user's half minute.
_CONNECT_S = 10


@contextmanager
def cluster(scheduler: str | None, workers: int) -> Iterator["Cluster"]:
    """A cluster to run jobs on.

    Args:
        scheduler: address of a running scheduler (``tcp://host:8786``), whose workers have phb installed; None starts
            worker processes here, and ends them with the context.
        workers: how many processes here.

    Raises:
        UsageError: nobody answers at the address, or distributed isn't installed.

    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise UsageError("sweep: distributed is not installed, expected pip install 'phb[sweep]'") from None
    if scheduler is None:
        local = LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR
        )
        with local, Client(local) as client:  # type: ignore[no-untyped-call]
            yield Cluster(client)
        return
    try:
        client = Client(scheduler, timeout=_CONNECT_S)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise UsageError(f"--scheduler {scheduler}: {_one_line(error)}, expected a running dask scheduler") from None
    with client:
        yield Cluster(client)


class Cluster:
    """Runs jobs; made by :func:`cluster`."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, jobs: Sequence[Job]) -> Iterator[Sample]:
        """Run all jobs at once; gives samples as they come, in any order.

        Raises:
            LabError: a worker died over and over, or phb isn't what it is here.

        """
        from distributed import as_completed

        # Runs are pure: the same job gives the same bytes, and dask may take a result that it has already.
        futures = self._client.map(run_job, jobs, pure=True)
        try:
            for future in as_completed(futures):  # type: ignore[no-untyped-call]
                if future.status == "error":
                    raise LabError(f"sweep: a worker failed: {_one_line(future.exception())}")
                sample: Sample = future.result()
                yield sample
        finally:
            self._client.cancel(futures)


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
