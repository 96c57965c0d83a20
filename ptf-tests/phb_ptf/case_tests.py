"""Test classes for ptf, made from tables of cases."""

from __future__ import annotations

import time
import unittest
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import ptf
import ptf.testutils
from ptf.base_tests import BaseTest

from phb import targets
from phb_device import CPU_PORT, NODE, Control, Entry
from phb_ptf import transcript
from phb_ptf.cases import ByHand, Case, Change, Left, PacketOut, Send, Step
from phb_ptf.expected import Counted, Numbers, Sums, differences, since
from phb_ptf.queues import PLUG, PORT, QueueUp
from phb_ptf.telling import frames_differ, packets_in_words
from phb_ptf.transcript import Record, Verdict
from phb_ptf.under_test import UnderTest

_LEAVES_WITHIN_S = 20.0
# Of a case that has failed: what hasn't come in time is not to be waited for once more.
_AGAIN_WITHIN_S = 1.0
_COUNTS_WITHIN_S = 2.0
_LOOKS_EVERY_S = 0.05
_NOT_TOLD_WITHIN_S = 0.05


def cases(namespace: dict[str, Any], *table: Case) -> None:
    """Put the test classes of a table where ptf looks for them: in the suite's ``globals()``.

    Raises:
        ValueError: A name stands twice, or a case has neither policy nor entries.
    """
    module = namespace["__name__"]
    for case in table:
        if case.policy is None and case.by_hand is None:
            raise ValueError(f"{module}: case {case.name} has neither policy nor entries")
    # One way after the other: cases that follow each other may share a program.
    ways: list[tuple[str, Case, ByHand | None]] = [
        ("by_policy", case, None) for case in table if case.policy is not None
    ]
    ways += [("by_hand", case, case.by_hand) for case in table if case.by_hand is not None]
    for way, case, entries in ways:
        name = f"{case.name}_{way}"
        if name in namespace:
            raise ValueError(f"{module}: two cases are called {name}")
        made = type(name, (CaseTest,), {"__doc__": case.why, "__module__": module, "case": case, "by_hand": entries})
        # ptf itself makes a group of the module; parse_ipv6 belongs to parse, too.
        for group in {way, module.partition("_")[0]} - {module}:
            ptf.testutils.group(group)(made)
        namespace[name] = made


class _SeenOtherwiseError(AssertionError):
    """The switch did something else than the case says."""


class CaseTest(BaseTest):  # type: ignore[misc]
    """One case, programmed in one way; `cases` makes the classes that ptf runs."""

    case: Case
    by_hand: ByHand | None

    def setUp(self) -> None:
        """Begin with a switch that has the program and nothing else."""
        super().setUp()
        self.dataplane = ptf.dataplane_instance
        self.under_test = UnderTest(self)

    def shortDescription(self) -> str:  # noqa: N802 (unittest's name)
        """Printed by ptf for the case: the mistake that its failure shows."""
        return self.case.why

    def runTest(self) -> None:  # noqa: N802 (unittest's name)
        """Run the case; write its record whether it passes or not."""
        record = Record(f"{type(self).__module__}.{type(self).__name__}", self.case.why, self.under_test.target)
        began = time.monotonic()
        try:
            self._skip_unless_able()
            _Run(self, record).run()
        except unittest.SkipTest as skipped:
            record.verdict, record.reason = Verdict.SKIP, str(skipped)
            raise
        except _SeenOtherwiseError as failure:
            record.verdict, record.reason = Verdict.FAIL, str(failure)
            record.traces = self._traced()
            raise self.failureException("\n".join(each for each in (record.reason, record.traces) if each)) from None
        except Exception as error:
            record.verdict, record.reason = Verdict.ERROR, f"{type(error).__name__}: {error}"
            raise
        finally:
            record.seconds = round(time.monotonic() - began, 3)
            if path := ptf.testutils.test_param_get("transcript"):
                transcript.append(Path(path), record)

    def _traced(self) -> str:
        """Run it once more, and tell what happened to its packets: to trace all cases would take half as long again."""
        self.under_test = UnderTest(self)
        traces = self.under_test.traces()
        if traces is None:
            return ""
        passed = ""
        with traces:
            # How it fails has been told.
            with suppress(Exception):
                _Run(self, Record("", "", self.under_test.target), _AGAIN_WITHIN_S).run()
                passed = "run once more, it passed:\n"
            return passed + packets_in_words(traces.take())

    def _skip_unless_able(self) -> None:
        able = targets.load(self.under_test.target)
        for capability in self.case.needs:
            if capability not in able:
                self.skipTest(f"{able.name} has no {capability}: {able.support[capability].reason}")
        if self.case.not_on_interfaces and not self.under_test.in_memory:
            self.skipTest(self.case.not_on_interfaces)
        if any(isinstance(step, QueueUp) for step in self.case.steps) and self.under_test.no_queues:
            self.skipTest(f"no queue can be made to form: {self.under_test.no_queues}")
        if self.case.virtual and not self.under_test.virtual:
            self.skipTest("needs time that stands still: phb-switch with ports in memory")


@dataclass
class _Program:
    """The policy or the entries that a case gives to the switch."""

    policy: str | None
    by_hand: ByHand | None
    also: Sequence[Entry]
    numbers: Numbers = field(default_factory=Numbers)

    def replace(self, former: _Program | None, switch: UnderTest) -> Numbers:
        """Bring it to the switch, in place of another one or of nothing."""
        if former is not None and (former.policy, former.by_hand, former.also) == (
            self.policy,
            self.by_hand,
            self.also,
        ):
            self.numbers = former.numbers
            return self.numbers
        if former is not None and former.policy is not None and self.by_hand is not None:
            switch.push(NODE)
        with Control(switch.address) as control:
            if former is not None:
                control.delete([*former.also, *(former.by_hand.entries if former.by_hand else ())])
            if self.by_hand is not None:
                control.write(self.by_hand.entries)
        if self.by_hand is not None:
            self.numbers = Numbers.of_hand(self.by_hand)
        else:
            assert self.policy is not None
            self.numbers = Numbers.of_intent(switch.push(self.policy))
        if self.also:
            switch.write(self.also)
        return self.numbers


class _Run:
    """One pass through a case."""

    # The program that the switch is known to hold, of a case that changed nothing but counters.
    _kept: ClassVar[_Program | None] = None

    def __init__(self, test: CaseTest, record: Record, patience_s: float = _LEAVES_WITHIN_S) -> None:
        self._test = test
        self._patience_s = patience_s
        self._case = test.case
        self._switch = test.under_test
        self._record = record
        self._controller: Control | None = None

    def run(self) -> None:
        numbers = self._program()
        self._sums = Sums(numbers, self._switch.ports)
        before = self._read() if self._case.keeps else {}
        with ExitStack() as open_sessions:
            if any(isinstance(step, PacketOut) or getattr(step, "exception", 0) for step in self._case.steps):
                self._controller = open_sessions.enter_context(Control(self._switch.address))
            for number, step in enumerate(self._case.steps, 1):
                self._step(f"step {number}", step)
            self._nothing_more()
        self._count(before)

    def _program(self) -> Numbers:
        kept, _Run._kept = _Run._kept, None
        policy = self._case.policy if self._test.by_hand is None else None
        holds = _Program(policy, self._test.by_hand, self._case.also)
        if not self._case.keeps or kept is None:
            self._switch.reset()
            kept = None
        numbers = holds.replace(kept, self._switch)
        if self._case.keeps:
            _Run._kept = holds
        return numbers

    def _step(self, name: str, step: Step) -> None:
        if isinstance(step, Change):
            self._change(step)
        elif isinstance(step, QueueUp):
            frames = [each.frame for each in step.arrive]
            self._switch.queue_up(PLUG, frames)
            sent, order = [(CPU_PORT, frame) for frame in frames], [(PORT, frame) for frame in (PLUG, *step.order)]
            self._compare(name, sent, order, step.names())
            self._sums.add_queue(step)
        elif isinstance(step, PacketOut):
            assert self._controller is not None
            self._controller.packet_out(step.frame, step.port)
            self._compare(name, [], step.leaves)
            self._sums.add(step)
        else:
            self._switch.send(step.port, step.frame)
            self._compare(name, [(step.port, step.frame)], step.leaves)
            if self._controller is not None:
                self._told(name, step)
            self._sums.add(step)

    def _change(self, change: Change) -> None:
        if self._test.by_hand is None:
            self._sums.changed(Numbers.of_intent(self._switch.push(change.policy)))
            return
        with Control(self._switch.address) as control:
            control.delete(change.delete)
            control.modify(change.modify)
            control.write(change.insert)
        numbers = self._sums.numbers
        numbers.change(change)
        self._sums.changed(numbers)

    def _compare(self, name: str, sent: Left, leaves: Left, names: Mapping[bytes, str] | None = None) -> None:
        seen = []
        for _ in leaves:
            if (departure := self._switch.poll(self._patience_s)) is None:
                break
            seen.append((departure.port, departure.frame))
        # Where one is expected, the next step sees a second one: only silence has to be waited for.
        if not leaves or self._switch.virtual:
            while (departure := self._switch.poll(ptf.ptfutils.default_negative_timeout)) is not None:
                seen.append((departure.port, departure.frame))
        self._record.steps.append({"sent": _hex(sent), "left": _hex(seen)})
        # Between ports there is no order: they are wires of their own.
        if _by_port(seen) != _by_port(leaves):
            raise _SeenOtherwiseError(f"{name}: {frames_differ(leaves, seen, names or {})}")

    def _told(self, name: str, step: Send) -> None:
        assert self._controller is not None
        packet = self._controller.packet_in(self._patience_s if step.exception else _NOT_TOLD_WITHIN_S)
        got = None if packet is None else (packet["ingress_port"], packet["exception"], packet.payload)
        self._record.steps[-1]["told"] = None if got is None else [got[0], got[1], got[2].hex()]
        wanted = (step.port, step.exception, step.told) if step.exception else None
        if got != wanted:
            raise _SeenOtherwiseError(f"{name}: the controller got {_in_words(got)}, wanted {_in_words(wanted)}")

    def _nothing_more(self) -> None:
        if (departure := self._switch.poll(ptf.ptfutils.default_negative_timeout)) is not None:
            raise _SeenOtherwiseError(f"when all was done: {frames_differ([], [(departure.port, departure.frame)])}")

    def _count(self, before: Counted) -> None:
        counts = [(count, self._sums.numbers.cell(count)) for count in self._case.counts]
        deadline = time.monotonic() + _COUNTS_WITHIN_S
        while True:
            found = since(before, self._read())
            wrong = differences(self._sums.values(), counts, found)
            # A dropped frame leaves no trace but its count, so this waits for that.
            if not wrong or self._switch.virtual or time.monotonic() > deadline:
                break
            time.sleep(_LOOKS_EVERY_S)
        self._record.counted = self._sums.labelled(found, counts)
        if wrong:
            raise _SeenOtherwiseError("; ".join(wrong))

    def _read(self) -> Counted:
        cells = self._sums.cells()
        for count in self._case.counts:
            cells.setdefault(count.counter, []).append(self._sums.numbers.cell(count))
        cells = {name: sorted(set(indexes)) for name, indexes in cells.items()}
        return self._switch.counted(cells, by_hand=self._test.by_hand is not None)


def _by_port(left: Left) -> dict[int, list[bytes]]:
    found: dict[int, list[bytes]] = {}
    for port, frame in left:
        found.setdefault(port, []).append(frame)
    return found


def _hex(left: Left) -> list[list[Any]]:
    return [[port, frame.hex()] for port, frame in left]


def _in_words(got: Sequence[Any] | None) -> str:
    if got is None:
        return "nothing"
    return f"exception {got[1]} of port {got[0]} with {got[2].hex()}"
