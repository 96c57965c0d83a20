"""What all tests share: a seed, a state of their own, and closing lines on what was skipped and why."""

import os
import signal
from collections import Counter
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings

# How long an example takes says how busy the machine is. Timing is measured by `make bench`, never asserted.
# The same tree gives the same examples, as every other run here gives the same bytes for a seed: `phb`. To look for new
# ones, `pytest --hypothesis-profile search`.
settings.register_profile("phb", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("phb")

# No test reads or writes the history of whoever runs it, nor does a process whose environment is taken when its test is
# imported.
_STATE = TemporaryDirectory(prefix="phb-tests-")
os.environ["XDG_STATE_HOME"] = _STATE.name

# Shells start what they run in the background with interrupts ignored, and whatever tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have recorded as `summary` (`record_property`), and the skip reasons with their counts."""
    for report in terminalreporter.stats.get("passed", []):
        for name, words in report.user_properties:
            if name == "summary":
                terminalreporter.write_line(words)
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])
    )
    listed = "; ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))
    terminalreporter.write_line(f"skipped and why: {listed or 'nothing'}")
