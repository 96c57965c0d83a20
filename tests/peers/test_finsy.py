"""finsy's tests of its examples, in networks of Mininet that have the switch of the PATH.

finsy runs them in an image of Mininet; here its own tests find what they look for there: the command ``mn``, and the
file with the switches (`finsy_switch.py`). ``PHB_FINSY`` is a checkout, ``PHB_FINSY_PYTHON`` an interpreter with what
its tests import. With PHB_RECORD=1 bmv2 runs them, too, where it is installed, and rows of
docs/evidence/recorded/peers.md are written anew.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from . import apart, recorded

CHECKOUT = os.environ.get("PHB_FINSY", "")
PYTHON = os.environ.get("PHB_FINSY_PYTHON", sys.executable)
SWITCH = Path(__file__).with_name("finsy_switch.py")
SECONDS = 300

# The address that its tests know, with a way out, for finsy asks for its own; and the file that its image has.
PREPARE = " && ".join(
    [
        "ip link add demo type veth peer name way-out",
        "ip address add 192.168.0.48/24 dev demo",
        "ip link set demo up",
        "ip link set way-out up",
        "ip route add default via 192.168.0.1",
        "mkdir /mnt/local /mnt/local-work",
        "mount -t overlay -o lowerdir=/usr/local,upperdir=/mnt/local,workdir=/mnt/local-work overlay /usr/local",
        "mkdir -p /usr/local/mininet/custom",
        f'cp "{SWITCH}" /usr/local/mininet/custom/p4switch.py',
        'exec "$@"',
    ]
)

# Its tests give a controller fractions of a second to begin.
SLOWLY = """
import asyncio, sys, pytest
sleep = asyncio.sleep
asyncio.sleep = lambda seconds, result=None: sleep(8 * seconds, result)
sys.exit(pytest.main(sys.argv[1:]))
"""

EXPECTED = {
    "basic": (),
    "flowcache": (),
    "gnmi": ("test_demo3",),
    "hello": (),
    "int": ("test_read_tables",),
    "l2switch": (),
    "mtls": ("test_mtls3_expired_client[bmv2]", "test_tls_no_client_cert[bmv2]"),
    "ngsdn": (
        "test_ngsdn_actionprofile",
        "test_ngsdn_oneshot",
        "test_read_tables_actionprofile",
        "test_read_tables_oneshot",
    ),
    "simple": (),
    "tls_demo": (),
    "tunnel": (),
}
"""Its test modules, and the tests of each that fail with phb-switch; the page says why."""


def unavailable() -> str:
    """Why they can't run here, or nothing."""
    if not CHECKOUT:
        return "PHB_FINSY names no checkout of finsy"
    return apart.unavailable("mn", "ping", "socat", "brctl")


def run(name: str, folder: Path, path: str) -> dict[str, object]:
    """Run a module of tests on the switch that the PATH has; give what was seen."""
    shutil.copytree(Path(CHECKOUT) / "examples", folder / "examples")
    shutil.copytree(Path(CHECKOUT) / "tests" / "test_certs", folder / "tests" / "test_certs")
    options = ["-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-rA"]
    command = [PYTHON, "-c", SLOWLY, *options, f"tests/test_{name}.py"]
    ended = apart.start(["sh", "-c", PREPARE, "sh", *command], folder / "examples", path, SECONDS)
    (folder / "output.txt").write_text(ended.stdout + ended.stderr)
    found = re.findall(rf"^(PASSED|FAILED|ERROR) tests/test_{name}\.py::(\S+)", ended.stdout, re.MULTILINE)
    outcomes = {test: outcome for outcome, test in found}
    failed = sorted(test for test, outcome in outcomes.items() if outcome != "PASSED")
    assert outcomes, ended.stdout + ended.stderr
    words = f"{len(outcomes) - len(failed)} of its {len(outcomes)} tests"
    return {"passed": not failed, "seen": words + (f", not {', '.join(failed)}" if failed else ""), "failed": failed}


@pytest.mark.parametrize("name", EXPECTED)
def test_example(name: str, tmp_path: Path) -> None:
    if reason := unavailable():
        pytest.skip(reason)
    result = run(name, tmp_path / "ours", apart.path_of_phb(tmp_path / "bin"))
    if recorded.wanted():
        theirs = run(name, tmp_path / "bmv2", os.environ["PATH"]) if apart.bmv2_version() else None
        recorded.record("byllyfish/finsy", f"test_{name}", result, theirs, recorded.commit(CHECKOUT))
    assert result["failed"] == list(EXPECTED[name]), result["seen"]
