"""``phb monitor --snmp``: the agent in the monitor's own process, whether or not a switch answers."""

import asyncio
import subprocess
import sys

from controller.tests.conftest import PROCESS_ENVIRONMENT

from .daemons import WITHIN_S
from .test_agent import values
from .test_setting import BASE

SPIN_LOCK = f"{BASE}.1.0"


async def test_monitor(daemons, tmp_path):
    policy = tmp_path / "policy.yaml"
    policy.write_text("phb: 1\nrules: [{name: calls, match: {protocol: udp}}]\n")
    command = [sys.executable, "-m", "phb", "monitor", "--address", "127.0.0.1:1", str(policy)]
    process = await asyncio.create_subprocess_exec(
        *command, "--snmp", str(daemons.socket), env=PROCESS_ENVIRONMENT, stderr=subprocess.PIPE
    )
    try:
        async with asyncio.timeout(WITHIN_S):
            while values(await daemons.ask("snmpget", SPIN_LOCK)) != {SPIN_LOCK: "0"}:
                await asyncio.sleep(0.1)
    finally:
        process.terminate()
        _, errors = await process.communicate()
    assert (process.returncode, errors) == (0, b"")
