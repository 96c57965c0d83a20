"""Stages conversation, buffer, wred and schedule: how each port's queue is served, and how long it may grow.

`flows` (fair queueing), `classes` and `shares` (a queue for each class), `early_detection`, `buffers`, `limits`,
`shaping`, `strict_queues` (ranks where there is no PIFO), and what they share: `slots`, `rates`, `length`; `target`
refuses what the switch can't do. Rows of one port have its profile number, which its row of the scheduler gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from phb.compiler.ports import NumberedPort, resolve
from phb.compiler.queueing.buffers import Accounts, stream_buffers
from phb.compiler.queueing.classes import class_queues
from phb.compiler.queueing.early_detection import thresholds
from phb.compiler.queueing.flows import flow_weights, notices_of_flows
from phb.compiler.queueing.length import overhead
from phb.compiler.queueing.limits import port_limits, with_limits
from phb.compiler.queueing.rates import port_rate
from phb.compiler.queueing.shaping import port_shaper
from phb.compiler.queueing.slots import Slots, port_slot
from phb.compiler.queueing.strict_queues import map_ranks, ranks_matter
from phb.compiler.queueing.tables import PORT_SCHEDULER, STAGE_ORDER, STREAM_BUFFER
from phb.compiler.queueing.target import check_target
from phb.device.artifact import Artifact
from phb.intent import Entry, Exact, Notice, PortShaper, Profile, QueueSlots, Stream
from phb.model import ClassBased, FairQueue, PolicySet, Queueing
from phb.targets import Capabilities

# Ports without a statement are FIFO without limits: the program's own default.
NO_PROFILE = 0


@dataclass
class CompiledQueueing:
    """Entries, the port of each profile number, the queue of each slot, and shapers that gNMI is to set."""

    entries: list[Entry] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    profiles: list[Profile] = field(default_factory=list)
    queues: list[QueueSlots] = field(default_factory=list)
    shapers: list[PortShaper] = field(default_factory=list)


def compile_queueing(
    policy: PolicySet, artifact: Artifact, target: Capabilities, streams: Sequence[Stream]
) -> CompiledQueueing:
    """Give entries for scheduler, limits and weights of every port that a queueing statement names.

    Raises:
        InputError: A port, class or action that isn't there, more conversations than the pipeline has slots for,
            bandwidth that doesn't add up, or something that the target can't do.
    """
    limited = with_limits(policy, target)
    ports = [resolve(policy, queueing.port, queueing.origin("port")) for queueing in limited]
    result = CompiledQueueing()
    accounts = Accounts(artifact.table(STREAM_BUFFER).size)
    compiler = _Compiler(policy, artifact, streams, target.maps_ranks, Slots(), accounts, result)
    # By port number, so that the order of the statements doesn't move slots.
    for port, queueing in sorted(zip(ports, limited, strict=True), key=lambda pair: pair[0].number):
        check_target(queueing, target)
        compiler.port(port, queueing)
    result.queues += compiler.slots.queues
    return result


@dataclass(frozen=True)
class _Compiler:
    policy: PolicySet
    artifact: Artifact
    streams: Sequence[Stream]
    maps_ranks: bool
    slots: Slots
    accounts: Accounts
    result: CompiledQueueing

    def port(self, port: NumberedPort, queueing: Queueing) -> None:
        profile = len(self.result.profiles) + 1
        scheduler, rows = self._schedule(port, queueing, profile)
        if queueing.early_detection is not None:
            rows += thresholds(queueing.early_detection, profile, 0, port_rate(self.policy, queueing))
        rows += port_limits(queueing, profile)
        if queueing.buffers is not None:
            rows += stream_buffers(
                self.policy,
                queueing.buffers,
                port=port,
                profile=profile,
                streams=self.streams,
                accounts=self.accounts,
                artifact=self.artifact,
            )
        if self.maps_ranks and ranks_matter(queueing.schedule):
            row, notice = map_ranks(queueing.schedule, profile)
            rows.append(row)
            self.result.notices.append(notice)
        if rows:
            self.result.profiles.append(Profile(profile, port.number, port.name))
            scheduler.parameters["profile"] = profile
        match_port = {"egress_port": Exact(port.number)}
        origin = queueing.origin("schedule")
        entry = Entry(PORT_SCHEDULER, match_port, scheduler.action, scheduler.parameters, 1, origin)
        self.result.entries += [entry, *sorted(rows, key=lambda entry: STAGE_ORDER.index(entry.table))]
        if queueing.shaper is not None:
            self.result.shapers.append(port_shaper(queueing.shaper, port))

    def _schedule(self, port: NumberedPort, queueing: Queueing, profile: int) -> tuple[_Scheduler, list[Entry]]:
        schedule = queueing.schedule
        match schedule:
            case FairQueue():
                scheduler = _Scheduler("flow_wfq")
                count = schedule.dynamic_conversations
                base = self.slots.take(count, port, None, queueing.origin("schedule"))
                scheduler.parameters.update(base=base, conversations=count)
                rows = flow_weights(schedule, profile, 0, self.artifact)
                self.result.notices += notices_of_flows(schedule)
            case ClassBased():
                scheduler = _Scheduler("class_wfq")
                rows = class_queues(
                    self.policy,
                    queueing,
                    schedule,
                    port=port,
                    profile=profile,
                    slots=self.slots,
                    artifact=self.artifact,
                )
                flows = [queue.fair_queue for queue in schedule.queues if queue.fair_queue is not None]
                self.result.notices += [notice for each in flows for notice in notices_of_flows(each)]
            case _:
                self.slots.queues.append(QueueSlots(port_slot(port.number), 1, port.number, port.name, None))
                return _Scheduler("fifo"), []
        scheduler.parameters["overhead"] = overhead(queueing.length_basis, scheduler.action, self.artifact)
        return scheduler, rows


@dataclass(frozen=True)
class _Scheduler:
    action: str
    parameters: dict[str, int] = field(default_factory=lambda: {"profile": NO_PROFILE})
