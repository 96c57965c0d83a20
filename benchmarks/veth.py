"""Figures of whole switches on virtual Ethernet interfaces: `python -m benchmarks.veth --json out/veth.json`, as root.

```text
  namespace "traffic"                            namespace "switch"
  generator, processor 0   ------ veth pair ---- port 1
  counter                  ------ veth pair ---- port 2   phb-switch or forwarder, processor 1; bmv2, either or both
```

The same 128-byte frames go through phb-switch, through a forwarder that does nothing and, where it is installed,
through bmv2, in turns. The forwarder is an example of the crate phb-ports: the same rings, no switch ("plain" is
without rings). phb-switch and bmv2 run phb.json with the entries of one policy of 1,000 rules, which `phb push`
writes to either. A rate is the highest that came back of several offered ones; a figure is the median of the turns.
Delays are those of 50,000 frames a second, less what the generator measures on a veth pair without a switch: through
phb-switch, through it with its thread in real time, and through the forwarder. What the forwarder loses and delays,
the machine does; processor time per frame depends little on what else the machine does.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bmv2 import name_build
from benchmarks.figures import Figure, write

ROOT = Path(__file__).parents[1]
ARTIFACT = ROOT / "p4src" / "build" / "phb.json"
# Its packets carry their output port, so it forwards as soon as it runs.
WITHOUT_ENTRIES = ROOT / "switch" / "python" / "tests" / "programs" / "ranked.json"

FRAME_BYTES = 128
FLOWS = 256
RULES = 1_000
DEVICE = 1
TURNS = 3
SECONDS = 2.0
LOSS_SECONDS = 5.0
LATENCY_RATE = 50_000
REAL_TIME_PRIORITY = "1"
# Frames per second offered to switches that lose more the more they are offered; 0 is all the generator can.
BMV2_RATES = (20_000, 30_000, 40_000, 60_000, 0)
PATIENCE_S = 30.0
START_TURNS = 3


def unavailable() -> str:
    """Say why this can't be measured here; empty if it can."""
    if os.geteuid() != 0:
        return "needs root"
    for command in ("ip", "cargo"):
        if shutil.which(command) is None:
            return f"needs the command {command}"
    if len(os.sched_getaffinity(0)) < 2:
        return "needs two processors"
    return ""


def policy() -> str:
    """Return a node with two ports, a thousand rules of several fields, and fair queueing."""
    lines = ["phb: 1", "node: bench", "ports:"]
    lines += [f"  - {{number: {number}, name: port{number}, address: 10.{number}.0.254}}" for number in (1, 2)]
    lines += ["routes:"]
    for number in (1, 2):
        lines += [
            f"  - {{destination: 10.{number}.0.0/16, port: port{number}, "
            f"source-mac: 02:00:00:00:00:0{number}, destination-mac: 02:00:00:00:01:0{number}}}"
        ]
    lines += ["queueing:"]
    lines += [
        f"  - {{port: port{number}, schedule: {{kind: fair-queue, dialect: ios-12}}, hold-queue: 1000}}"
        for number in (1, 2)
    ]
    lines += ["actions:", "  - {name: ef, set-dscp: EF}", "  - {name: af, set-dscp: AF21}", "rules:"]
    for number in range(RULES):
        ports = 1000 + number * 8
        # The first rule that takes a packet is as often an early as a late one.
        lines += [
            f"  - {{name: rule{number}, match: {{protocol: udp, source: 10.1.{number % 250}.0-10.1.{number % 250}.99, "
            f"destination: 10.2.0.0/16, source-ports: {ports}-{ports + 7}}}, actions: [{('ef', 'af')[number % 2]}]}}"
        ]
    return "\n".join(lines) + "\n"


def udp_frames() -> list[bytes]:
    """Return a frame of each flow; the rules take most of them."""
    frames = []
    for flow in range(FLOWS):
        rule = flow * RULES // FLOWS
        source = bytes((10, 1, rule % 250, flow % 100))
        total = FRAME_BYTES - 14
        header = bytes((0x45, 0, total >> 8, total & 255, 0, flow, 0x40, 0, 64, 17))
        addresses = source + bytes((10, 2, 0, flow & 255))
        words = memoryview(header + addresses)
        sum_ = sum(words[at] << 8 | words[at + 1] for at in range(0, len(words), 2))
        while sum_ > 0xFFFF:
            sum_ = (sum_ >> 16) + (sum_ & 0xFFFF)
        udp = b"".join(each.to_bytes(2, "big") for each in (1000 + rule * 8, 53, total - 20, 0))
        ethernet = bytes.fromhex("020000000101020000000001 0800")
        packet = header + (0xFFFF - sum_).to_bytes(2, "big") + addresses + udp
        frames.append((ethernet + packet).ljust(FRAME_BYTES, b"x"))
    return frames


def steering_frames() -> list[bytes]:
    """Return a frame that ranked.p4 sends to port 2."""
    return [(bytes(4) + (2).to_bytes(2, "big") + bytes(8)).ljust(FRAME_BYTES, b"x")]


def programs() -> dict[str, str]:
    """Build generator and forwarder; return their paths by name."""
    command = ["cargo", "build", "--release", "--quiet", "-p", "phb-ports", "--examples", "--message-format=json"]
    built = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = [json.loads(line) for line in built.splitlines()]
    return {each["target"]["name"]: each["executable"] for each in messages if each.get("executable")}


class Bench:
    """The interfaces, and the processes on them."""

    def __init__(self, stack: ExitStack) -> None:
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="phb-bench-")))
        self.programs = programs()
        tag = os.getpid() % 100_000
        self.traffic, self.switch = f"phbbench{tag}t", f"phbbench{tag}s"
        for space in (self.traffic, self.switch):
            self._ip("netns", "add", space)
            stack.callback(self._ip, "netns", "delete", space)
            # Nothing but our frames: no neighbour discovery.
            self._ip("netns", "exec", space, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
            self._ip("-n", space, "link", "set", "lo", "up")
        for number in (1, 2):
            self._veth((self.traffic, f"t{number}"), (self.switch, f"s{number}"))
        self._veth((self.traffic, "d1"), (self.traffic, "d2"))
        (self.folder / "policy.yaml").write_text(policy())
        for name, frames in (("udp", udp_frames()), ("steering", steering_frames())):
            (self.folder / name).write_text("".join(f"{frame.hex()}\n" for frame in frames))
        # A processor for the traffic, one for the switch.
        self.processors = sorted(os.sched_getaffinity(0))[:2]

    def _veth(self, first: tuple[str, str], second: tuple[str, str]) -> None:
        (space, name), (peer_space, peer) = first, second
        self._ip("-n", space, "link", "add", name, "type", "veth", "peer", "name", peer, "netns", peer_space)
        self._ip("-n", space, "link", "set", name, "up")
        self._ip("-n", peer_space, "link", "set", peer, "up")

    @staticmethod
    def _ip(*arguments: str) -> None:
        subprocess.run(["ip", *arguments], check=True)

    def generate(
        self, rate: float, seconds: float, *, frames: str = "udp", send: str = "t1", receive: str = "t2"
    ) -> dict[str, Any]:
        """Send frames and count those that come back."""
        command = [self.programs["generate"], send, receive, str(self.folder / frames), str(rate), str(seconds)]
        done = subprocess.run(
            ["ip", "netns", "exec", self.traffic, *command],
            check=True,
            stdout=subprocess.PIPE,
            preexec_fn=lambda: os.sched_setaffinity(0, self.processors[:1]),
        )
        counted: dict[str, Any] = json.loads(done.stdout)
        return counted

    @contextmanager
    def running(self, command: list[str], processors: Sequence[int] | None = None) -> Iterator[subprocess.Popen[bytes]]:
        """Run a switch in its namespace, on its processor unless others are given."""
        allowed = processors or self.processors[1:]
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                ["ip", "netns", "exec", self.switch, *command],
                stdout=log,
                stderr=log,
                preexec_fn=lambda: os.sched_setaffinity(0, allowed),
            )
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @contextmanager
    def null(self, *arguments: str) -> Iterator[int]:
        """Run the forwarder that does nothing; give its process."""
        with self.running([self.programs["forward"], "s1", "s2", *arguments]) as process:
            self._wait_for_frames()
            yield process.pid

    @contextmanager
    def phb(self, *options: str) -> Iterator[int]:
        """Run phb-switch with the policy; give its process."""
        address = f"127.0.0.1:{free_port()}"
        command = [sys.executable, "-m", "phb_switch", "-i", "1@s1", "-i", "2@s2", "--device-id", str(DEVICE)]
        command += ["--no-p4", *options, "--", "--grpc-server-addr", address, "--cpu-port", "510"]
        with self.running(command) as process:
            self._push(address)
            self._wait_for_frames()
            yield process.pid

    @contextmanager
    def bmv2(self, processors: Sequence[int]) -> Iterator[None]:
        """Run bmv2 with the same artifact and the same policy."""
        address = f"127.0.0.1:{free_port()}"
        command = ["simple_switch_grpc", "--no-p4", "-i", "1@s1", "-i", "2@s2", "--device-id", str(DEVICE)]
        command += ["--log-level", "off"]
        command += ["--", "--grpc-server-addr", address, "--cpu-port", "510", "--priority-queues", "8"]
        with self.running(command, processors):
            self._push(address)
            self._wait_for_frames()
            yield

    def _push(self, address: str) -> None:
        command = [sys.executable, "-m", "phb", "push", "--address", address, "--device-id", str(DEVICE)]
        command += ["--artifact", str(ARTIFACT), "--p4info", str(ARTIFACT.with_name("phb.p4info.txtpb"))]
        end = time.monotonic() + PATIENCE_S
        while True:
            pushed = subprocess.run(
                ["ip", "netns", "exec", self.switch, *command, str(self.folder / "policy.yaml")],
                capture_output=True,
                check=False,
                text=True,
            )
            if pushed.returncode == 0:
                return
            if time.monotonic() > end:
                raise RuntimeError(f"phb push: {pushed.stderr}{(self.folder / 'log').read_text()}")
            time.sleep(0.2)

    def _wait_for_frames(self) -> None:
        end = time.monotonic() + PATIENCE_S
        while not self.generate(1000, 0.1)["received"]:
            if time.monotonic() > end:
                raise RuntimeError(f"no frames come back: {(self.folder / 'log').read_text()}")


def free_port() -> int:
    """Return a TCP port of the loopback interface that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Turn:
    """One turn of a switch: frames per second, delays in microseconds, processor time per frame in nanoseconds."""

    rate: float
    ns: float
    loss_free: float = 0.0
    p50: float = 0.0
    p99: float = 0.0


def highest(bench: Bench, rates: tuple[int, ...] = (0, 0)) -> float:
    """Return the highest rate of frames that come back, of several offered ones."""
    return max(float(bench.generate(rate, SECONDS)["received_per_second"]) for rate in rates)


def processor_ns(process: int) -> int:
    """Return the processor time of all threads of a process so far, in the kernel and out of it."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


def loss_free(bench: Bench, rate: float) -> float:
    """Return the highest tried part of a rate at which the switch loses nothing.

    Frames that come back while the generator has no room are its own loss, as are those that it can't send.
    """
    for part in (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1):
        counted = bench.generate(rate * part, LOSS_SECONDS)
        offered = counted["sent"] - counted["send_errors"]
        came_back = counted["received"] + counted["missed"]
        if came_back == offered and counted["sent"] >= 0.999 * rate * part * LOSS_SECONDS:
            return rate * part
    return 0.0


def delays(bench: Bench) -> tuple[float, float]:
    """Return median and 99th percentile of the delay that a switch adds, in microseconds."""
    direct = bench.generate(LATENCY_RATE, SECONDS, send="d1", receive="d2")
    counted = bench.generate(LATENCY_RATE, SECONDS)
    p50, p99 = ((counted[each] - direct[each]) / 1000 for each in ("p50_ns", "p99_ns"))
    return p50, p99


def at_most(bench: Bench, process: int) -> Turn:
    """Begin a turn of a switch that runs: offer all that the generator can."""
    rate, ns = 0.0, float("inf")
    for _ in range(2):
        before = processor_ns(process)
        counted = bench.generate(0, SECONDS)
        rate = max(rate, float(counted["received_per_second"]))
        ns = min(ns, (processor_ns(process) - before) / counted["received"])
    return Turn(rate, ns)


def below(bench: Bench, turn: Turn) -> None:
    """End a turn of a switch that runs: find what it does with less."""
    turn.loss_free = loss_free(bench, turn.rate)
    turn.p50, turn.p99 = delays(bench)


def through_bmv2(bench: Bench) -> float:
    """Return bmv2's highest rate; its threads may do better beside the generator than all on one processor."""
    rates = []
    for processors in (bench.processors, bench.processors[1:]):
        with bench.bmv2(processors):
            rates.append(highest(bench, BMV2_RATES))
    return max(rates)


def start_seconds(bench: Bench) -> float:
    """Return the time from the start of the process to the first counted frame; one is sent every half millisecond."""
    command = [sys.executable, "-m", "phb_switch", "-i", "1@s1", "-i", "2@s2", str(WITHOUT_ENTRIES)]
    command += ["--", "--grpc-server-addr", f"127.0.0.1:{free_port()}"]
    generator = ["ip", "netns", "exec", bench.traffic, bench.programs["generate"], "t1", "t2"]
    generator += [str(bench.folder / "steering"), "2000", "3"]
    with ExitStack() as stack:
        counting = subprocess.Popen(generator, stdout=subprocess.PIPE)
        stack.callback(counting.wait)
        # The generator is at work when the switch starts.
        time.sleep(0.2)
        started = time.time_ns()
        stack.enter_context(bench.running(command))
        result, _ = counting.communicate(timeout=PATIENCE_S)
    first = json.loads(result)["first_received_ns"]
    if not first:
        raise RuntimeError(f"phb-switch does not start: {(bench.folder / 'log').read_text()}")
    return float(first - started) / 1e9


def measure(report: Callable[[str], None]) -> list[Figure]:
    """Measure everything; `report` gets a line per turn."""
    with_bmv2 = shutil.which("simple_switch_grpc") is not None
    phb: list[Turn] = []
    null: list[Turn] = []
    plain: list[float] = []
    real_time: list[float] = []
    bmv2: list[float] = []
    with ExitStack() as stack:
        bench = Bench(stack)
        for turn in range(TURNS):
            # Rates right after each other: a shared machine is faster in one minute than in another.
            with bench.null() as process:
                null.append(at_most(bench, process))
            with bench.phb() as process:
                phb.append(at_most(bench, process))
                below(bench, phb[-1])
            with bench.null():
                below(bench, null[-1])
            with bench.null("plain"):
                plain.append(highest(bench))
            with bench.phb("--real-time", REAL_TIME_PRIORITY):
                real_time.append(delays(bench)[1])
            ours, bound = phb[-1], null[-1]
            line = f"turn {turn + 1}: null {bound.rate:,.0f} (plain {plain[-1]:,.0f}), phb {ours.rate:,.0f} packets/s"
            if with_bmv2:
                bmv2.append(through_bmv2(bench))
                line += f", bmv2 {bmv2[-1]:,.0f} packets/s, phb/bmv2 {ours.rate / bmv2[-1]:.1f}"
            report(f"{line}, phb/null {ours.rate / bound.rate:.2f}, by processor time {bound.ns / ours.ns:.2f}")
        start = statistics.median(start_seconds(bench) for _ in range(START_TURNS))
    figures = [Figure("veth.null.plain.pps", statistics.median(plain), "packets/s")]
    for name, latency, turns in (("phb", "latency", phb), ("null", "latency.null", null)):
        figures += [
            Figure(f"veth.{name}.pps", statistics.median(turn.rate for turn in turns), "packets/s"),
            Figure(f"veth.{name}.ns", statistics.median(turn.ns for turn in turns), "ns"),
            Figure(f"veth.{name}.loss_free_pps", statistics.median(turn.loss_free for turn in turns), "packets/s"),
            Figure(f"{latency}.p50.us", statistics.median(turn.p50 for turn in turns), "us"),
            Figure(f"{latency}.p99.us", statistics.median(turn.p99 for turn in turns), "us"),
        ]
    if bmv2:
        figures.append(Figure("veth.bmv2.pps", statistics.median(bmv2), "packets/s"))
    else:
        report("simple_switch_grpc is not on the PATH: nothing of bmv2")
    return [
        *figures,
        Figure("latency.real_time.p99.us", statistics.median(real_time), "us"),
        Figure("start.s", start, "s"),
    ]


def main() -> None:
    """Measure, and write the figures where wanted."""
    parser = argparse.ArgumentParser(description="Measure phb-switch on veth interfaces (needs root).")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    reason = unavailable()
    if reason:
        print(f"veth: left out: {reason}", file=sys.stderr)
        return
    figures = name_build(measure(lambda line: print(f"veth: {line}", file=sys.stderr, flush=True)))
    if arguments.json:
        write(arguments.json, figures)
    for figure in figures:
        print(f"{figure.name}: {figure.value:,.6g} {figure.unit}")


if __name__ == "__main__":
    main()
