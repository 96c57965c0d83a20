"""What a meter's entry counts is a rate's basis, or nothing that a policy can say."""

from dataclasses import replace
from datetime import datetime

import pytest

from phb.compiler import compile_policy
from phb.decompiler import NotAPolicyError, decompile
from phb.formats import yaml_format
from phb.names import Names

AT = datetime(2026, 3, 2, 12, 0)
POLICY = """
phb: 1
ports: [{{number: 1, name: line}}]
actions:
  - name: profile
    meter: {{kind: single-rate, committed-rate: {{value: 8, unit: kbit/s, basis: {}}}, committed-burst-bytes: 1500}}
rules: [{{name: all, actions: [profile]}}]
"""


def compiled(artifact, basis):
    policy = yaml_format.read(POLICY.format(basis), "policy.yaml")
    intent = compile_policy(policy, artifact, at=AT)
    return intent, Names.of(intent, policy)


@pytest.mark.parametrize("basis", ["ethernet", "ip", "ppp"])
def test_every_basis_is_read_back(artifact, basis):
    intent, names = compiled(artifact, basis)
    (action,) = decompile(intent.entries, names).actions
    assert action.meter.committed_rate.basis == basis


@pytest.mark.parametrize(
    ("datagram", "overhead", "message"),
    [(0, 4, "no rate counts 4 bytes beside the frame"), (1, 14, "no rate counts 14 bytes beside the datagram")],
)
def test_other_bytes_are_no_policy(artifact, datagram, overhead, message):
    intent, names = compiled(artifact, "ip")
    counted = {"datagram": datagram, "overhead": overhead}
    entries = [
        replace(entry, parameters=entry.parameters | counted) if "stream_meter" in entry.table else entry
        for entry in intent.entries
    ]
    with pytest.raises(NotAPolicyError, match=message):
        decompile(entries, names)
