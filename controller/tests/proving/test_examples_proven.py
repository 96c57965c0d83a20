"""Every example, and every policy of the golden files, is compiled as it says: proven for every packet, at any time."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from controller.tests.test_golden import INPUTS, TARGET_OF
from phb.compiler import compile_policy
from phb.formats import read_files, yaml_format
from phb.packets.epochs import Epochs
from phb.proving.compiled import prove

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NOW = datetime.fromisoformat("1999-03-01T12:00+01:00")
SAR2811 = "ios/sar2811-ports.yaml"
MVS074 = ["s390/mvs074.yaml", "s390/mvs074-osa2.yaml"]
CASES = {
    "osa": ["osa/lan.yaml"],
    "cip": ["cip/c7513.yaml"],
    "far-router": ["e1/far-router.yaml"],
    "isode-answer": ["isode/answer.yaml"],
    "isode-answer-ios": ["isode/answer.ios", SAR2811],
    "isode-unshaped": ["isode/unshaped.ios", SAR2811],
    **{
        f"isode-{name}": [f"isode/{name}.ios", "isode/load.ios", SAR2811]
        for name in ("shaped", "wred-defaults", "wred-aggressive")
    },
    **{f"ldap-{name}": [*MVS074, f"ldap/{name}.ldif"] for name in ("ibm-v1", "ibm-v2", "ibm-v3")},
    **{path.stem: [path] for path in (EXAMPLES / "policies").glob("*.yaml")},
    **{
        f"e1-{path.stem}": ["e1/ibm2212.yaml", "e1/streams.yaml", path]
        for path in (EXAMPLES / "e1").glob("buffers-*.yaml")
    },
    **{
        f"e1-{name}": ["e1/ibm2212.yaml", f"e1/{name}", "e1/buffers-large.yaml"]
        for name in ("streams.ldif", "streams-windows.yaml")
    },
}
ALL = {**INPUTS, **{name: [EXAMPLES / file for file in files] for name, files in CASES.items()}}
NO_POLICY = {"pcim.ldif", "phb.ldif"}  # schemas


@pytest.mark.parametrize("name", ALL)
def test_proven(name, artifact):
    policy = read_files(ALL[name])
    proof = prove(policy, artifact, Epochs.of([policy], NOW).moments, target=TARGET_OF.get(name, "phb-switch"))
    assert proof.proven, proof


def test_packets_are_counted_by_their_own_rule(artifact):
    rules = "".join(
        f"  - {{name: r{port}, match: {{protocol: tcp, destination-ports: {port}}}}}\n" for port in (80, 443)
    )
    policy = yaml_format.read(f"phb: 1\nrules:\n{rules}", "f.yaml")

    def compiler(*of, **how):
        intent = compile_policy(*of, **how)
        return replace(
            intent,
            entries=tuple(
                replace(entry, parameters={**entry.parameters, "policy": 1}) if "policy" in entry.parameters else entry
                for entry in intent.entries
            ),
        )

    assert prove(policy, artifact, [NOW]).proven
    (wrong,) = prove(policy, artifact, [NOW], compiler=compiler).wrong
    assert (wrong.what, wrong.says, wrong.does) == ("input rule", "r443", "r80")


def test_every_example_is_proven():
    policies = {
        path.relative_to(EXAMPLES)
        for path in EXAMPLES.rglob("*")
        if path.suffix in (".yaml", ".conf", ".ios", ".ldif", ".json")
        and path.parent.name not in ("inventories", "expectations")
        and path.name not in NO_POLICY
    }
    assert policies <= {
        file.relative_to(EXAMPLES) for files in ALL.values() for file in files if EXAMPLES in file.parents
    }
