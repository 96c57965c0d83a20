"""Golden files: policy files -> model -> entries, as text a person can review.

After an intended change, run the tests with PHB_UPDATE_GOLDEN=1 and read the diff.
"""

import os
from datetime import datetime
from pathlib import Path

import pytest

from phb.compiler import compile_policy
from phb.device.describe import describe
from phb.formats import read_files, yaml_format

GOLDEN = Path(__file__).parent / "golden"
S390 = Path(__file__).resolve().parents[2] / "examples" / "s390"
IOS = S390.parent / "ios"
AT = datetime(1999, 3, 1, 12, 0)  # a Monday

CASES = {
    "mvs074-precedence-osa2": ["mvs074.yaml", "mvs074-osa2.yaml", "policy-agent-precedence-osa2.conf"],
    "mvs074-precedence-cip": ["mvs074.yaml", "mvs074-cip.yaml", "policy-agent-precedence-cip.conf"],
    "mvs074-diffserv-osa2": ["mvs074.yaml", "mvs074-osa2.yaml", "policy-agent-diffserv-osa2.conf"],
    "mvs074-diffserv-cip": ["mvs074.yaml", "mvs074-cip.yaml", "policy-agent-diffserv-cip.conf"],
    "c7513-wfq-cip": ["c7513.yaml", "c7513-routes-cip.yaml", "c7513-wfq.yaml"],
    "c7513-fifo-osa2": ["c7513.yaml", "c7513-routes-osa2.yaml", "c7513-fifo.yaml"],
    "c7513-objectives": ["c7513.yaml", "c7513-routes-cip.yaml", "c7513-wfq.yaml", "c7513-objectives.yaml"],
    "c3640": ["c3640.yaml"],
}
INPUTS = {name: [S390 / file for file in files] for name, files in CASES.items()}
IOS_CASES = {
    "ios-c7513": ["c7513.ios", "c7513-ports.yaml"],
    "ios-sar2811": ["sar2811.ios", "sar2811-ports.yaml"],
    "ios-sar2811-queues": ["sar2811-queues.ios", "sar2811-ports.yaml"],
}
INPUTS |= {name: [IOS / file for file in files] for name, files in IOS_CASES.items()}
MVS074 = [S390 / "mvs074.yaml", S390 / "mvs074-osa2.yaml"]
INPUTS["openconfig"] = [S390.parent / "openconfig" / name for name in ("qos.json", "routes.yaml")]
INPUTS["policy-agent-services"] = [*MVS074, S390.parent / "policy-agent" / "services.conf"]
INPUTS["ldap-mvs074"] = [*MVS074, S390.parent / "ldap" / "mvs074.ldif"]
HOST = S390.parent / "smc-applicability"
INPUTS["smc-applicability"] = [HOST / "host.yaml", HOST / "smcat.conf"]
INPUTS["everything"] = [GOLDEN / "everything.yaml"]
INPUTS["pipeline"] = [GOLDEN / "pipeline.yaml"]
INPUTS["router"] = [GOLDEN / "router.yaml"]
INPUTS["strict-queues"] = [GOLDEN / "strict-queues.yaml"]
# Where it isn't phb-switch.
TARGET_OF = {"strict-queues": "bmv2-sp-pifo"}


def compiled(name, policy, artifact):
    return compile_policy(policy, artifact, at=AT, target=TARGET_OF.get(name, "phb-switch"))


@pytest.mark.parametrize("name", INPUTS)
def test_model(name):
    compare(GOLDEN / f"{name}.model.yaml", yaml_format.write(read_files(INPUTS[name])))


@pytest.mark.parametrize("name", INPUTS)
def test_entries(name, artifact):
    intent = compiled(name, read_files(INPUTS[name]), artifact)
    lines = [f"{describe(artifact.encode(entry), artifact)}    # {place(entry.origin)}" for entry in intent.entries]
    lines += [f"warning {place(notice.origin)}: {notice.message}" for notice in intent.notices]
    compare(GOLDEN / f"{name}.entries.txt", "".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("name", INPUTS)
def test_model_written_as_yaml_compiles_to_the_same_entries(name, artifact):
    policy = read_files(INPUTS[name])
    again = yaml_format.read(yaml_format.write(policy), "again.yaml")
    assert again == policy
    first, second = (compiled(name, each, artifact).entries for each in (policy, again))
    assert [artifact.encode(entry) for entry in first] == [artifact.encode(entry) for entry in second]


def test_every_s390_example_is_covered():
    assert {path.name for path in S390.iterdir() if path.suffix in (".yaml", ".conf")} == {
        file for files in CASES.values() for file in files
    }


def test_every_ios_example_is_covered():
    assert {path.name for path in IOS.iterdir()} == {file for files in IOS_CASES.values() for file in files}


def place(origin):
    return f"{Path(origin.file).name}:{origin.line}"


def compare(path, text):
    if os.environ.get("PHB_UPDATE_GOLDEN"):
        path.write_text(text)
    assert path.read_text() == text
