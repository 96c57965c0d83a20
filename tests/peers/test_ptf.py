"""PTF suites of others, on the switch that the PATH has.

``PHB_P4_GUIDE`` is a checkout of jafingerhut/p4-guide, whose own scripts run, ``PHB_FABRIC_TNA`` one of
stratum/fabric-tna, whose scripts want containers. On the PATH are p4c, its driver and ``ptf``; ``PHB_PTF_PYTHON`` is
the interpreter of ``ptf``, which has what the suites import (p4runtime-shell, scipy). With PHB_RECORD=1 bmv2 runs
them, too, where it is installed, and rows of docs/evidence/recorded/peers.md are written anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from . import apart, recorded

P4_GUIDE = os.environ.get("PHB_P4_GUIDE", "")
FABRIC_TNA = os.environ.get("PHB_FABRIC_TNA", "")
PYTHON = os.environ.get("PHB_PTF_PYTHON", sys.executable)
SECONDS = 400
SECONDS_OF_FABRIC = 3600

P4_GUIDES = (
    "demo1",
    "demo1-bitselect-key",
    "demo2",
    "demo7",
    "ptf-tests/duplicatekeys",
    "ptf-tests/idletimeout",
    "ptf-tests/matchkinds",
    "ptf-tests/packetinout",
    "ptf-tests/registeraccess",
)
"""Its folders with tests, but for two: see the page."""
OF_DROPS = ["test.FabricIntEgressDropReportTest", "test.FabricIntIngressDropReportTest"]
EXPECTED = {
    "ptf-tests/duplicatekeys": ["duplicatekeys.IPv4FwdTest"],
    "fabric-int": OF_DROPS,
    "fabric-upf-int": [*OF_DROPS, "test.FabricUpfIntDownlinkDropTest", "test.FabricUpfIntUplinkDropTest"],
}
"""The cases that fail, as they do on bmv2."""


def told(output: str) -> dict[str, object]:
    """What PTF's output says: how many tests ran, and which failed."""
    ran = sum(map(int, re.findall(r"^Ran (\d+) tests? in", output, re.MULTILINE)))
    failed = sorted(set(re.findall(r"^(?:FAIL|ERROR): (\S+)", output, re.MULTILINE)))
    skipped = sum(map(int, re.findall(r"skipped=(\d+)", output)))
    words = f"{ran - skipped - len(failed)} of {ran - skipped} cases" + (f", not {', '.join(failed)}" if failed else "")
    words += f"; {skipped} skip themselves" if skipped else ""
    assert ran, output
    return {"passed": not failed, "seen": words, "failed": failed}


def run_p4_guide(name: str, folder: Path, path: str) -> dict[str, object]:
    """Run a folder's ``runptf.sh``; give what was seen."""
    shutil.copytree(P4_GUIDE, folder, ignore=shutil.ignore_patterns(".git", "*.pdf", "*.png"))
    # They start the switch by sudo, which has a PATH of its own.
    sudo = folder / "as-root" / "sudo"
    sudo.parent.mkdir()
    sudo.write_text('#!/bin/sh\nexec "$@"\n')
    sudo.chmod(0o755)
    path = f"{sudo.parent}:{path}"
    command = f"{folder}/bin/veth_setup.sh && exec ./runptf.sh"
    ended = apart.start(["bash", "-c", command], folder / name, path, SECONDS)
    (folder / "output.txt").write_text(ended.stdout + ended.stderr)
    return told(ended.stdout + ended.stderr)


@pytest.mark.parametrize("name", P4_GUIDES)
def test_p4_guide(name: str, tmp_path: Path) -> None:
    if not P4_GUIDE:
        pytest.skip("PHB_P4_GUIDE names no checkout of jafingerhut/p4-guide")
    if reason := apart.unavailable("bash", "p4c", "ptf"):
        pytest.skip(reason)
    result = run_p4_guide(name, tmp_path / "ours", apart.path_of_phb(tmp_path / "bin"))
    if recorded.wanted():
        theirs = run_p4_guide(name, tmp_path / "bmv2", os.environ["PATH"]) if apart.bmv2_version() else None
        recorded.record("jafingerhut/p4-guide", name, result, theirs, recorded.commit(P4_GUIDE))
    assert result["failed"] == EXPECTED.get(name, []), result["seen"]


# What its runner imports for test vectors and traffic generators, which these cases don't use.
UNUSED = {
    "testvector/tvutils.py": "",
    "portmap/pmutils.py": "",
    "target/targetutils.py": "",
    "gnmi/gnmi_pb2.py": "",
    "gnmi/gnmi_pb2_grpc.py": "",
    "trex_stf_lib/trex_client.py": "class CTRexClient: pass",
    "trex/stl/api.py": "class STLClient: pass",
}
PROFILES = {
    "fabric": ([], "all ^upf ^int ^bng ^dth ^xconnect ^p4rt ^int-dod"),
    "fabric-upf": (["-DWITH_UPF"], "all ^int ^bng ^dth ^p4rt ^int-dod"),
    "fabric-int": (["-DWITH_INT"], "all ^upf ^bng ^dth ^p4rt ^int-dod"),
    "fabric-upf-int": (["-DWITH_UPF", "-DWITH_INT"], "all ^bng ^dth ^p4rt ^int-dod"),
}
"""How its Makefile compiles each profile for v1model, and which cases its Makefile.profiles selects."""
FABRIC = """
for port in 1 2 3 4; do
    at=veth$((2 * port - 2)) peer=veth$((2 * port - 1))
    ip link add $at type veth peer name $peer
    for each in $at $peer; do
        ip link set $each mtu 9500 up
        sysctl -q net.ipv6.conf.$each.disable_ipv6=1
    done
    switch="$switch -i $port@$at" ptf="$ptf -i $port@$peer"
done
simple_switch_grpc --no-p4 --device-id 1 $switch --thrift-port 19090 -- \\
    --grpc-server-addr 127.0.0.1:28000 --cpu-port 255 > switch.log 2>&1 &
sleep 2
built=$PWD/built profile=$1
shift
cd ptf/tests/common
export PYTHONPATH=$built/unused:$PWD
$0 -c "import ptf_runner, sys; sys.exit(not ptf_runner.update_config(
    '$built/p4info.txt', '$built/bmv2.json', grpc_addr='127.0.0.1:28000', device_id=1))"
parameters="p4info='$built/p4info.txt';grpcaddr='127.0.0.1:28000';device_id='1';cpu_port='255';pltfm='bmv2'"
parameters="$parameters;generate_tv='False';loopback='False';profile='$profile'"
exec ptf --test-dir ../unary $ptf --test-params="$parameters" "$@"
"""


def run_fabric_tna(profile: str, folder: Path, path: str) -> dict[str, object]:
    """Run the cases of one of fabric-tna's profiles with its program for v1model; give what was seen."""
    flags, cases = PROFILES[profile]
    shutil.copytree(FABRIC_TNA, folder, ignore=shutil.ignore_patterns(".git"))
    built = folder / "built"
    for name, text in UNUSED.items():
        module = built / "unused" / name
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(text)
    outputs = ["-o", "built/bmv2.json", "--p4runtime-files", "built/p4info.txt"]
    program = "p4src/v1model/fabric_v1model.p4"
    compiled = ["p4c-bm2-ss", "--arch", "v1model", *flags, "-I", "p4src", *outputs, program]
    subprocess.run(compiled, cwd=folder, capture_output=True, text=True, check=True)
    command = ["bash", "-c", FABRIC, PYTHON, profile, *cases.split()]
    ended = apart.start(command, folder, path, SECONDS_OF_FABRIC)
    (folder / "output.txt").write_text(ended.stdout + ended.stderr)
    return told(ended.stdout + ended.stderr)


@pytest.mark.parametrize("profile", PROFILES)
def test_fabric_tna(profile: str, tmp_path: Path) -> None:
    """Minutes, each."""
    if not FABRIC_TNA:
        pytest.skip("PHB_FABRIC_TNA names no checkout of stratum/fabric-tna")
    if reason := apart.unavailable("bash", "p4c-bm2-ss", "ptf"):
        pytest.skip(reason)
    result = run_fabric_tna(profile, tmp_path / "ours", apart.path_of_phb(tmp_path / "bin"))
    if recorded.wanted():
        theirs = run_fabric_tna(profile, tmp_path / "bmv2", os.environ["PATH"]) if apart.bmv2_version() else None
        recorded.record("stratum/fabric-tna", f"ptf, profile {profile}", result, theirs, recorded.commit(FABRIC_TNA))
    assert result["failed"] == EXPECTED.get(profile, []), result["seen"]
