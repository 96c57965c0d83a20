"""Runs one exercise of nsg-ethz/p4-learning by its own ``network.py``, and does what its README has the reader do.

    python -m tests.peers.p4_learning_exercise EXERCISE

in the folder of the exercise, with ``simple_switch`` and ``p4c`` on the PATH, as root, in an interpreter that has what
p4-utils imports. The last line of its output is a JSON object: ``passed``, and ``seen`` in words.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .hosts import Hosts, until


def _sent_on(interfaces: tuple[str, ...]) -> list[int]:
    """How many frames the interfaces have sent, of themselves or of a host."""
    return [int(Path(f"/sys/class/net/{each}/statistics/tx_packets").read_text()) for each in interfaces]


class _Links:
    """The links of s1 to the four switches between, and how many packets went over each."""

    NAMES = ("s1-eth2", "s1-eth3", "s1-eth4", "s1-eth5")

    def __init__(self) -> None:
        self.before = _sent_on(self.NAMES)

    def used(self) -> list[int]:
        """The frames on each since the last time this was asked."""
        now = _sent_on(self.NAMES)
        counts = [new - old for new, old in zip(now, self.before, strict=True)]
        self.before = now
        return counts


def _script(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script of the exercise beside the switches, as its controllers run, to its end."""
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=120)


def reflector(hosts: Hosts) -> tuple[bool, str]:
    said = hosts.run("h1", f"printf '\\n\\n\\n' | {sys.executable} send_receive.py")
    reflected = said.count("00:01:02:03:04:05 ->")
    return reflected == 3, f"of 3 packets reflected: {reflected}"


def ecmp(hosts: Hosts) -> tuple[bool, str]:
    lost = hosts.lost()
    links = _Links()
    hosts.run("h1", "ping -c 5 10.0.6.2")
    of_pings = links.used()
    hosts.python("h1", "send.py 10.0.6.2 200")
    of_flows = links.used()
    passed = lost == 0 and sum(each > 0 for each in of_pings) == 1 and sum(of_pings) == 5 and min(of_flows) > 0
    return passed, f"pingall loses {lost:.0f} %; over the four links 5 pings {of_pings}, 200 flows {of_flows}"


def flowlet_switching(hosts: Hosts) -> tuple[bool, str]:
    lost = hosts.lost()
    links = _Links()
    hosts.python("h1", "send.py 10.0.6.2 30 0.2")
    apart = links.used()
    hosts.python("h1", "send.py 10.0.6.2 200 0")
    together = links.used()
    passed = lost == 0 and sum(each > 0 for each in apart) > 1 and max(together) > 0.9 * sum(together)
    words = f"30 packets 0.2 s apart {apart}, 200 without a pause {together}"
    return passed, f"pingall loses {lost:.0f} %; over the four links {words}"


def heavy_hitter(hosts: Hosts) -> tuple[bool, str]:
    lost = hosts.lost()
    output = hosts.begin("h2", f"{sys.executable} -u receive.py")
    time.sleep(5)
    said = hosts.python("h1", "send.py 10.0.2.2 1100")
    time.sleep(2)
    totals = [int(total) for total in re.findall(r"total: (\d+)", output.read_text())]
    sent = "".join(re.findall(r"Sent (\d+)", said))
    # Its comparison lets one through that its README doesn't count.
    passed = lost == 0 and max(totals, default=0) in {1000, 1001}
    return passed, f"pingall loses {lost:.0f} %; of {sent} packets received: {max(totals, default=0)}"


def count_min_sketch(hosts: Hosts) -> tuple[bool, str]:
    _script("cm-sketch-controller.py", "--option", "set_hashes")
    hosts.python("h1", "send.py --n-pkt 1000 --n-hh 2 --n-sfw 0 --p-hh 1")
    time.sleep(1)
    decoded = _script("cm-sketch-controller.py", "--eps", "0.1", "--n", "1000", "--mod", "28", "--option", "decode")
    flows = re.findall(r"sent and read by the cms: (\d+)/(\d+)", decoded.stdout)
    passed = len(flows) == 2 and all(int(sent) <= int(read) < int(sent) + 100 for sent, read in flows)
    return passed, f"sent and counted: {', '.join(f'{sent} and {read}' for sent, read in flows)}"


def traceroutable(hosts: Hosts) -> tuple[bool, str]:
    controller = _script("routing-controller.py")
    lost = hosts.lost()
    ask = (
        "from traceroute import traceroute; "
        "print([traceroute(dst='10.6.2.2', sport=sport, dport=80) for sport in range(6000, 6012)])"
    )
    said = hosts.python("h1", f'-c "{ask}"')
    found = re.findall(r"^\[\[.*\]\]\r?$", said, re.MULTILINE)
    routes = ast.literal_eval(found[-1].strip()) if found else []
    second = {route[1] for route in routes if len(route) > 1}
    passed = controller.returncode == 0 and lost == 0 and len(routes) == 12 and len(second) > 1
    told = sum(len(route) >= 3 for route in routes)
    words = f"of 12 routes {told} are told whole, by {len(second)} ways"
    return passed and told == 12, f"pingall loses {lost:.0f} %; {words}"


def fast_reroute(hosts: Hosts) -> tuple[bool, str]:
    said = Path("controller.txt")
    with said.open("w") as out:
        controller = subprocess.Popen(
            [sys.executable, "-u", "controller.py"], stdin=subprocess.PIPE, stdout=out, text=True
        )
    assert controller.stdin is not None
    until(lambda: "link-menu>" in said.read_text())
    lost = hosts.lost()
    controller.stdin.write("fail s1 s2\n")
    controller.stdin.flush()
    time.sleep(5)
    before = hosts.replies("h2", "10.4.4.2", 10)
    controller.stdin.write("notify\n")
    controller.stdin.flush()
    time.sleep(5)
    after = hosts.replies("h2", "10.4.4.2", 10)
    controller.kill()
    controller.wait()
    words = f"replies of 10 after the failure {before}, after the notification {after}"
    return lost == 0 and before == 10 and after == 10, f"pingall loses {lost:.0f} %; {words}"


CHECKS: dict[str, Callable[[Hosts], tuple[bool, str]]] = {
    "01-Reflector": reflector,
    "05-ECMP": ecmp,
    "05-Flowlet_Switching": flowlet_switching,
    "06-Heavy_Hitter_Detector": heavy_hitter,
    "07-Count-Min-Sketch": count_min_sketch,
    "09-Traceroutable": traceroutable,
    "12-Fast-Reroute": fast_reroute,
}


def main(name: str) -> None:
    """Start the exercise's network, check it, and end it."""
    network = importlib.import_module("p4utils.mininetlib.network_API").NetworkAPI
    result: dict[str, object] = {}

    def instead_of_a_prompt(api: Any) -> None:
        result["passed"], result["seen"] = CHECKS[name](Hosts(api.net))

    network.start_net_cli = instead_of_a_prompt
    runpy.run_path("network.py", run_name="__main__")
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
