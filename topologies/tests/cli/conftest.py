import pytest

from phb_lab.figures import Figure


@pytest.fixture
def figures_of_s390():
    return (
        Figure("fifo", "interactive.avg", "s", 4.57, 4.73353, low=4.26, high=5.21),
        Figure("wfq", "interactive.avg", "s", 0.39, 1.00288, high=0.35),
    )
