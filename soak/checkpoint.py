"""Checks after each fault: every flow passes, every counter adds up, memory is where it was."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

import grpc

from phb.pipeline_names import OCCUPANCY, DropReason
from phb_device.control import CPU_PORT
from soak.policies import PORTS
from soak.probes import Probes
from soak.reading import Reader
from soak.target import Target, switch_end

RECOVERS_WITHIN_S = 30.0
_IDLE_WITHIN_S = 30.0
_LOOKS_EVERY_S = 0.3
# A slot that a push gives to another class while packets wait there stays a flow of the class before, until a packet of
# that class comes to an empty port.
_STATE = [name for name in OCCUPANCY if name != "class_flows"]
_ENOUGH = 8
"""So many flows that don't pass say that a round failed."""


@dataclass(frozen=True)
class Counted:
    """Packets that an idle switch has counted.

    Attributes:
        received: By all ports, without what controllers sent.
        to_controllers: Handed to them, or dropped on the way there.
        dropped: By the program before the queues.
        waiting: Packets, flows and bytes that the program takes for queued, by register and cell.
        egress: By port, what the program saw leave.
        left: By port, what the switch sent.
        discarded: By port, what the switch itself dropped of what was queued.
    """

    received: int
    to_controllers: int
    dropped: int
    waiting: dict[str, dict[int, int]]
    egress: dict[int, int]
    left: dict[int, int]
    discarded: dict[int, int]

    def left_over(self) -> list[str]:
        """Packets, flows and bytes that the program takes for queued: there are none on an idle switch."""
        return [
            f"state: {sum(cells.values())} in {len(cells)} cells of {name} on an idle switch (cell {min(cells)}: "
            f"{cells[min(cells)]})"
            for name, cells in self.waiting.items()
            if cells
        ]

    def since(self, before: Counted, injected: int) -> list[str]:
        """Return what doesn't add up since an earlier reading, with so many packet-outs.

        Only counters by port are compared: a push resets those of queues that become another class's.
        """
        wrong = []
        came = self.received - before.received + injected
        went = {
            "dropped": self.dropped - before.dropped,
            "sent": sum(self.left.values()) - sum(before.left.values()),
            "discarded": sum(self.discarded.values()) - sum(before.discarded.values()),
            "to controllers": self.to_controllers - before.to_controllers,
        }
        if came != sum(went.values()):
            wrong.append(f"counters: {came} packets came, but {went}")
        for port in PORTS:
            egress, left = (
                each.get(port, 0) - earlier.get(port, 0)
                for each, earlier in ((self.egress, before.egress), (self.left, before.left))
            )
            if egress != left:
                wrong.append(f"counters: port {port}: egress saw {egress} packets, {left} were sent")
        return wrong


def recovery(probes: Probes, since: float) -> tuple[float | None, str]:
    """Probe until every flow passes; return the seconds since the fault ended, or None and the flows that don't pass.

    `since` is the fault's end by the monotonic clock. Nothing else may use `probes` meanwhile.
    """
    while True:
        missing = probes.round(stop_after=_ENOUGH)
        now = time.monotonic()
        if not missing:
            return now - since, ""
        if now - since > RECOVERS_WITHIN_S:
            break
        time.sleep(_LOOKS_EVERY_S)
    missing = probes.round(stop_after=len(probes.flows) // 2)
    ports = sorted({flow.egress for flow in missing})
    return None, f"flows: {len(missing)} don't pass within {RECOVERS_WITHIN_S:g} s, to ports {ports}: {missing[:1]}"


def counters(target: Target, before: Counted | None, injected: int) -> tuple[Counted | None, list[str]]:
    """Read an idle switch; return its counts and what of them doesn't add up.

    `before` is an earlier reading, None if counters have begun anew since; `injected` are packet-outs since then.
    """
    try:
        with Reader(target.switch.address) as reader:
            busy = _await_idle(reader)
            counted = read(reader)
    except grpc.RpcError as error:
        return None, [f"counters can't be read: {error}"]
    problems = [*busy, *counted.left_over(), *(counted.since(before, injected) if before else [])]
    shown = target.phb("show", "queue", "--json")
    if shown.returncode != 0:
        problems.append(f"phb show queue: exit code {shown.returncode}: {shown.stderr.strip()}")
    else:
        depths = {port["port"]: port["depth"] for port in json.loads(shown.stdout)}
        if any(depths.values()):
            problems.append(f"phb show queue: packets queued on an idle line: {depths}")
    return counted, problems


def _await_idle(reader: Reader) -> list[str]:
    deadline = time.monotonic() + _IDLE_WITHIN_S
    seen = None
    while (now := reader.interfaces()) != seen:
        if time.monotonic() > deadline:
            return [f"the switch isn't idle after {_IDLE_WITHIN_S:g} s without traffic"]
        seen = now
        time.sleep(_LOOKS_EVERY_S)
    return []


def read(reader: Reader) -> Counted:
    """Read all counts."""
    interfaces = reader.interfaces()
    cpu = interfaces[str(CPU_PORT)]
    return Counted(
        received=sum(each["in-pkts"] for each in interfaces.values()),
        to_controllers=cpu["out-pkts"] + cpu["out-discards"],
        # Pushed-out packets were queued, and count as refused.
        dropped=sum(n for reason, n in reader.counter("PhbIngress.drops").items() if reason != DropReason.PUSHED_OUT),
        waiting={name: reader.register(name) for name in _STATE},
        egress=reader.counter("PhbEgress.port_transmit", PORTS),
        left={port: interfaces[switch_end(port)]["out-pkts"] for port in PORTS},
        discarded={port: interfaces[switch_end(port)]["out-discards"] for port in PORTS},
    )
