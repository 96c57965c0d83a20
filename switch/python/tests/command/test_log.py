"""The log: what the disk doesn't take."""

import logging
from contextlib import ExitStack
from pathlib import Path

import pytest

from phb_switch.command.errors import FailedError
from phb_switch.command.failures import Failures
from phb_switch.command.log import LOG, open_log
from phb_switch.command.options import Logging


@pytest.fixture(autouse=True)
def _as_before():
    level, propagate = LOG.level, LOG.propagate
    yield
    LOG.setLevel(level)
    LOG.propagate = propagate


def _log_to_a_full_disk(*, flush, lines=1, failure=None):
    failures = Failures()
    with ExitStack() as stack:
        open_log(Logging(level="info", file=Path("/dev/full"), flush=flush), failures, stack)
        for _ in range(lines):
            LOG.log(logging.INFO, "a line")
        if failure is not None:
            raise failure
    failures.check()


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("lines", [1, 1000])
def test_a_full_disk_is_said_once_and_is_in_the_exit_code(capsys, flush, lines):
    with pytest.raises(FailedError, match=r"^failed: not all files are whole$"):
        _log_to_a_full_disk(flush=flush, lines=lines)
    assert capsys.readouterr().err.splitlines() == [
        "phb-switch: /dev/full: No space left on device; the log goes on without what it doesn't take",
        f"phb-switch: /dev/full: {lines} lines of the log could not be written",
    ]


@pytest.mark.parametrize("flush", [False, True])
def test_a_full_disk_does_not_hide_why_the_switch_ended(flush):
    with pytest.raises(KeyError, match="why"):
        _log_to_a_full_disk(flush=flush, failure=KeyError("why"))
