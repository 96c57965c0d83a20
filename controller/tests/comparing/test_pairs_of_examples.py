"""Examples that say the same in other words are proven to do so; of others it is told in what they differ."""

from datetime import datetime
from pathlib import Path

import pytest

from phb.comparing.comparison import Input, Wanted, compare
from phb.comparing.telling import Side
from phb.formats import read_files

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
AT = datetime(2026, 11, 26, 12, 0)

OSA2 = "s390/mvs074.yaml s390/mvs074-osa2.yaml"
PRECEDENCE = f"{OSA2} s390/policy-agent-precedence-osa2.conf"
IBM2212 = "e1/ibm2212.yaml e1/buffers-small.yaml"
SAR2811 = "ios/sar2811-ports.yaml"
C7513 = "s390/c7513.yaml s390/c7513-routes-cip.yaml s390/c7513-wfq.yaml"

# One node, said twice, and why both are the same.
ALIKE = {
    "a host's policy as a tree of RFC 3703": (f"{OSA2} ldap/mvs074.ldif", PRECEDENCE),
    "in IBM's first schema": (f"{OSA2} ldap/ibm-v1.ldif", PRECEDENCE),
    "in IBM's second schema": (f"{OSA2} ldap/ibm-v2.ldif", PRECEDENCE),
    "in IBM's third schema": (f"{OSA2} ldap/ibm-v3.ldif", PRECEDENCE),
    "a router's configuration, and what we say of it": (
        "ios/c7513.ios ios/c7513-ports.yaml s390/c7513-routes-cip.yaml",
        C7513,
    ),
    "one queue with early detection, as IOS and YAML say it": (
        f"{SAR2811} isode/answer.ios",
        "isode/answer.yaml",
    ),
    "objectives judge and change nothing": (C7513, f"{C7513} s390/c7513-objectives.yaml"),
    "what is counted changes nothing": (
        "smc-applicability/host.yaml",
        "smc-applicability/host.yaml smc-applicability/smcat.conf",
    ),
}

# What looks like one node said twice, or is about one node, and in what they differ.
DIFFERENT = {
    "a directory's ToS is the whole octet, its rates are of IP packets": (
        f"{IBM2212} e1/streams.ldif",
        f"{IBM2212} e1/streams.yaml",
        {"ToS", "ToS of green packets", "meter"},
    ),
    "windows of connections that the router offers": (
        f"{IBM2212} e1/streams.yaml",
        f"{IBM2212} e1/streams-windows.yaml",
        {"TCP rate"},
    ),
    "the same buffers in packets of other sizes": (
        f"{IBM2212} e1/streams.yaml",
        "e1/ibm2212.yaml e1/buffers-small-500.yaml e1/streams.yaml",
        {
            "buffer: private buffer", "buffer: private buffer of green packets",
            "buffer: shared buffer", "buffer: shared buffer of green packets",
        },
    ),
    "the host's virtual address by another path": (
        C7513,
        C7513.replace("routes-cip", "routes-osa2"),
        {"route"},
    ),
    "the printed configuration alone lacks the virtual address": (
        "ios/c7513.ios ios/c7513-ports.yaml",
        C7513,
        {"route"},
    ),
    "a file of Policy Agent is for the interface that it names": (
        "s390/mvs074.yaml s390/mvs074-cip.yaml s390/policy-agent-precedence-cip.conf",
        "s390/mvs074.yaml s390/mvs074-cip.yaml s390/policy-agent-precedence-osa2.conf",
        {"TCP rate", "ToS"},
    ),
    "a line before it has a shaper": (
        f"{SAR2811} isode/unshaped.ios isode/load.ios",
        f"{SAR2811} isode/shaped.ios isode/load.ios",
        {"conversation threshold", "conversations", "discipline", "hold queue", "port shaper", "weights of flows"},
    ),
}  # fmt: skip


def compared(a, b, artifact):
    sides = [Input(read_files([EXAMPLES / name for name in each.split()]), Side(each)) for each in (a, b)]
    return compare(sides[0], sides[1], artifact, Wanted(AT))


@pytest.mark.parametrize("pair", ALIKE)
def test_alike(pair, artifact):
    found = compared(*ALIKE[pair], artifact)
    assert [(region.packets, region.differences) for region in found.regions] == []
    assert found.alike


@pytest.mark.parametrize("pair", DIFFERENT)
def test_different(pair, artifact):
    a, b, differing = DIFFERENT[pair]
    found = compared(a, b, artifact)
    assert {each.what for region in found.regions for each in region.differences} == differing
    assert [region.failed for region in found.regions if region.failed] == []
    assert found.open == ()
