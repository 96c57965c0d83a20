"""Runs one exercise of p4lang/tutorials by its own scripts, and does what its README has the reader do.

    python -m tests.peers.tutorials_exercise EXERCISE ARGUMENTS

in the folder of the exercise, with the arguments that its Makefile gives to ``run_exercise.py`` and
``simple_switch_grpc`` on the PATH, as root, in an interpreter that has what those scripts import. The last line of
its output is a JSON object: ``passed``, and ``seen`` in words.
"""

from __future__ import annotations

import importlib
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from .hosts import Hosts, until

UTILITIES = Path("../../utils").resolve()


def basic(hosts: Hosts) -> tuple[bool, str]:
    lost = hosts.lost()
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


def firewall(hosts: Hosts) -> tuple[bool, str]:
    inside = hosts.iperf("h1", "h2", "10.0.2.2")
    outwards = hosts.iperf("h1", "h3", "10.0.3.3")
    inwards = hosts.iperf("h3", "h1", "10.0.1.1")
    words = ", ".join(
        f"{way} {'connects' if rate else 'does not'}"
        for way, rate in (("h1 to h2", inside), ("h1 to h3", outwards), ("h3 to h1", inwards))
    )
    return bool(inside and outwards and not inwards), f"iperf: {words}"


def _with_controller(hosts: Hosts) -> tuple[int, int, str]:
    """Let h1 ping h2 before and with ``mycontroller.py``; give the replies, and what the controller says."""
    before = hosts.replies("h1", "10.0.2.2", 3)
    said = Path("logs/controller.txt")
    with said.open("w") as out:
        controller = subprocess.Popen([sys.executable, "-u", "mycontroller.py"], stdout=out, stderr=subprocess.STDOUT)
        # It begins when it has pushed its program to all switches.
        time.sleep(10)
        replies = hosts.replies("h1", "10.0.2.2", 10)
        # Idle entries of flowcache are told of after three seconds, and its counters are read now and then.
        time.sleep(8)
        controller.send_signal(signal.SIGINT)
        try:
            controller.wait(5)
        except subprocess.TimeoutExpired:
            controller.kill()
            controller.wait()
    return before, replies, said.read_text()


def _highest(said: str, counter: str) -> dict[str, int]:
    """The highest count of a counter that was told, by switch."""
    counts: dict[str, int] = {}
    for switch, count in re.findall(rf"^(s\d) \S*{counter} \d+: (\d+) packets", said, re.MULTILINE):
        counts[switch] = max(counts.get(switch, 0), int(count))
    return counts


def flowcache(hosts: Hosts) -> tuple[bool, str]:
    before, replies, said = _with_controller(hosts)
    to_controller, from_controller = (_highest(said, name) for name in ("egressPktInCounter", "ingressPktOutCounter"))
    idle = len(re.findall(r"^Deleted flow_cache entry", said, re.MULTILINE))
    # What it counts of the controller's packets it counts by a header that it hasn't parsed: see the page.
    passed = before == 0 and replies > 0 and any(to_controller.values()) and idle > 0
    words = (
        f"replies before the controller {before}, with it {replies} of 10; packets to it {sum(to_controller.values())},"
    )
    return passed, f"{words} from it {sum(from_controller.values())}; idle entries deleted {idle}"


def p4runtime(hosts: Hosts) -> tuple[bool, str]:
    before, replies, said = _with_controller(hosts)
    counts = [_highest(said, f"{side}TunnelCounter") for side in ("ingress", "egress")]
    passed = before == 0 and replies > 0 and all(all(of.get(switch) for switch in ("s1", "s2")) for of in counts)
    words = f"replies before the controller {before}, with it {replies} of 10"
    return passed, f"{words}; tunnels' ingress {counts[0]}, egress {counts[1]}"


def link_monitor(hosts: Hosts) -> tuple[bool, str]:
    output = hosts.listen("h1")
    hosts.begin("h1", f"{sys.executable} send.py")
    until(lambda: "Switch" in output.read_text())
    told = hosts.iperf("h1", "h4", "10.0.4.4", 15)
    time.sleep(2)
    rate = float(told.split()[0]) if told else 0.0
    probes = [probe for probe in output.read_text().split("\n\n")[1:] if probe]
    path = re.findall(r"Switch (\d+) - Port (\d+)", probes[-1]) if probes else []
    # Where the flow leaves s1. Those before, between and after have next to nothing to tell of.
    rates = [float(rate) for rate in re.findall(r"Switch 1 - Port 4: ([\d.]+)", "\n".join(probes))]
    busy = sorted(each for each in rates if each > rate / 10)
    measured = busy[len(busy) // 2] if busy else 0.0
    agree = 0 < rate / 2 < measured < 2 * rate
    return agree and len(path) == 9, f"iperf {rate:.1f} Mbit/s, probes' median at s1 {measured:.1f}; hops {len(path)}"


def load_balance(hosts: Hosts) -> tuple[bool, str]:
    at = {host: hosts.listen(host) for host in ("h2", "h3")}
    for _ in range(12):
        hosts.python("h1", 'send.py 10.0.0.1 "P4 is cool"')
    time.sleep(2)
    came = {host: output.read_text().count("got a packet") for host, output in at.items()}
    return min(came.values()) > 0 and sum(came.values()) == 12, f"of 12 messages: {came}"


def multicast(hosts: Hosts) -> tuple[bool, str]:
    return basic(hosts)


def qos(hosts: Hosts) -> tuple[bool, str]:
    output = hosts.listen("h2")
    for protocol in ("UDP", "TCP"):
        hosts.python("h1", f'send.py --p={protocol} --des=10.0.2.2 --m="P4 is cool" --dur=3')
    time.sleep(2)
    # It shows h2's own answers, too.
    packets = [each for each in output.read_text().split("got a packet") if re.search(r"dst\s*= 10\.0\.2\.2", each)]
    marks = {
        protocol: [*map("".join, (re.findall(r"tos\s*= (\S+)", each) for each in packets if f"[ {protocol} ]" in each))]
        for protocol in ("UDP", "TCP")
    }
    return marks == {"UDP": ["0xb9"] * 3, "TCP": ["0xb1"] * 3}, f"ToS: {marks}"


def source_routing(hosts: Hosts) -> tuple[bool, str]:
    output = hosts.listen("h2")
    hosts.run("h1", f"printf '2 3 2 2 1\\nq\\n' | {sys.executable} send.py 10.0.2.2")
    time.sleep(2)
    lives = re.findall(r"ttl\s*= (\d+)", output.read_text())
    return lives == ["59"], f"TTL after the ports 2 3 2 2 1: {', '.join(lives)}"


CHECKS: dict[str, Callable[[Hosts], tuple[bool, str]]] = {
    check.__name__: check
    for check in (
        basic,
        basic_tunnel,
        calc,
        ecn,
        firewall,
        flowcache,
        link_monitor,
        load_balance,
        mri,
        multicast,
        p4runtime,
        qos,
        source_routing,
    )
}


def main(name: str, arguments: list[str]) -> None:
    """Start the exercise's network, check it, and end it."""
    sys.path.insert(0, str(UTILITIES))
    run_exercise = importlib.import_module("run_exercise")
    sys.argv = ["run_exercise.py", "--quiet", *arguments]
    given = run_exercise.get_args()
    exercise = run_exercise.ExerciseRunner(
        given.topo, given.log_dir, given.pcap_dir, given.switch_json, given.behavioral_exe, given.quiet
    )
    result: dict[str, object] = {}

    def instead_of_a_prompt() -> None:
        result["passed"], result["seen"] = CHECKS[name](Hosts(exercise.net))

    exercise.do_net_cli = instead_of_a_prompt
    exercise.run_exercise()
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
