"""The two or more sides of each comparison, on islands that no wire joins."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import phb_examples
from phb_lab import data_files
from phb_lab.description import (
    Adapter,
    Datagrams,
    Network,
    Port,
    RequestResponse,
    Switch,
    Wire,
)
from phb_lab.figures import read_published

from .islands import MILLISECOND, REPLY_BYTES, REQUEST_BYTES, STOP_NS, WINDOW_BYTES, Parts, nic, osa
from .tests import Setting

PUBLISHED = read_published(__file__)

EXAMPLES = Path(phb_examples.__file__).parent / "osa"
# PriorityTosMapping of the S/390 source's Policy Agent (appendix B), under SubnetTosMask 11100000.
PRIORITY_MASK = 0b1110_0000

PRIORITIES = (
    (1, 0b1110_0000),
    (1, 0b1100_0000),
    (1, 0b1010_0000),
    (2, 0b1000_0000),
    (2, 0b0110_0000),
    (2, 0b0100_0000),
    (3, 0b0010_0000),
    (3, 0b0000_0000),
)


def _lan_idle(test: Setting) -> Network:
    parts = Parts()
    for label, inbperf in (("static", "balanced"), ("dynamic", "dynamic")):
        parts.pair(label, osa(inbperf), osa(inbperf)).ask(test.connections)
    return parts.network(test.name)


SIDES = (("dynamic", False), ("iwq", True))


def _iwq_mixed(test: Setting) -> Network:
    parts = Parts()
    for label, queueing in SIDES:
        island = parts.pair(label, osa(workload_queueing=queueing), nic())
        island.ask(test.connections)
        island.stream(inbound=True)
    return parts.network(test.name)


def _iwq_streaming(test: Setting) -> Network:
    parts = Parts()
    for label, queueing in SIDES:
        near = osa(workload_queueing=queueing)
        parts.pair(label, near, nic() if test.name.endswith("aix") else near).stream(inbound=True)
    return parts.network(test.name)


# One precedence for each outbound queue that the source's mapping uses; it leaves queue 4 empty.
CLASSES = {"queue1": 0b1010_0000, "queue2": 0b0100_0000, "queue3": 0b0000_0000}
CLASS_PAYLOAD = 1_400
CLASS_INTERVAL_NS = 28_000  # 1,400 bytes each: 0.41 Gbit/s per class on the wire
PRIORITY_RATE_BPS = 1_000_000_000


def _priorities(test: Setting) -> Network:
    parts = Parts()
    for label, mapped in (("one-queue", False), ("mapped", True)):
        near = osa(
            rate_bps=PRIORITY_RATE_BPS,
            priority_mask=PRIORITY_MASK,
            priorities=PRIORITIES if mapped else (),
            queue_packets=128,
        )
        island = parts.pair(label, near, nic())
        for place, (name, tos) in enumerate(CLASSES.items()):
            parts.flows.append(
                Datagrams(
                    name=f"{label}-{name}",
                    group=name,
                    client=island.near,
                    client_address=island.near_address,
                    server=island.far,
                    server_address=island.far_address,
                    server_port=5000 + place,
                    payload_bytes=CLASS_PAYLOAD,
                    interval_ns=CLASS_INTERVAL_NS,
                    start_ns=place * CLASS_INTERVAL_NS // len(CLASSES),
                    stop_ns=STOP_NS,
                    tos=tos,
                )
            )
    return parts.network(test.name)


OFFLOADS: dict[str, dict[str, Any]] = {
    "none": {"segmentation_offload": False, "checksum_offload": False},
    "checksum": {"segmentation_offload": False, "checksum_offload": True},
    "both": {"segmentation_offload": True, "checksum_offload": True},
}


def _offload(test: Setting) -> Network:
    parts = Parts()
    for label, offload in OFFLOADS.items():
        parts.pair(label, osa(workload_queueing=True, **offload), nic()).stream(inbound=False)
    return parts.network(test.name)


INBPERF = ("minlatency", "balanced", "mincpu", "dynamic")
SHIFT_NS = STOP_NS // 2


def _inbperf(test: Setting) -> Network:
    """Traffic that shifts: requests in the first half, a stream in the second."""
    parts = Parts()
    for inbperf in INBPERF:
        island = parts.pair(inbperf, osa(inbperf), nic())
        island.ask(1, stop_ns=SHIFT_NS)
        island.stream(inbound=True, start_ns=SHIFT_NS)
    return parts.network(test.name)


DISTRIBUTED, TARGET, CLIENT = "10.99.0.1", "10.99.1.1", "10.99.2.1"
FORWARDERS = ("stack", "accelerator")


def _accelerator(test: Setting) -> Network:
    """RR20 to a distributed address; each island has a LAN switch of its own."""
    parts = Parts()
    for number, label in enumerate(FORWARDERS, start=1):
        lan = f"{label}-lan"
        ports = (Port(1), Port(2), Port(3))
        parts.switches.append(Switch(lan, number, ports, (EXAMPLES / "lan.yaml",)))
        changed: dict[str, Any] = {**data_files.adapters()["osa_accelerated"]} if label == "accelerator" else {}
        distributor = osa(workload_queueing=True, distributions=[(DISTRIBUTED, [TARGET])], **changed)
        parts.adapters.append(Adapter(f"{label}-distributor", "osa", distributor))
        parts.host(f"{label}-far", [CLIENT], nic(), window=WINDOW_BYTES)
        parts.host(f"{label}-target", [TARGET, DISTRIBUTED], osa(workload_queueing=True), window=WINDOW_BYTES)
        parts.wires += [
            Wire((f"{label}-far-adapter", 1), (lan, 1)),
            Wire((f"{label}-distributor", 1), (lan, 2)),
            Wire((f"{label}-target-adapter", 1), (lan, 3)),
        ]
        for connection in range(test.connections):
            parts.flows.append(
                RequestResponse(
                    name=f"{label}-rr-{connection}",
                    group=f"{label}-rr",
                    client=f"{label}-far",
                    client_address=CLIENT,
                    server=f"{label}-target",
                    server_address=DISTRIBUTED,
                    server_port=700,
                    request_bytes=REQUEST_BYTES,
                    reply_bytes=REPLY_BYTES,
                    records_per_connection=1_000_000_000,
                    start_ns=connection * 1_000,
                    stop_ns=STOP_NS,
                )
            )
    return parts.network(test.name)


FAT_RATE_BPS = 1_000_000_000
FAT_DELAY_NS = 5 * MILLISECOND


def _right_sizing(test: Setting) -> Network:
    """A stream into z/OS over 10 ms: with the receive buffer it starts with, and with the largest it may grow to."""
    largest = PUBLISHED["dynamic_right_sizing"]["window_max_bytes"]
    parts = Parts()
    for label, window in (("fixed", WINDOW_BYTES), ("right-sized", largest)):
        near = osa(workload_queueing=True, rate_bps=FAT_RATE_BPS)
        far = nic() | {"rate_bps": FAT_RATE_BPS}
        parts.pair(label, near, far, window=window, far_window=largest, delay_ns=FAT_DELAY_NS).stream(inbound=True)
    return parts.network(test.name)


NETWORKS: Mapping[str, Callable[[Setting], Network]] = {
    "lan-idle-rr1": _lan_idle,
    "lan-idle-rr10": _lan_idle,
    "iwq-mixed": _iwq_mixed,
    "iwq-streaming-aix": _iwq_streaming,
    "iwq-streaming-zos": _iwq_streaming,
    "inbperf": _inbperf,
    "outbound-priorities": _priorities,
    "offload": _offload,
    "accelerator": _accelerator,
    "right-sizing": _right_sizing,
}
