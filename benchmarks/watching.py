"""`watch.*.s`: how long a watched switch differs from its policy, after each event that can cause it.

Switches and watches are processes, killed with SIGKILL. The policy is one route: the time is that to notice an event,
not that of a compilation. The worst of several rounds counts, because a network meets that one too.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from benchmarks.figures import Figure, write

ROUNDS = 7
ROUTE = """\
phb: 1
node: r1
ports: [{{number: 1, name: a, address: 10.0.1.1}}, {{number: 2, name: b, address: 10.0.2.1}}]
routes:
  - {{destination: 10.0.{}.0/24, port: b, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}}
"""


class _Switch:
    """A phb-switch at one address over all its restarts."""

    def __init__(self) -> None:
        self.address = "127.0.0.1:0"
        self.start()

    def start(self) -> float:
        """Return the moment at which it listens."""
        command = [sys.executable, "-m", "phb_switch", "--no-p4", "--json"]
        command += ["--device-id", "1", "--grpc-server-addr", self.address]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdout is not None
        self.address = json.loads(self._process.stdout.readline())["grpc_server_addr"]
        return time.perf_counter()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


class _Watch:
    """A `phb watch`, and the moments of its events."""

    def __init__(self, folder: Path, address: str, state: str, *options: str) -> None:
        self.started = time.perf_counter()
        command = [sys.executable, "-m", "phb", "watch", "--json", "--address", address]
        command += ["--state", str(folder / state), *options, str(folder / "policy.yaml")]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._told: list[tuple[float, str]] = []
        self._seen = 0
        self._news = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self._told.append((time.perf_counter(), json.loads(line)["event"]))
                self._news.notify_all()

    def wait(self, *events: str) -> float:
        """Return the moment of the next of these events; skip those before it."""
        with self._news:
            while True:
                while self._seen < len(self._told):
                    moment, event = self._told[self._seen]
                    self._seen += 1
                    if event in events:
                        return moment
                if not self._news.wait(60):
                    raise RuntimeError(f"the watch told none of {events} within 60 s, but {self._told}")

    def kill(self) -> float:
        """Return the moment at which it has ended."""
        self._process.kill()
        self._process.wait()
        return time.perf_counter()


class _Bench:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self.change()
        self.switch = _Switch()
        self.watch = self.start("first.sqlite", "--election-id", "10")
        self.watch.wait("applied")

    def close(self) -> None:
        self.watch.kill()
        self.switch.kill()

    def start(self, state: str, *options: str) -> _Watch:
        return _Watch(self._folder, self.switch.address, state, *options)

    def change(self) -> float:
        """Rename a new policy over the old one; return the moment."""
        self._number += 1
        beside = self._folder / "beside"
        beside.write_text(ROUTE.format(self._number))
        beside.replace(self._folder / "policy.yaml")
        return time.perf_counter()

    def file_changed(self, round_: int) -> float:
        began = self.change()
        return self.watch.wait("applied") - began

    def switch_restarted(self, round_: int) -> float:
        self.switch.kill()
        self.watch.wait("unreachable")
        began = self.switch.start()
        return self.watch.wait("applied") - began

    def controller_restarted(self, round_: int) -> float:
        """Kill the watch while it brings a change to the switch."""
        self.change()
        self.watch.wait("policy")
        self.watch.kill()
        self.watch = self.start("first.sqlite", "--election-id", "10")
        return self.watch.wait("applied", "in-sync") - self.watch.started

    def standby_takes_over(self, round_: int) -> float:
        standby = self.start(f"{round_}.sqlite", "--standby", "--election-id", "5")
        standby.wait("standby")
        began = self.watch.kill()
        self.watch = standby
        return standby.wait("in-sync") - began


def _worst(once: Callable[[int], float]) -> float:
    values = []
    for round_ in range(ROUNDS):
        # Out of step with the watch's intervals.
        time.sleep(0.3 + 0.07 * round_)
        values.append(once(round_))
    return max(values)


def measure() -> list[Figure]:
    """Measure the worst of several rounds of each, in seconds."""
    with TemporaryDirectory() as folder:
        bench = _Bench(Path(folder))
        try:
            return [
                Figure("watch.file.s", _worst(bench.file_changed), "s"),
                Figure("watch.switch_restart.s", _worst(bench.switch_restarted), "s"),
                Figure("watch.controller_restart.s", _worst(bench.controller_restarted), "s"),
                Figure("watch.standby.s", _worst(bench.standby_takes_over), "s"),
            ]
        finally:
            bench.close()


def main(json: Annotated[Path | None, typer.Option(help="Write the figures to this file.")] = None) -> None:
    """Measure how soon a watched switch is as its policy says again."""
    figures = measure()
    for figure in figures:
        print(f"{figure.name} {figure.value:.2f} {figure.unit}")
    if json is not None:
        write(json, figures)


if __name__ == "__main__":
    typer.run(main)
