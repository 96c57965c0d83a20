"""The log: where its lines go, and which."""

import logging
import sys
from contextlib import ExitStack
from logging.handlers import MemoryHandler, RotatingFileHandler
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
    if options.file is not None and not options.flush:
        # Errors are written at once in any case.
        handler = MemoryHandler(_LINES_IN_MEMORY, flushLevel=logging.WARNING, target=handler)
    LOG.addHandler(handler)
    LOG.setLevel(level)
    LOG.propagate = False

    def close() -> None:
        LOG.removeHandler(handler)
        target = handler.target if isinstance(handler, MemoryHandler) else None
        handler.close()
        if target is not None:
            target.close()

    stack.callback(close)
