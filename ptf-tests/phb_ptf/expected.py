"""The expected counters of a case: the sum over its steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import phb
from phb.pipeline_names import COLOURS_PER_POLICY, REASONS_PER_POLICY, DropReason
from phb_device import CPU_PORT
from phb_ptf.cases import ByHand, Change, Count, PacketOut, Send
from phb_ptf.queues import HEADER_BYTES, PLUG_BYTES, PORT, QueueUp

_COLOURS = {"policy_traffic": COLOURS_PER_POLICY, "stream_traffic": COLOURS_PER_POLICY}

Counted = dict[str, dict[int, tuple[int, int]]]
"""Packets and bytes by counter and cell, those that aren't zero."""


@dataclass
class Numbers:
    """The switch's numbers for the names in a case."""

    policies: dict[str, int] = field(default_factory=dict)
    streams: dict[str, int] = field(default_factory=dict)
    queues: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of_hand(cls, entries: ByHand) -> Numbers:
        """Take the numbers in entries written by hand."""
        return cls(dict(entries.policies), dict(entries.streams), dict(entries.queues))

    @classmethod
    def of_intent(cls, intent: phb.NodeIntent) -> Numbers:
        """Take the compiler's numbers; of a rule with two directions, ``web incoming`` is the second."""
        numbers = cls()
        for policy in intent.policies:
            numbers.policies.setdefault(policy.rule, policy.number)
            numbers.policies[f"{policy.rule} {policy.direction}"] = policy.number
        for stream in intent.streams:
            numbers.streams.setdefault(stream.action, stream.number)
        for queue in intent.queues:
            name = queue.port_name if queue.traffic_class is None else f"{queue.port_name} {queue.traffic_class}"
            numbers.queues[name] = queue.first
        return numbers

    def change(self, change: Change) -> None:
        """Add the numbers of further rules by hand."""
        self.policies |= change.policies

    def policy(self, name: str) -> int:
        """Return the number of a rule; 0 is none's."""
        return self.policies[name] if name else 0

    def cell(self, count: Count) -> int:
        """Return the index that a count means."""
        if isinstance(count.cell, int):
            return count.cell
        name, offset = count.cell
        if count.counter == "stream_traffic":
            return self.streams[name] * COLOURS_PER_POLICY + offset
        if count.counter == "policy_traffic":
            return self.policies[name] * COLOURS_PER_POLICY + offset
        if count.counter == "policy_drops":
            return self.policies[name] * REASONS_PER_POLICY + offset
        return self.queues[name] + offset


class Sums:
    """Counters as they must be; frames count with the bytes they arrived with."""

    def __init__(self, numbers: Numbers, ports: Iterable[int]) -> None:
        self.numbers = numbers
        self._ports = list(ports)
        self._names = {0: "no rule"}
        self._learn()
        self._cells: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))

    def changed(self, numbers: Numbers) -> None:
        """Use other numbers for names from here on."""
        self.numbers = numbers
        self._learn()

    def _learn(self) -> None:
        for name, number in self.numbers.policies.items():
            self._names.setdefault(number, name)

    def add(self, step: Send | PacketOut) -> None:
        """Add a frame."""
        length, policy, output = len(step.frame), 0, self.numbers.policy(step.output_rule)
        output_colour = 0
        if isinstance(step, PacketOut):
            length += HEADER_BYTES
        else:
            policy, output_colour = self.numbers.policy(step.rule), step.output_colour
            self._add("policy_traffic", policy * COLOURS_PER_POLICY + step.colour, length)
        if output:
            self._add("policy_traffic", output * COLOURS_PER_POLICY + output_colour, length)
        if step.drop is not DropReason.NONE:
            self._add("drops", step.drop, length)
            for number in (policy, output) if output else (policy,):
                self._add("policy_drops", number * REASONS_PER_POLICY + step.drop, length)
        for port, _ in step.leaves:
            if port != CPU_PORT:
                self._add("port_transmit", port, length)

    def add_queue(self, step: QueueUp) -> None:
        """Add frames that queued up, and the plug: all of them the controller's."""
        self._add("port_transmit", PORT, PLUG_BYTES)
        for each in step.arrive:
            number = self.numbers.policy(each.rule)
            if number:
                self._add("policy_traffic", number * COLOURS_PER_POLICY + each.colour, each.counted)
            if each.drop is DropReason.NONE:
                self._add("port_transmit", PORT, each.counted)
                continue
            self._add("drops", each.drop, each.counted)
            # No input policy has seen it: it counts for policy 0.
            for policy in (0, number) if number else (0,):
                self._add("policy_drops", policy * REASONS_PER_POLICY + each.drop, each.counted)

    def _add(self, counter: str, cell: int, length: int) -> None:
        value = self._cells[counter][cell]
        value[0] += 1
        value[1] += length

    def cells(self) -> dict[str, list[int]]:
        """Return the cells to read: all that could change."""
        return {
            "drops": list(range(REASONS_PER_POLICY)),
            "policy_traffic": _of_policies(self._names, COLOURS_PER_POLICY),
            "policy_drops": _of_policies(self._names, REASONS_PER_POLICY),
            "port_transmit": self._ports,
        }

    def values(self) -> Counted:
        """Return the expected values of those that aren't zero."""
        return {
            name: {cell: (value[0], value[1]) for cell, value in sorted(self._cells[name].items())}
            for name in self.cells()
        }

    def labelled(self, found: Counted, counts: Iterable[tuple[Count, int]]) -> dict[str, dict[str, list[int]]]:
        """Label readings by the meaning of their cells: a push may number rules differently on each target."""
        labels = {
            (count.counter, cell): count.cell if isinstance(count.cell, int) else f"{count.cell[0]} {count.cell[1]}"
            for count, cell in counts
        }
        for counter, width in (("policy_traffic", COLOURS_PER_POLICY), ("policy_drops", REASONS_PER_POLICY)):
            for number, name in self._names.items():
                for cell in range(width):
                    labels[counter, number * width + cell] = f"{name} {cell}"
        return {
            name: {str(labels.get((name, cell), cell)): list(value) for cell, value in sorted(values.items())}
            for name, values in sorted(found.items())
            if values
        }


def _of_policies(numbers: Iterable[int], width: int) -> list[int]:
    return [number * width + cell for number in sorted(numbers) for cell in range(width)]


def since(before: Counted, now: Counted) -> Counted:
    """Return the difference of two readings."""
    gone: Counted = {}
    for name, values in now.items():
        earlier = before.get(name, {})
        grown = {
            cell: (packets - earlier.get(cell, (0, 0))[0], bytes_ - earlier.get(cell, (0, 0))[1])
            for cell, (packets, bytes_) in values.items()
        }
        gone[name] = {cell: value for cell, value in grown.items() if any(value)}
    return gone


def differences(wanted: Counted, counts: Iterable[tuple[Count, int]], found: Counted) -> list[str]:
    """Describe each wrong cell, of those in `wanted` and of further `counts`."""
    lines = []
    for name, cells in wanted.items():
        for cell in sorted(cells.keys() | found.get(name, {}).keys()):
            right, read = cells.get(cell, (0, 0)), found.get(name, {}).get(cell, (0, 0))
            if right != read:
                lines.append(
                    f"{_words(name, cell)} is {read[0]} packets, {read[1]} bytes; wanted {right[0]}, {right[1]}"
                )
    for count, cell in counts:
        packets, bytes_ = found.get(count.counter, {}).get(cell, (0, 0))
        if packets != count.packets or (count.bytes_ is not None and bytes_ != count.bytes_):
            more = "" if count.bytes_ is None else f", {count.bytes_}"
            lines.append(
                f"{_words(count.counter, cell)} is {packets} packets, {bytes_} bytes; wanted {count.packets}{more}"
            )
    return lines


def _words(name: str, cell: int) -> str:
    if name == "drops":
        return f"drops[{DropReason(cell).name}]"
    if name == "policy_drops":
        return f"policy_drops[policy {cell // REASONS_PER_POLICY}, {DropReason(cell % REASONS_PER_POLICY).name}]"
    if name in _COLOURS:
        colour = ("green", "yellow", "red", "3")[cell % COLOURS_PER_POLICY]
        return f"{name}[{name.partition('_')[0]} {cell // COLOURS_PER_POLICY}, {colour}]"
    return f"{name}[{cell}]"
