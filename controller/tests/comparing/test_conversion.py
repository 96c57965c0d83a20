"""Conversions are proven: every example in every format does what it did, or losses account for what doesn't."""

from dataclasses import replace
from pathlib import Path

import pytest

from phb.comparing.conversion import prove
from phb.formats import WriteOptions, convert, read_files, yaml_format
from phb.model import Dialect

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NODES = {
    "e1": ("e1/ibm2212.yaml", "e1/streams.yaml", "e1/buffers-small.yaml"),
    "c7513": ("s390/c7513.yaml", "s390/c7513-routes-cip.yaml", "s390/c7513-wfq.yaml"),
    "c7513.ios": ("ios/c7513.ios", "ios/c7513-ports.yaml"),
    "mvs074": ("s390/mvs074.yaml", "s390/mvs074-cip.yaml", "s390/policy-agent-diffserv-cip.conf"),
    "openconfig": ("openconfig/qos.json", "openconfig/routes.yaml"),
    "sar2811": ("ios/sar2811.ios", "ios/sar2811-ports.yaml"),
    "sar2811-queues": ("ios/sar2811-queues.ios", "ios/sar2811-ports.yaml"),
    "branch": ("policies/branch-router.yaml",),
    "service-classes": ("policies/service-classes.yaml",),
    "services": ("s390/mvs074.yaml", "s390/mvs074-osa2.yaml", "policy-agent/services.conf"),
}
NOT_POLICIES = ("inventories/", "expectations/", "ldap/pcim.ldif", "ldap/phb.ldif", "traces/")
IN_NODES = {
    name for files in NODES.values() for name in files if name not in ("ios/sar2811-queues.ios", "e1/streams.yaml")
}
ALONE = {
    name: (name,)
    for path in sorted(EXAMPLES.rglob("*.*"))
    if path.suffix in (".yaml", ".conf", ".ios", ".json", ".ldif")
    and not (name := path.relative_to(EXAMPLES).as_posix()).startswith(NOT_POLICIES)
    and name not in IN_NODES
}
SOURCES = NODES | ALONE
FORMATS = [("yaml", None), ("policy-agent", None), ("ios", Dialect.IOS_12)]
MORE_FORMATS = [("ios", Dialect.IOS_11_3), ("ios", Dialect.IOS_HQF)]


@pytest.mark.parametrize("source", SOURCES)
def test_every_example_in_every_format(source, artifact):
    policy = read_files([EXAMPLES / name for name in SOURCES[source]])
    for to, dialect in FORMATS + (MORE_FORMATS if source in NODES else []):
        converted = convert(policy, to, WriteOptions(dialect))
        proof = prove(policy, converted, to, ("source", "text"), lambda: artifact, None)
        assert (proof.refused, proof.unlisted, proof.open) == ("", (), ()), (to, dialect)
        assert [region.failed for region in proof.regions if region.failed] == [], (to, dialect)
        if not any(loss.packets for loss in converted.losses):
            assert proof.alike, (to, dialect)


POLICY = """\
phb: 1
ports: [{name: GigabitEthernet0/1, number: 1}, {name: GigabitEthernet0/2, number: 2}]
cross-connects: [{between: [GigabitEthernet0/1, GigabitEthernet0/2]}]
actions: [{name: gold, set-dscp: EF}, {name: silver, set-dscp: AF21}]
rules:
  - {name: voice, match: {ingress-port: GigabitEthernet0/1, protocol: udp, source: 10.0.0.0/24}, actions: [gold]}
  - {name: rest, match: {ingress-port: GigabitEthernet0/1, protocol: tcp, source: 10.0.0.0/8}, actions: [silver]}
"""
# What a wrong writer would do with the text.
MISTAKES = {
    "yaml": (("set-dscp: 46", "set-dscp: 40"), ("10.0.0.0/24", "10.0.0.0/25"), ("protocol: udp", "protocol: icmp")),
    "ios": (("set dscp ef", "set dscp cs5"), ("0.0.0.255", "0.0.0.127"), (" permit udp", " deny udp")),
}


@pytest.mark.parametrize(("to", "right", "wrong"), [(to, *each) for to, cases in MISTAKES.items() for each in cases])
def test_a_mistake_of_a_writer_is_found(to, right, wrong, artifact):
    policy = yaml_format.read(POLICY, "f")
    converted = convert(policy, to, WriteOptions(Dialect.IOS_HQF))
    assert right in converted.text
    proof = prove(policy, converted, to, ("f", "text"), lambda: artifact, None)
    assert (proof.alike, proof.unlisted) == (True, ())
    mistaken = replace(converted, text=converted.text.replace(right, wrong))
    proof = prove(policy, mistaken, to, ("f", "text"), lambda: artifact, None)
    assert not proof.alike
    assert proof.unlisted == proof.regions != ()


def test_a_text_that_nobody_can_read_is_a_mistake(artifact):
    policy = yaml_format.read(POLICY, "f")
    proof = prove(
        policy, replace(convert(policy, "yaml"), text="phb: 2"), "yaml", ("f", "text"), lambda: artifact, None
    )
    assert proof.refused.startswith("the text can't be read back: text:1: found")
    assert proof.unlisted
    assert not proof.alike


def test_no_time_is_not_alike(artifact):
    policy = yaml_format.read(POLICY, "f")
    converted = convert(policy, "ios", WriteOptions(Dialect.IOS_HQF))
    proof = prove(policy, converted, "ios", ("f", "text"), lambda: artifact, 0)
    assert not proof.alike
    assert proof.open
    assert proof.unlisted == ()
