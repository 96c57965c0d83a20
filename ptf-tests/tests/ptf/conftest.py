"""What the suites came to, and which cases were skipped and why, at the end of a run of pytest."""

import pytest

from phb_ptf import report
from phb_ptf.transcript import Verdict

_RUNS = pytest.StashKey()


def pytest_configure(config):
    config.stash[_RUNS] = {}


@pytest.fixture
def runs(request):
    """Records by target and ports; filled by the test that runs them."""
    return request.config.stash[_RUNS]


def pytest_terminal_summary(terminalreporter):
    for (target, ports), records in terminalreporter.config.stash.get(_RUNS, {}).items():
        passed = sum(record.verdict is Verdict.PASS for record in records)
        skipped = "; ".join(report.skips(records)) or "nothing"
        terminalreporter.write_line(f"PTF on {target}, ports: {ports}: {passed} passed; skipped and why: {skipped}")
