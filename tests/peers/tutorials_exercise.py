"""Runs one exercise of p4lang/tutorials by its own scripts, and does what its README has the reader do.

    python tutorials_exercise.py EXERCISE

in the folder of the exercise, with ``simple_switch_grpc`` on the PATH, as root, in an interpreter that has what those
scripts import. The last line of its output is a JSON object: ``passed``, and ``seen`` in words.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

UTILITIES = Path("../../utils").resolve()
POD = Path("pod-topo/topology.json")


class Hosts:
    """The hosts of the running network, by name."""

    def __init__(self, network: Any) -> None:
        self.network = network
        self.begun = 0

    def run(self, host: str, command: str) -> str:
        """Run a command on a host and give its output."""
        return str(self.network.get(host).cmd(f"{command} 2>&1"))

    def begin(self, host: str, command: str) -> Path:
        """Start a command on a host and give the file with its output."""
        self.begun += 1
        output = Path("logs") / f"{host}-{self.begun}.txt"
        self.network.get(host).cmd(f"{command} > {output} 2>&1 &")
        return output

    def python(self, host: str, command: str) -> str:
        """Run a script of the exercise on a host."""
        return self.run(host, f"{sys.executable} {command}")

    def listen(self, host: str) -> Path:
        """Start the exercise's ``receive.py`` on a host; it takes a moment until it listens."""
        output = self.begin(host, f"{sys.executable} -u receive.py")
        end = time.monotonic() + 20
        while "sniffing" not in (output.read_text() if output.exists() else "") and time.monotonic() < end:
            time.sleep(0.1)
        # It says so before it does.
        time.sleep(2)
        return output


def basic(hosts: Hosts) -> tuple[bool, str]:
    lost = float(hosts.network.pingAll())
    return lost == 0, f"pingall loses {lost:.0f} %"


def basic_tunnel(hosts: Hosts) -> tuple[bool, str]:
    at = {host: hosts.listen(host) for host in ("h2", "h3")}
    hosts.python("h1", 'send.py 10.0.2.2 "by address"')
    # By its tunnel it goes where its address doesn't lead.
    hosts.python("h1", 'send.py 10.0.3.3 "by tunnel" --dst_id 2')
    time.sleep(2)
    came = {host: re.findall(r"by address|by tunnel", output.read_text()) for host, output in at.items()}
    return came == {"h2": ["by address", "by tunnel"], "h3": []}, f"received: {came}"


def calc(hosts: Hosts) -> tuple[bool, str]:
    questions = {"1+1": "2", "9-4": "5", "12&10": "8", "12|3": "15", "5^1": "4"}
    asked = r"\n".join([*questions, "quit"])
    answers = re.findall(r"^\d+\r?$", hosts.run("h1", f"printf '{asked}\\n' | {sys.executable} calc.py"), re.MULTILINE)
    answers = [answer.strip() for answer in answers]
    return answers == list(questions.values()), f"{', '.join(questions)}: {', '.join(answers)}"


def _behind_a_slow_link(hosts: Hosts) -> str:
    """Let iperf fill the link of 0.5 Mbit/s, and give what h2 received meanwhile."""
    output = hosts.listen("h2")
    hosts.begin("h22", "iperf -s -u")
    hosts.python("h1", 'send.py 10.0.2.2 "P4 is cool" 2')
    hosts.begin("h11", "iperf -c 10.0.2.22 -t 15 -u")
    time.sleep(2)
    hosts.python("h1", 'send.py 10.0.2.2 "P4 is cool" 12')
    time.sleep(2)
    return output.read_text()


def ecn(hosts: Hosts) -> tuple[bool, str]:
    marks = re.findall(r"tos\s*= (\S+)", _behind_a_slow_link(hosts))
    before, during = marks[:2], marks[2:]
    return before == ["0x1"] * 2 and "0x3" in during, f"ToS before iperf {before}, during it {during}"


def mri(hosts: Hosts) -> tuple[bool, str]:
    traces = re.findall(r"swid\s*= 1[\s|]+qdepth\s*= (\d+)", _behind_a_slow_link(hosts))
    depths = [int(depth) for depth in traces]
    before, during = depths[:2], depths[2:]
    words = f"depth at s1 before iperf {before}, during it {during}"
    return before == [0, 0] and max(during, default=0) > 0, words


CHECKS: dict[str, Callable[[Hosts], tuple[bool, str]]] = {
    check.__name__: check for check in (basic, basic_tunnel, calc, ecn, mri)
}


def main(name: str) -> None:
    """Start the exercise's network, check it, and end it."""
    sys.path.insert(0, str(UTILITIES))
    run_exercise = importlib.import_module("run_exercise")
    topology = POD if POD.exists() else Path("topology.json")
    exercise = run_exercise.ExerciseRunner(
        str(topology), "logs", "pcaps", f"build/{name}.json", "simple_switch_grpc", True
    )
    result: dict[str, object] = {}

    def instead_of_a_prompt() -> None:
        result["passed"], result["seen"] = CHECKS[name](Hosts(exercise.net))

    exercise.do_net_cli = instead_of_a_prompt
    exercise.run_exercise()
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
