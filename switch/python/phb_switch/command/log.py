"""The log: where its lines go, and which."""

import logging
import queue
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from logging.handlers import MemoryHandler, QueueHandler, RotatingFileHandler
from typing import Final

from phb_switch.command.errors import InputError
from phb_switch.command.failures import Failures
from phb_switch.command.options import Logging

TRACE: Final = 5
"""Below `logging.DEBUG`, as in bmv2."""

LOG = logging.getLogger("phb_switch")

_LEVELS = {
    "trace": TRACE,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "off": logging.CRITICAL + 1,
}
_CLOSE_SECONDS = 2.0
_LINES_IN_QUEUE = 16_384
_LINES_IN_MEMORY = 256
"""How many lines may wait to be written to a file, unless each is to be written at once."""


class _Lossy(logging.Handler):
    """A full disk or a closed stream loses lines, and never stops the switch."""

    lost = 0
    failing: Callable[[str], None] | None = None
    """Whom to tell, once, why lines are lost."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Drops the line; the inherited way would print a traceback for each."""
        self.lost += 1
        if self.failing is not None:
            error = sys.exc_info()[1]
            self.failing(error.strerror or str(error) if isinstance(error, OSError) else repr(error))
            self.failing = None


class _Handler(_Lossy, logging.StreamHandler):  # type: ignore[type-arg]
    """To a stream."""


class _FileHandler(_Lossy, RotatingFileHandler):
    """To a file that is rotated by size."""


class _Writer(QueueHandler):
    """Hands lines to a thread that writes them, so that a reader who does not read holds up nobody but that thread."""

    def __init__(self, handler: logging.Handler) -> None:
        self._lines: queue.Queue[logging.LogRecord | None] = queue.Queue(_LINES_IN_QUEUE)
        super().__init__(self._lines)
        self._handler = handler
        self._thread = threading.Thread(target=self._write, name="log", daemon=True)
        self._thread.start()

    def _write(self) -> None:
        while (record := self._lines.get()) is not None:
            self._handler.handle(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Drops the line: there are too many to be written."""

    def finished(self) -> bool:
        """Ends the thread; whether all lines have been written."""
        try:
            self._lines.put(None, timeout=_CLOSE_SECONDS)
        except queue.Full:
            return False
        self._thread.join(_CLOSE_SECONDS)
        return not self._thread.is_alive()


def open_log(options: Logging, failures: Failures, stack: ExitStack) -> None:
    """Starts logging, until `stack` is closed.

    Without `--log-console` and `--log-file` there are only the lines that a user has to see, on stderr.

    Raises:
        InputError: the log file can't be written.

    """
    level = _LEVELS[options.level]
    target: _Lossy
    if options.console:
        target = _Handler(sys.stdout)
    elif options.file is not None:
        try:
            target = _FileHandler(
                options.file,
                maxBytes=options.max_bytes,
                backupCount=options.max_files,
                encoding="utf-8",
                errors="backslashreplace",
            )
        except OSError as error:
            raise InputError(f"--log-file {options.file}: {error.strerror}") from None
    else:
        target = _Handler(sys.stderr)
        level = max(level, logging.INFO)
    logging.addLevelName(TRACE, "TRACE")
    plain = options.is_apart
    where = str(options.file or "standard output")
    if plain:
        target.failing = lambda why: failures.say(f"{where}: {why}; the log goes on without what it doesn't take")
    target.setFormatter(
        logging.Formatter("[%(asctime)s.%(msecs)03d] [%(levelname)s] %(message)s", "%H:%M:%S")
        if plain
        else logging.Formatter("phb-switch: %(message)s")
    )
    handler: logging.Handler = target
    if options.file is not None and not options.flush:
        # Errors are written at once in any case.
        handler = MemoryHandler(_LINES_IN_MEMORY, flushLevel=logging.WARNING, target=target)
    writer = _Writer(handler)
    LOG.addHandler(writer)
    LOG.setLevel(level)
    LOG.propagate = False

    def close() -> None:
        LOG.removeHandler(writer)
        writer.close()
        if writer.finished():
            # What a full disk doesn't take by now has been said.
            with suppress(OSError):
                handler.close()
            with suppress(OSError):
                target.close()
            if plain and target.lost:
                failures.say(f"{where}: {target.lost} lines of the log could not be written")

    stack.callback(close)
