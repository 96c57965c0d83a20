"""`monitor.late.*`: how long after its cause `phb monitor` tells of an event, in intervals; the worst of some rounds.

- `rate`: a class begins to send more than it may.
- `okay`: it does so no longer.
- `away`: the switch is frozen.
- `back`: it goes on.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import phb_p4
from benchmarks.figures import Figure
from benchmarks.monitor.policy import frame, push, written
from phb_switch import P4RuntimeServer, PortConfig, Switch

DEVICE, ROUNDS, INTERVAL_S = 1, 7, 1.0
STEP_S, LITTLE, MUCH = 0.01, 1, 10
"""So often come so many frames: 100 kbit/s or ten times as much, of 300 that there may be."""
POLICY = """\
phb: 1
node: late
ports:
  - {number: 1, name: port1, address: 10.1.0.254}
  - {number: 2, name: port2, address: 10.2.0.254}
routes:
  - {destination: 10.2.0.0/16, port: port2, source-mac: 02:00:00:00:00:02, destination-mac: 02:00:00:00:01:02}
classes:
  - name: class0
    objectives: {maximum-rate: {value: 300, unit: kbit/s, basis: ethernet}, interval-s: 1}
actions: [{name: action0, class: class0}]
rules: [{name: rule0, match: {protocol: udp}, actions: [action0]}]
"""


def send() -> None:
    """Be a switch that packets pass, as many each step as the last line of standard input says."""
    switch = Switch("late", {1: PortConfig(), 2: PortConfig()})
    switch.load(phb_p4.artifact_path().read_text())
    server = P4RuntimeServer(switch, device_id=DEVICE)
    print(server.start(), flush=True)
    frames = [LITTLE]

    def pass_on() -> None:
        while True:
            time.sleep(STEP_S)
            for _ in range(frames[0]):
                switch.process(1, frame(0), time.monotonic_ns())

    threading.Thread(target=pass_on, daemon=True).start()
    for line in sys.stdin:
        frames[0] = int(line)
    server.stop()


class _Sending:
    """That switch."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "benchmarks.monitor.late"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.address = f"127.0.0.1:{int(self._process.stdout.readline())}"

    def send(self, frames: int) -> None:
        """Send so many each step from now on."""
        assert self._process.stdin is not None
        print(frames, file=self._process.stdin, flush=True)

    def signal(self, number: int) -> None:
        """Freeze it, or let it go on."""
        self._process.send_signal(number)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


class _Told:
    """The events that a `phb monitor` tells, and when."""

    def __init__(self, address: str, path: Path) -> None:
        command = [sys.executable, "-m", "phb", "monitor", "--json", "--interval", str(INTERVAL_S)]
        command += ["--address", address, "--device-id", str(DEVICE), str(path)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._events: list[tuple[float, str]] = []
        self._news = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self._events.append((time.monotonic(), json.loads(line)["event"]))
                self._news.notify_all()

    def after(self, began: float, kind: str) -> float:
        """Return the seconds from a moment to the first event of a kind behind it."""
        with self._news:
            while True:
                for moment, event in self._events:
                    if moment > began and event == kind:
                        return moment - began
                if not self._news.wait(30):
                    raise RuntimeError(f"phb monitor told of nothing that is {kind}, but {self._events}")

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait()


def measure() -> list[Figure]:
    """Measure each of them in turn, out of step with the intervals."""
    with written(POLICY) as path:
        sending = _Sending()
        try:
            push(sending.address, DEVICE, path)
            told = _Told(sending.address, path)
            try:
                return _measured(sending, told)
            finally:
                told.close()
        finally:
            sending.close()


def _measured(sending: _Sending, told: _Told) -> list[Figure]:
    causes: dict[str, tuple[Callable[[], None], str]] = {
        "rate": (lambda: sending.send(MUCH), "not-achieved"),
        "okay": (lambda: sending.send(LITTLE), "okay-again"),
        "away": (lambda: sending.signal(signal.SIGSTOP), "switch-away"),
        "back": (lambda: sending.signal(signal.SIGCONT), "switch-back"),
    }
    worst = dict.fromkeys(causes, 0.0)
    time.sleep(5 * INTERVAL_S)
    for round_ in range(ROUNDS):
        for name, (cause, kind) in causes.items():
            time.sleep((2 + round_ / ROUNDS) * INTERVAL_S)
            began = time.monotonic()
            cause()
            worst[name] = max(worst[name], told.after(began, kind) / INTERVAL_S)
    return [Figure(f"monitor.late.{name}", intervals, "intervals") for name, intervals in worst.items()]


if __name__ == "__main__":
    send()
