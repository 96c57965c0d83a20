"""A run: faults in the order of the seed, a checkpoint behind each, and the report of all."""

from __future__ import annotations

import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

from benchmarks.veth import programs
from phb_device import interfaces
from phb_device.control import ControlError
from phb_switch import ExecutorName
from soak import checkpoint, faults
from soak.field import Field
from soak.policies import PORTS, draw_policy
from soak.probes import Probes, Steady
from soak.report import MEMORY_GROWTH_MIB, Injected, Report, memory_of
from soak.target import Target, Usage

_SAMPLES_EVERY_S = 1.0
_DESCRIPTORS_SPARE = 16
_CLOSED_WITHIN_S = 10.0
# Clients and their streams have no threads of their own, however many there are.
_THREADS_MOST = 32
# Packets that the switch itself lets wait: less than hold queues, about as many, or its default.
_BUFFERS = (16, 64, 512, None)
_LAST_LINE = re.compile(r"stopped; (.*)")


def missing() -> str:
    """Say why there can't be a run here; empty if there can."""
    return interfaces.missing()


def run(
    seconds: float, seed: int, say: Callable[[str], None], executor: ExecutorName | None = None, once: bool = False
) -> Report:
    """Run faults until the time is up, and then the last one.

    After `seconds` no further fault begins; with `once`, none comes again. `seed` decides faults, policies and traffic,
    but not what the machine does with them. `say` gets a line behind each fault. `executor` is what runs the switch's
    programs.

    Raises:
        ControlError: No interfaces can be had, or the switch doesn't start.
    """
    generator = programs()["generate"]
    interfaces.own_namespace()
    random = Random(seed)
    buffers = {port: packets for port in PORTS if (packets := random.choice(_BUFFERS)) is not None}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="phb-soak-")))
        target = Target(folder, buffers, executor)
        stack.callback(target.close)
        probes = Probes()
        stack.callback(probes.close)
        return _Run(target, probes, generator, random, Report(seed, buffers=buffers), say).run(seconds, once)


class _Run:
    def __init__(
        self, target: Target, probes: Probes, generator: str, random: Random, report: Report, say: Callable[[str], None]
    ) -> None:
        self._target, self._probes, self._generator = target, probes, generator
        self._random, self._report, self._say = random, report, say
        self._began = time.monotonic()
        self._counted: checkpoint.Counted | None = None
        self._readings: list[tuple[float, float]] = []
        self._first_sample = 0
        self._descriptors = 0

    def run(self, seconds: float, once: bool) -> Report:
        self._target.policy.write_text(draw_policy(self._random))
        problem = self._target.push()
        if problem:
            raise ControlError(problem)
        with self._sampled():
            for fault in self._schedule(once):
                if self._now > seconds:
                    break
                self._inject(fault)
            self._inject(faults.CLOSING)
            self._end_life()
        said = self._target.switch.end()
        self._report.problems += self._balance(said)
        self._report.seconds = self._now
        return self._report

    @property
    def _now(self) -> float:
        return time.monotonic() - self._began

    def _schedule(self, once: bool) -> Iterator[faults.Fault]:
        yield from faults.WARMING
        later = [fault for fault in faults.FAULTS if fault not in faults.WARMING]
        yield from self._random.sample(later, len(later))
        while not once:
            yield from self._random.sample(faults.FAULTS, len(faults.FAULTS))

    def _inject(self, fault: faults.Fault) -> None:
        injected = Injected(faults.name(fault), self._now)
        self._report.faults.append(injected)
        field = Field(self._target, self._random, self._generator)
        if fault is faults.CLOSING:
            self._end_life()
        with Steady(self._probes) as steady:
            fault(field)
            ended = time.monotonic()
        injected.lasted_s = ended - self._began - injected.began_s
        injected.probes_sent, injected.probes_lost = steady.sent, steady.lost
        injected.flood_sent, injected.flood_received = field.flooded.sent, field.flooded.received
        injected.counts = dict(field.counts)
        injected.problems += field.problems
        self._probes.reopen()
        self._recover(field, injected, ended)
        self._look(injected)
        verdict = f"{len(injected.problems)} problems" if injected.problems else "all holds"
        recovery = "not recovered" if injected.recovery_s is None else f"recovered in {injected.recovery_s:.1f} s"
        self._say(f"{injected.began_s:6.0f} s  {injected.fault}: {recovery}, {injected.memory_mib:.1f} MiB, {verdict}")
        for problem in injected.problems:
            self._say(f"          {problem}")

    def _recover(self, field: Field, injected: Injected, ended: float) -> None:
        """Undo the fault, and wait until every flow passes; else begin with a new switch."""
        switch = self._target.switch
        if switch.ended and not field.killed:
            injected.problems.append(f"the switch has ended: {switch.ended}")
        if field.reloaded:
            self._counted = None
        if switch.ended:
            self._restart()
            field.stale = True
        if field.stale and (problem := self._target.push()):
            injected.problems.append(problem)
        injected.recovery_s, problem = checkpoint.recovery(self._probes, ended)
        if injected.recovery_s is None:
            injected.problems.append(problem)

    def _look(self, injected: Injected) -> None:
        self._counted, problems = checkpoint.counters(
            self._target, self._counted, injected.counts.get("packet-outs", 0)
        )
        injected.problems += problems
        usage = self._settled()
        if usage is not None:
            injected.memory_mib, injected.descriptors, injected.threads = (
                usage.memory_mib,
                usage.descriptors,
                usage.threads,
            )
            injected.problems += self._grown(injected)
        if injected.recovery_s is None:
            # The next faults must be judged by themselves.
            self._restart()
            if problem := self._target.push():
                injected.problems.append(problem)

    def _settled(self) -> Usage | None:
        deadline = time.monotonic() + _CLOSED_WITHIN_S
        while True:
            try:
                usage = self._target.usage()
            except OSError:
                return None
            if not self._descriptors or usage.descriptors <= self._descriptors or time.monotonic() > deadline:
                return usage
            time.sleep(0.2)

    def _grown(self, injected: Injected) -> list[str]:
        """Compare with the state after everything that warms the switch up had happened once."""
        if not self._descriptors:
            self._descriptors = injected.descriptors + _DESCRIPTORS_SPARE
        warm = len(self._report.faults) >= len(faults.WARMING)
        if warm or self._report.memory:
            self._readings.append((self._now, injected.memory_mib))
        problems = []
        if injected.descriptors > self._descriptors:
            # The spare ones are for a connection that is being closed.
            problems.append(
                f"descriptors: {injected.descriptors} open, at first {self._descriptors - _DESCRIPTORS_SPARE}"
            )
        if injected.threads > _THREADS_MOST:
            problems.append(f"threads: {injected.threads}, at most {_THREADS_MOST}")
        if self._readings and injected.memory_mib > self._readings[0][1] + MEMORY_GROWTH_MIB:
            problems.append(f"memory: {injected.memory_mib:.1f} MiB, warm {self._readings[0][1]:.1f}")
        return problems

    def _restart(self) -> None:
        self._end_life()
        self._target.switch.restart()
        self._counted, self._descriptors = None, 0

    def _end_life(self) -> None:
        """Report the memory of a process that ends."""
        if self._readings:
            samples = self._report.samples[self._first_sample :]
            self._report.memory.append(memory_of(self._target.switch.pid, self._readings, samples))
        self._readings, self._first_sample = [], len(self._report.samples)

    @contextmanager
    def _sampled(self) -> Iterator[None]:
        """Read the memory once a second."""
        ended = threading.Event()

        def sample() -> None:
            while not ended.wait(_SAMPLES_EVERY_S):
                try:
                    self._report.samples.append((self._now, self._target.usage().memory_mib))
                except (OSError, KeyError):  # it has just ended
                    continue

        thread = threading.Thread(target=sample, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _balance(self, said: str) -> list[str]:
        """Check the conservation law by the switch's last line."""
        # Processes that restarts have ended printed one, too.
        found = _LAST_LINE.findall(said)
        if not found:
            return [f"the switch didn't say at its end what it had counted: {said.strip()[-200:]}"]
        totals = {words: int(count) for words, count in re.findall(r"([a-zA-Z ]+?) (\d+)(?:, |$)", found[-1].strip())}
        self._report.totals = totals
        came = totals["received"] + totals["injected"]
        went = totals["transmitted"] + totals["to CPU"] + totals["dropped"] + totals["queued"]
        return [] if came == went else [f"totals: {came} packets came, {went} are accounted for"]
