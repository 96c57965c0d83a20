"""Runs bmv2's own ``1sw_demo.py`` with its ``simple_router.json`` and the commands of its stress test.

    python -m tests.peers.bmv2_mininet_exercise

in bmv2's folder ``mininet``, with ``simple_switch`` and ``simple_switch_CLI`` on the PATH, as root, in an interpreter
that has Mininet. The last line of its output is a JSON object: ``passed``, and ``seen`` in words.
"""

from __future__ import annotations

import importlib
import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

from .hosts import Hosts

COMMANDS = Path("stress_test_commands.txt")


def check(hosts: Hosts) -> tuple[bool, str]:
    """Give the commands, and see whether the two hosts reach each other."""
    before = hosts.lost()
    with COMMANDS.open() as commands:
        subprocess.run(
            ["simple_switch_CLI", "--thrift-port", "9090"], stdin=commands, stdout=sys.stderr, check=True, timeout=60
        )
    after = hosts.lost()
    rate = hosts.iperf("h1", "h2", "10.0.1.10")
    words = f"pingall loses {before:.0f} % before the commands, {after:.0f} % after them; iperf {rate or 'fails'}"
    return before == 100 and after == 0 and bool(rate), words


def main() -> None:
    """Start the network of the demonstration, check it, and end it."""
    result: dict[str, object] = {}

    def instead_of_a_prompt(network: Any) -> None:
        result["passed"], result["seen"] = check(Hosts(network))

    importlib.import_module("mininet.cli").CLI = instead_of_a_prompt  # type: ignore[attr-defined]
    sys.argv = ["1sw_demo.py", "--behavioral-exe", "simple_switch", "--json", "simple_router.json"]
    sys.path.insert(0, ".")
    runpy.run_path("1sw_demo.py", run_name="__main__")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
