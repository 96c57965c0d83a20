"""The embedded switch with the entries of a policy, beside the model that explains it."""

from datetime import datetime

import pytest
import yaml
from explained import Explaining

import phb_p4
from phb.compiler import compile_policy
from phb.formats import yaml_format
from phb_device.native import Entries, once
from phb_switch import PortConfig, Switch

AT = datetime(2026, 3, 2, 12, 0)


class Programmed:
    """Files compiled once: for the switch, and for the model."""

    def __init__(self, text, artifact, rates=None, configs=None):
        self.policy = yaml_format.read(text, "policy.yaml")
        self.intent = compile_policy(self.policy, artifact, at=AT)
        self.explaining = Explaining(self.intent, self.policy, artifact, rates)
        self.model = self.explaining.model
        configs = configs or {}
        self.switch = Switch("dut", {port: configs.get(port, PortConfig()) for port in range(1, 5)}, cpu_port=510)
        self.switch.load(phb_p4.artifact_path().read_text())
        entries = Entries(self.switch)
        updates = [entries.insert(entry) for entry in once(self.intent.entries)]
        updates.append(entries.set_version(track_connections=self.intent.track_connections))
        results = self.switch.write(updates, True)
        assert {code for code, _ in results} <= {0}, results

    def drops(self):
        """Packets by drop reason."""
        return [packets for packets, _ in self.switch.read_counter("PhbIngress.drops")]

    def colours(self, first):
        """Packets by colour, of one policy."""
        return [packets for packets, _ in self.switch.read_counter("PhbIngress.policy_traffic", first, 3)]


@pytest.fixture
def program(artifact):
    """Compile a policy, a dictionary or text of the YAML format, for both."""

    def build(policy, **options):
        text = policy if isinstance(policy, str) else yaml.safe_dump(policy)
        return Programmed(text, artifact, **options)

    return build
