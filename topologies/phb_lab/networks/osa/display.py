"""An OSA-Express's queues as z/OS displays them, with what the adapter has counted by the end of a run.

What the layouts rest on:

- ``D TCPIP,,NETSTAT,DEVLINKS`` and ``STATS``, ``D NET,TRL``, and the routing variables of ``D TCPIP,,OSAINFO``: what
  the source prints (SHARE, 2015, "QDIO Inbound Workload Queuing").
- The other lines of ``OSAINFO`` (EZD0031I): names and order of IBM's IP System Administrator's Commands (V2R1); the
  spaces between them are ours.
- VTAM's tuning statistics: columns of the message groups in IBM's SNA Messages (V2R1, IST1230I and IST2366I). The lines
  of a queue are known by message number and name alone. A count has 32 bits; the field before it counts its overflows.
- ``ACTMTU``, ``SEGMENTATIONOFFLOAD`` and the interface statistics of DEVLINKS are known by name alone; where they
  stand is ours. Bytes are those of frames, as the lab's adapters count them.

Fields of which the lab knows nothing (release, device numbers, dates, MAC addresses, ports of connections, storage
blocks, VTAM's own counts) are left out. An interface is called as its adapter is in the lab, and a stack as its host.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from phb_lab import data_files
from phb_lab.description import Adapter, Network
from phb_lab.outcome import Outcome

INBPERF = ("dynamic", "minlatency", "balanced", "mincpu")


def displays(network: Network, outcome: Outcome) -> dict[str, str]:
    """The displays of each OSA-Express, as text by the command that asks for it."""
    stacks = {wire.b[0]: wire.a[0] for wire in network.wires if wire.b[1] == 0}
    found: dict[str, str] = {}
    for adapter in network.adapters:
        if adapter.kind != "osa":
            continue
        counted: Mapping[str, Any] = outcome.adapters[adapter.name]
        stack = stacks.get(adapter.name)
        told = [
            (f"D TCPIP,,OSAINFO,INTFN={adapter.name}", _osainfo(adapter, counted, stack)),
            (f"D TCPIP,,NETSTAT,DEVLINKS,INTFNAME={adapter.name}", _devlinks(adapter, counted, stack)),
            (f"D NET,TRL,TRLE={adapter.name}", _trle(adapter, counted)),
            (f"F NET,TNSTAT,ACT,ID={adapter.name}", _tuning(adapter, counted)),
        ]
        if stack is not None:
            told.append((f"D TCPIP,{stack},NETSTAT,STATS,PROTOCOL=TCP", _stats(counted, stack)))
        found |= {command: "\n".join(lines) + "\n" for command, lines in told}
    return found


def _queues(adapter: Adapter, counted: Mapping[str, Any]) -> list[tuple[int, str, Mapping[str, int]]]:
    queues = [(number, name, found) for number, (name, found) in enumerate(counted["inbound_queues"].items(), start=1)]
    return queues if adapter.parameters.get("workload_queueing") else queues[:1]


def _osainfo(adapter: Adapter, counted: Mapping[str, Any], stack: str | None) -> Iterable[str]:
    queues = _queues(adapter, counted)
    lines = [
        f"Display OSAINFO results for IntfName: {adapter.name}",
        f"Active speed/mode: {adapter.parameters['rate_bps'] // 1_000_000} mb/sec full duplex",
        f"Queues defined Out: {len(counted['outbound_queues'])} In: {len(queues)} "
        f"Ancillary queues in use: {len(queues) - 1}",
    ]
    numbers = {name: number for number, name, _ in queues}
    if "bulkdata" in numbers:
        lines += [
            "Ancillary Input Queue Routing Variables:",
            f"Queue Type: BULKDATA Queue ID: {numbers['bulkdata']} Protocol: TCP",
            f"Total number of IPv4 connections: {counted['streaming_connections']}",
            f"Queue Type: SYSDIST Queue ID: {numbers['sysdist']} Protocol: TCP",
            *(f"Addr: {address}" for address, _ in adapter.parameters.get("distributions", ())),
            f"Total number of IPv4 addresses: {len(adapter.parameters.get('distributions', ()))}",
        ]
    return [
        "EZD0031I TCP/IP CS" + ("" if stack is None else f" TCPIP Name: {stack}"),
        *lines,
        f"{len(lines)} of {len(lines)} Lines Displayed",
        "End of report",
    ]


def _devlinks(adapter: Adapter, counted: Mapping[str, Any], stack: str | None) -> Iterable[str]:
    parameters = adapter.parameters
    inbound, outbound = counted["inbound"], counted["outbound"]
    storage = parameters["buffers"] * parameters["buffer_bytes"] // 1024
    statistics = (
        ("BYTESIN", inbound["received_bytes"]),
        ("INBOUND PACKETS", inbound["received"]),
        ("INBOUND PACKETS DISCARDED", sum(inbound["dropped"].values())),
        ("BYTESOUT", outbound["sent_bytes"]),
        ("OUTBOUND PACKETS", outbound["sent"]),
        ("OUTBOUND PACKETS DISCARDED", sum(outbound["dropped"].values())),
    )
    return [
        "EZD0101I NETSTAT CS" + ("" if stack is None else f" {stack}"),
        f"INTFNAME: {adapter.name:<17} INTFTYPE: IPAQENET   INTFSTATUS: READY",
        f"SPEED: {parameters['rate_bps'] // 1_000_000:010}",
        f"ACTMTU: {parameters['mtu_bytes']}",
        f"READSTORAGE: GLOBAL ({storage}K)",
        *(f"INBPERF: {name.upper()}" for name in INBPERF if _has(parameters, f"osa_{name}")),
        f"WORKLOADQUEUEING: {_yes(parameters.get('workload_queueing'))}",
        f"CHECKSUMOFFLOAD: {_yes(parameters.get('checksum_offload', True))}",
        f"SEGMENTATIONOFFLOAD: {_yes(parameters.get('segmentation_offload'))}",
        "INTERFACE STATISTICS:",
        *(f"  {name:<34}= {count}" for name, count in statistics),
        "1 OF 1 RECORDS DISPLAYED",
        "END OF THE REPORT",
    ]


def _trle(adapter: Adapter, counted: Mapping[str, Any]) -> Iterator[str]:
    buffers = adapter.parameters["buffers"]
    storage = f"{buffers * adapter.parameters['buffer_bytes'] / 2**20:.1f}M({buffers} SBALS)"
    yield "IST097I DISPLAY ACCEPTED"
    yield "IST2331I QUEUE    QUEUE    READ"
    yield "IST2332I ID      TYPE     STORAGE"
    yield "IST2205I -----  -----  -----"
    for number, name, _ in _queues(adapter, counted):
        yield f"IST2333I {f'RD/{number}':<7} {name.upper():<9} {storage}"
    yield "IST314I END"


def _tuning(adapter: Adapter, counted: Mapping[str, Any]) -> Iterator[str]:
    yield f"IST1230I ID       = {adapter.name}"
    for number, _, queue in _queues(adapter, counted):
        yield "IST924I " + "-" * 61
        yield f"IST1233I DIR      = RD/{number}"
        yield f"IST1719I {_pair('PCIREALO', 'PCIREAL', queue['interrupts'])}"
        yield f"IST1722I {_pair('PACKCNTO', 'PACKCNT', queue['packets'])}"
    for number, queue in enumerate(counted["outbound_queues"], start=1):
        yield "IST924I " + "-" * 61
        yield f"IST1233I DIR      = WR/{number}"
        yield f"IST1722I {_pair('PACKCNTO', 'PACKCNT', queue['packets'])}"
    yield "IST314I END"


def _stats(counted: Mapping[str, Any], stack: str) -> Iterable[str]:
    return [
        f"EZD0101I NETSTAT CS {stack}",
        "TCP STATISTICS",
        f"SEGMENTS RECEIVED ON OSA BULK QUEUES= {counted['inbound_queues']['bulkdata']['packets']}",
        "END OF THE REPORT",
    ]


def _pair(overflow: str, name: str, count: int) -> str:
    return f"{overflow:<8} = {count >> 32:<10} {name:<8} = {count & 0xFFFF_FFFF}"


def _has(parameters: Mapping[str, Any], setting: str) -> bool:
    return data_files.adapters()[setting].items() <= parameters.items()


def _yes(value: object) -> str:
    return "YES" if value else "NO"
