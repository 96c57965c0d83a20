"""Which signals end the switch, and how it learns of them.

SIGINT, SIGTERM and SIGHUP do, each unless it was ignored from the start, as SIGHUP is under `nohup`. They are blocked
rather than handled: a handler could run anywhere, also in the middle of the clean-up. SIGUSR1 and SIGUSR2, by which
some daemons are told to rotate their logs, do nothing here.
"""

import signal
import threading
from types import TracebackType
from typing import Final, Self

ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WITHOUT_MEANING: Final = (signal.SIGUSR1, signal.SIGUSR2)


class Stopping:
    """From its entry to its exit, signals don't end the process: :meth:`wait` tells of them."""

    def __init__(self) -> None:
        self._ending = {each for each in ENDING if signal.getsignal(each) is not signal.SIG_IGN}
        self._told = threading.Event()

    def __enter__(self) -> Self:
        signal.pthread_sigmask(signal.SIG_BLOCK, self._ending)
        for each in WITHOUT_MEANING:
            signal.signal(each, signal.SIG_IGN)
        # A thread in sigwait, for sigtimedwait takes being stopped and continued for a signal when its time is over.
        threading.Thread(target=self._listen, name="signals", daemon=True).start()
        return self

    def _listen(self) -> None:
        signal.sigwait(self._ending)
        self._told.set()

    def wait(self, seconds: float) -> bool:
        """Whether the process has been told to end; waits that long for it."""
        return self._told.wait(seconds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._ending)
