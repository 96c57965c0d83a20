"""The embedded switch with the entries that the compiler makes of a policy, and its counters by the policy's names.

Loading the program takes three times as long as everything else that a case needs, so one switch serves many cases:
entries are deleted and the few registers that a case can have touched are set to zero. What a case leaves behind in the
table of TCP connections can't be told from outside; after such a case the program is loaded anew.
"""

import json
from datetime import datetime

import phb_p4
from phb.compiler import compile_policy
from phb.device.artifact import Artifact
from phb.formats import yaml_format
from phb.intent import Entry, Exact
from phb.origin import UNKNOWN
from phb_device.native import Entries, once
from phb_switch import PortConfig, Switch
from phb_switch._native import Update

from .counting import layout, sums

NOON = datetime(2026, 3, 2, 12, 0)  # a Monday
PORTS = (1, 2, 3, 4)
CPU_PORT = 510
EXCEPTION = "PhbIngress.forward.exception"
EXCEPTIONS = {"TTL_EXPIRED": 1, "NO_ROUTE": 2}
QUEUE_AVERAGE = "PhbIngress.wred.queue_average"

ARTIFACT = Artifact.load()
PROGRAM = phb_p4.artifact_path().read_text()


def read(policy):
    """The policy model of a dictionary; JSON is YAML."""
    return yaml_format.read(json.dumps(policy, indent=1), "policy.yaml")


class Device:
    """A switch that runs the program, and what it has of the present case."""

    def __init__(self):
        self.renew()

    def renew(self):
        """Another switch, without any state."""
        self.switch = Switch("dut", {port: PortConfig() for port in PORTS}, cpu_port=CPU_PORT)
        self.switch.load(PROGRAM)
        self._entries = Entries(self.switch)
        self._deletes = []
        self._registers = []
        self.now_ns = 0

    def program(self, policy, reported=()):
        """Compiles a policy and writes its entries; reasons that are reported go to the controller."""
        self.intent = compile_policy(policy, ARTIFACT, at=NOON)
        entries = once(self.intent.entries)
        updates = [self._entries.insert(entry) for entry in entries]
        self._deletes += [self._entries.delete(entry) for entry in entries]
        for reason in reported:
            entry = Entry(EXCEPTION, {"code": Exact(EXCEPTIONS[reason])}, "to_controller", {}, 0, UNKNOWN)
            updates.append(self._entries.insert(entry))
            self._deletes.append(self._entries.delete(entry))
        updates.append(self._entries.set_version(track_connections=self.intent.track_connections))
        self._write(updates)
        self._cells = layout(self.intent, PORTS)
        self._before = self._values()

    def clear(self):
        """Leaves the switch as it is after loading, but for its counters, which only differences are taken of."""
        if self.intent.track_connections:
            self.renew()
            return
        for stream in self.intent.streams:
            self._registers += [(name, stream.number) for name in ("meter_time", "committed_used", "other_used")]
        for queue in self.intent.queues:
            self._registers.append((QUEUE_AVERAGE, queue.first))
        self._registers += [(QUEUE_AVERAGE, 65536 + port) for port in PORTS]
        resets = [Update.register(name, cell, b"\0") for name, cell in dict.fromkeys(self._registers)]
        self._write([*self._deletes, *resets])
        self._deletes, self._registers = [], []

    def wrote(self, register, cell):
        """Tells of a cell that the case has written, to be zero afterwards."""
        self._registers.append((register, cell))

    def drops(self):
        """Dropped packets by reason, of all cases since the program was loaded."""
        return [packets for packets, _ in self.switch.read_counter("PhbIngress.drops")]

    def counted(self):
        """Return the case's counters as `phb_model.pipeline.counters` has them: {field: {key: (packets, bytes)}}."""
        pairs = zip(self._values(), self._before, strict=True)
        return sums(self._cells, [(packets - once, octets - before) for (packets, octets), (once, before) in pairs])

    def _values(self):
        values = []
        for each in self._cells:
            read = self.switch.read_counter(each.name, each.first, each.count)
            values.append((sum(packets for packets, _ in read), sum(octets for _, octets in read)))
        return values

    def shared(self):
        """How often a flow had to share another one's conversation, since the program was loaded."""
        return sum(packets for packets, _ in self.switch.read_counter("PhbIngress.conversation.shared_conversation"))

    def _write(self, updates):
        results = self.switch.write(updates, True)
        assert all(code == 0 for code, _ in results), [words for code, words in results if code not in (0, 10)]
