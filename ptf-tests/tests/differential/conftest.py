"""One switch and one tally for all cases of a run; how many cases there are, and from which seeds."""

import logging

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from .programmed import Device
from .tally import Tally

# What is odd about a random packet is no news.
logging.getLogger("scapy").setLevel(logging.ERROR)


@pytest.fixture(scope="module")
def tally():
    return Tally()


@pytest.fixture(scope="module")
def device():
    return Device()


@pytest.fixture
def run_cases(device, tally):
    """Run so many cases; `batch` gives other ones. With `--hypothesis-profile search` they are others in every run."""

    def run(strategy, through, cases, batch):
        def one(case):
            tally["cases"] += 1
            try:
                through(device, case, tally)
            except BaseException:
                device.renew()
                raise

        test = settings(
            max_examples=cases,
            phases=[Phase.generate, Phase.shrink],
            database=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )(given(strategy)(one))
        return (seed(batch)(test) if settings.default.derandomize else test)()

    return run
