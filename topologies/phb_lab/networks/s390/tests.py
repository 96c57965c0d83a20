"""The eight tests: marking, queueing, adapter."""

from dataclasses import dataclass

from phb_lab.figures import read_published
from phb_lab.study import Test

PUBLISHED = read_published(__file__)


@dataclass(frozen=True)
class Setting(Test):
    """One of the eight: its published name is ``MARKING-QUEUEING-ADAPTER``."""

    marking: str = "diffserv"
    queueing: str = "fifo"
    adapter: str = "cip"


_TITLES = {
    "diffserv": "differentiated services",
    "ipprec": "IP precedence",
    "fifo": "FIFO",
    "wfq": "flow WFQ",
    "cip": "CIP",
    "osa2": "OSA-2",
}

TESTS = tuple(
    Setting(
        name=f"{marking}-{queueing}-{adapter}",
        title=f"{_TITLES[marking]}, {_TITLES[queueing]}, {_TITLES[adapter]}",
        duration_s=int(PUBLISHED["traffic"]["duration_s"]),
        marking=marking,
        queueing=queueing,
        adapter=adapter,
    )
    for queueing in ("fifo", "wfq")
    for marking in ("diffserv", "ipprec")
    for adapter in ("cip", "osa2")
)
