"""The log's end: what the disk doesn't take."""

import logging
from contextlib import ExitStack
from pathlib import Path

import pytest

from phb_switch.command.log import LOG, open_log
from phb_switch.command.options import Logging


@pytest.fixture(autouse=True)
def _as_before():
    level, propagate = LOG.level, LOG.propagate
    yield
    LOG.setLevel(level)
    LOG.propagate = propagate


def _log_to_a_full_disk(*, flush, failure=None):
    with ExitStack() as stack:
        open_log(Logging(level="info", file=Path("/dev/full"), flush=flush), stack)
        LOG.log(logging.INFO, "a line")
        if failure is not None:
            raise failure


@pytest.mark.parametrize("flush", [False, True])
def test_a_full_disk_neither_fails_at_the_end_nor_hides_why_the_switch_ended(flush):
    _log_to_a_full_disk(flush=flush)
    with pytest.raises(KeyError, match="why"):
        _log_to_a_full_disk(flush=flush, failure=KeyError("why"))
