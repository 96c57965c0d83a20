"""The comparisons, with the workloads that they compare."""

from dataclasses import dataclass

from phb_lab.study import Test


@dataclass(frozen=True)
class Setting(Test):
    """One comparison, with the workloads that it compares."""

    connections: int = 0


TESTS = (
    Setting("lan-idle-rr1", "dynamic against static LAN idle, one connection", 1, 1, connections=1),
    Setting("lan-idle-rr10", "dynamic against static LAN idle, ten connections", 1, 1, connections=10),
    Setting("iwq-mixed", "inbound workload queueing, requests beside a stream", 1, 1, connections=10),
    Setting("iwq-streaming-aix", "inbound workload queueing, a stream from AIX", 1, 1),
    Setting("iwq-streaming-zos", "inbound workload queueing, a stream from z/OS to z/OS", 1, 1),
    Setting("inbperf", "the four INBPERF settings while traffic shifts", 1, 1),
    Setting("outbound-priorities", "outbound priority queues against one queue, under overload", 1, 1),
    Setting("offload", "segmentation and checksum offload", 1, 1),
    Setting("accelerator", "sysplex distributor by the stack and by the QDIO accelerator", 1, 1, connections=20),
    Setting("right-sizing", "dynamic right sizing over a long fat path", 1, 1),
)
