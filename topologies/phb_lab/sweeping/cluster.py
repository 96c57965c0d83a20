"""Where the runs of a sweep are run: dask.distributed, on this machine or on a real cluster."""

import logging
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

from phb_lab.errors import LabError, UsageError
from phb_lab.sweeping.job import Job, Sample, run_job

# A running scheduler answers at once; a mistyped address should not take half a minute.
_CONNECT_S = 10
# How often a sweep looks whether the user asked to stop.
_LOOK_S = 0.5


@contextmanager
def cluster(scheduler: str | None, workers: int) -> Iterator["Cluster"]:
    """A cluster to run jobs on: a running ``scheduler`` (``tcp://host:8786``), or ``workers`` processes here.

    The scheduler's workers must have phb installed; processes here end with the context.

    Raises:
        UsageError: no answer from the address, or distributed isn't installed.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise UsageError("sweep: distributed is not installed, expected pip install 'phb[sweep]'") from None
    if scheduler is None:
        with _deaf_to_ctrl_c():
            # Errors come with results; workers would only report heartbeats that the end cut short.
            local = LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
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


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Start processes that Ctrl-C, which a terminal sends to all of them, does not end: the sweep ends them itself.

    Threads and processes inherit what is blocked. Here the signal waits until the end of the block.
    """
    resource_tracker.ensure_running()  # which unblocks the signal where it is started, so not by the first worker
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Cluster:
    """Runs jobs; made by :func:`cluster`."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, jobs: Sequence[Job], check: Callable[[], None]) -> Iterator[Sample]:
        """Run all jobs at once; gives samples as they come, in any order.

        ``check`` is called over and over meanwhile; what it raises ends the sweep.

        Raises:
            LabError: a worker died over and over, or phb isn't what it is here.
        """
        from distributed import wait

        # Runs are pure: the same job gives the same bytes, and dask may take a result that it has already.
        futures = self._client.map(run_job, jobs, pure=True)
        waiting = set(futures)
        try:
            while waiting:
                check()
                try:
                    done = wait(waiting, timeout=_LOOK_S, return_when="FIRST_COMPLETED").done  # type: ignore[no-untyped-call]
                except TimeoutError:
                    continue
                waiting -= done
                for future in done:
                    if future.status == "error":
                        raise LabError(f"sweep: a worker failed: {_one_line(future.exception())}")
                    sample: Sample = future.result()
                    yield sample
        finally:
            self._client.cancel(futures)


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
