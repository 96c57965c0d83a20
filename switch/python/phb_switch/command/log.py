"""The log: where its lines go, and which."""

import logging
import queue
import sys
import threading
from contextlib import ExitStack, suppress
from logging.handlers import MemoryHandler, QueueHandler, RotatingFileHandler
from typing import Final

from phb_switch.command.errors import InputError
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


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """To a stream. A stream that is full or closed loses lines, and never stops the switch."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Drops the line; the inherited way would print a traceback for each."""


class _FileHandler(RotatingFileHandler):
    """To a file that is rotated by size."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Drops the line: a full disk must not stop the switch."""


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


def open_log(options: Logging, stack: ExitStack) -> None:
    """Starts logging, until `stack` is closed.

    Without `--log-console` and `--log-file` there are only the lines that a user has to see, on stderr.

    Raises:
        InputError: the log file can't be written.

    """
    level = _LEVELS[options.level]
    handler: logging.Handler
    if options.console:
        handler = _Handler(sys.stdout)
    elif options.file is not None:
        try:
            handler = _FileHandler(options.file, maxBytes=options.max_bytes, backupCount=options.max_files)
        except OSError as error:
            raise InputError(f"--log-file {options.file}: {error.strerror}") from None
    else:
        handler = _Handler(sys.stderr)
        level = max(level, logging.INFO)
    logging.addLevelName(TRACE, "TRACE")
    plain = options.console or options.file is not None
    handler.setFormatter(
        logging.Formatter("[%(asctime)s.%(msecs)03d] [%(levelname)s] %(message)s", "%H:%M:%S")
        if plain
        else logging.Formatter("phb-switch: %(message)s")
    )
    target = handler
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
            # What a full disk doesn't take is lost, as it was all along; how the switch ended is not to change by that.
            with suppress(OSError):
                handler.close()
            with suppress(OSError):
                target.close()

    stack.callback(close)
