"""The tests, in the order of the source."""

from dataclasses import dataclass
from typing import Literal

from phb_lab.study import Test

# "12 client/server connections between the two LPARs".
STREAMS = 12
# NetMarks ran "multiple instances": so many logical units send in turn; the adapter sees no difference.
BULK_LUS = 12


@dataclass(frozen=True)
class Load(Test):
    """One test.

    Attributes:
        kind: which network of :mod:`phb_lab.networks.cip.description`.
        size: channels, pings, physical or logical units, or sessions of a CIP, whatever counts in it.
        warm_up_s: when measuring begins.
    """

    kind: Literal["ping", "tcp", "ftp", "csna", "csna-bulk", "tn3270", "cmpc"] = "ping"
    size: int = 1
    cips: int = 1
    warm_up_s: int = 1


TESTS = (
    Load("ping-1", "4 KB pings, one channel", 20, 20, "ping", 1),
    Load("ping-2", "4 KB pings, two channels", 20, 20, "ping", 2),
    Load("tcp-stream", "12 TCP streams from partition to partition", 30, 30, "tcp", STREAMS, warm_up_s=2),
    Load("ftp", "file transfers from four workstations, one channel", 30, 30, "ftp", 0, warm_up_s=2),
    Load("ftp-ping", "the same file transfers beside one 4 KB ping", 30, 30, "ftp", 1, warm_up_s=2),
    Load("csna-6000-pu", "6,000 physical units", 60, 60, "csna", 6_000, warm_up_s=10),
    Load("csna-16000-lu", "16,000 logical units of 3,200 stations", 60, 60, "csna", 16_000, warm_up_s=10),
    Load("csna-bulk", "7.4 MB/s of SNA frames, two channels", 20, 20, "csna-bulk", BULK_LUS, warm_up_s=2),
    Load("tn3270-1000", "1,000 TN3270 sessions without a pause", 60, 60, "tn3270", 1_000, warm_up_s=10),
    Load("tn3270-16000", "16,000 paced TN3270 sessions", 120, 60, "tn3270", 16_000, warm_up_s=40),
    Load("tn3270-two-cips", "two CIPs with 16,000 sessions each", 120, 60, "tn3270", 16_000, 2, 40),
    Load("cmpc", "frames of 4 KB from mainframe to mainframe, two CIPs", 20, 20, "cmpc", BULK_LUS, 2, 2),
)
