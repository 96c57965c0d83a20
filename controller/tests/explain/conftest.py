"""The embedded switch with the entries of a policy, beside the model that explains it."""

from datetime import datetime

import pytest
import yaml

import phb_p4
from phb.compiler import compile_policy
from phb.explain.pipeline import Pipeline
from phb.formats import yaml_format
from phb.intent import Exact, Prefix, Range, Ternary
from phb.names import Names
from phb.pushing.references import VERSION_TABLE
from phb_switch import PortConfig, Switch
from phb_switch._native import Match, Update

AT = datetime(2026, 3, 2, 12, 0)


class Programmed:
    """Files compiled once: for the switch, and for the model."""

    def __init__(self, text, artifact, rates=None, configs=None):
        self.policy = yaml_format.read(text, "policy.yaml")
        self.intent = compile_policy(self.policy, artifact, at=AT)
        self.model = Pipeline(self.intent, Names.of(self.intent, self.policy), rates)
        configs = configs or {}
        self.switch = Switch("dut", {port: configs.get(port, PortConfig()) for port in range(1, 5)}, cpu_port=510)
        self.switch.load(phb_p4.artifact_path().read_text())
        tables = {table.name: table for table in self.switch.tables()}
        # Two alternatives of a rule may be the same entry; a push writes it once.
        entries = {(entry.table, str(entry.match), entry.priority): entry for entry in self.intent.entries}
        updates = [_update(entry, tables[entry.table]) for entry in entries.values()]
        version = [("version", b"\0"), ("track_connections", bytes([self.intent.track_connections]))]
        set_version = dict(name.rpartition(".")[::-2] for name, _ in tables[VERSION_TABLE].actions)["set_version"]
        updates.append(Update.default_action(VERSION_TABLE, f"{set_version}.set_version", version))
        results = self.switch.write(updates, True)
        assert {code for code, _ in results} <= {0}, results

    def drops(self):
        """Packets by drop reason."""
        return [packets for packets, _ in self.switch.read_counter("PhbIngress.drops")]

    def colours(self, first):
        """Packets by colour, of one policy."""
        return [packets for packets, _ in self.switch.read_counter("PhbIngress.policy_traffic", first, 3)]


def _update(entry, table):
    bits = {name: width for name, _, width in table.keys}
    kinds = {name: kind for name, kind, _ in table.keys}
    name, parameters = next(
        (name, dict(parameters)) for name, parameters in table.actions if name.rpartition(".")[2] == entry.action
    )
    matches = [(field, _match(value, kinds[field], bits[field])) for field, value in entry.match.items()]
    values = [(field, _bytes(value, parameters[field])) for field, value in entry.parameters.items()]
    return Update.insert(entry.table, matches, entry.priority, name, values)


def _bytes(number, bits):
    return number.to_bytes((bits + 7) // 8, "big")


def _match(value, kind, bits):
    match value:
        case Exact(number) if kind == "ternary":
            # What p4c makes of an optional key.
            return Match.ternary(_bytes(number, bits), _bytes((1 << bits) - 1, bits))
        case Exact(number):
            return Match.exact(_bytes(number, bits))
        case Prefix(number, length):
            return Match.lpm(_bytes(number, bits), length)
        case Ternary(number, mask):
            return Match.ternary(_bytes(number, bits), _bytes(mask, bits))
        case Range(low, high):
            return Match.range(_bytes(low, bits), _bytes(high, bits))


@pytest.fixture
def program(artifact):
    """Compile a policy, a dictionary or text of the YAML format, for both."""

    def build(policy, **options):
        text = policy if isinstance(policy, str) else yaml.safe_dump(policy)
        return Programmed(text, artifact, **options)

    return build
