"""The command ``phb``: one module per command, what they share in `options` and `output`.

    application > options, output > one module per command > plugins > commands (all of them, in the order of the help)

Commands import what does the work when they are called, so that ``phb --help`` and shell completion are quick.
Results go to standard output, warnings and the one error to standard error.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from phb.cli.application import BAD_INPUT, INTERRUPTED, NO_MEMORY, OK, REFUSED
from phb.cli.interrupting import wake_for_ctrl_c
from phb.cli.output import print_errors


def run(arguments: Sequence[str]) -> int:
    """Run the command line; give its exit code. Errors that are the user's or the switch's become one message."""
    from phb.cli.commands import app
    from phb.errors import InputError, PhbError, PushInterruptedError

    try:
        code = app(list(arguments), prog_name="phb", standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        return _fail(str(error), BAD_INPUT)
    except PushInterruptedError as error:
        return _fail(str(error), INTERRUPTED)
    except PhbError as error:
        return _fail(str(error), REFUSED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        return _fail(NO_MEMORY, REFUSED)
    except SystemExit as end:
        # Typer ends silently where the reader of standard output has gone; a result that nobody got is an error here.
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        return _fail(f"standard output: {end.__context__.strerror}", REFUSED)
    except OSError as error:
        # An error without a file name is standard output's, full or closed: those of the user's files are InputErrors.
        return _fail(f"{error.filename or 'standard output'}: {error.strerror or error}", REFUSED)
    except Exception as error:
        # Wrong options: typer's own exception classes have moved between its versions, their interface hasn't.
        words = getattr(error, "format_message", None)
        if words is None:
            raise
        # A command without arguments has printed its help, and there is nothing to add.
        return _fail(words(), BAD_INPUT) if arguments and words() else BAD_INPUT
    return code if isinstance(code, int) else OK


def _fail(message: str, code: int) -> int:
    try:
        print_errors(f"phb: {message}")
    except OSError:
        _discard(sys.stderr.fileno())
    return code


def _discard(descriptor: int) -> None:
    """Send the rest of a buffer nowhere: it would fail again, with a traceback, when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def main() -> NoReturn:
    """Entry point of the command ``phb``."""
    # All that takes long to import, while Ctrl-C still ends the process at once.
    from phb.cli import commands  # noqa: F401

    try:
        # From here on there are locks, sessions and half-done pushes to clean up.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        wake_for_ctrl_c()
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    try:
        sys.stdout.flush()
    except OSError:
        _discard(sys.stdout.fileno())
    sys.exit(code)
