"""Switches under test: one interface for phb-switch and bmv2, in memory and on real interfaces.

    packets, entries < control < device < in_process, outside < here
                       control < counting < back_pressure; counting, device < held_port
                                          processes, data_plane, interfaces, back_pressure < outside

A test gets a `Device`: it is programmed by policy (through the controller) or by hand (through gRPC alone), takes
frames, and gives those that left.
"""

from __future__ import annotations

from enum import StrEnum

from phb_device import interfaces, processes
from phb_device.control import CPU_PORT, Control, ControlError, check_reachable
from phb_device.device import AT, CONNECTED, NODE, Device
from phb_device.entries import Entry, default_action, entry
from phb_device.in_process import InProcess
from phb_device.interfaces import own_namespace
from phb_device.outside import Attached, Bmv2OverGrpc, OnInterfaces
from phb_device.packets import Arrival, Departure, Line
from phb_switch import ExecutorName

__all__ = [
    "AT",
    "CONNECTED",
    "CPU_PORT",
    "NODE",
    "TARGETS",
    "Arrival",
    "Attached",
    "Control",
    "ControlError",
    "Departure",
    "Device",
    "Entry",
    "Line",
    "Ports",
    "check_reachable",
    "default_action",
    "entry",
    "missing",
    "open_device",
    "own_namespace",
]

TARGETS = ("phb-switch", "bmv2")
"""Switches that can be started; the first one comes with phb."""


class Ports(StrEnum):
    """The kind of ports of a switch under test."""

    MEMORY = "memory"
    VETH = "veth"


def missing(target: str, ports: Ports) -> str:
    """Say why this switch can't be had here; empty if it can."""
    reason = processes.bmv2_missing() if target.startswith("bmv2") else ""
    return reason or (interfaces.missing() if ports is Ports.VETH else "")


def open_device(target: str, ports: Ports = Ports.MEMORY, executor: ExecutorName | None = None) -> Device:
    """Start a switch, without a program.

    `target` is a name of `phb.targets`. Interfaces are virtual Ethernet pairs in the present network namespace (root).
    `executor` is what runs phb-switch's programs, native code unless it is said.

    Raises:
        ControlError: It can't be had here; `missing` says why without trying.
    """
    reason = missing(target, ports)
    if reason:
        raise ControlError(reason)
    if ports is Ports.VETH:
        return OnInterfaces(target, executor)
    return Bmv2OverGrpc(target) if target.startswith("bmv2") else InProcess(executor=executor)
