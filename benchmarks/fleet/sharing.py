"""`fleet.share.*`: how soon others keep the switches of a controller that is killed or frozen, and what keeping costs.

Controllers are processes of `phb watch --share` on this machine, by default with one SQLite file, the switches those
of `benchmarks.fleet.standing`. A killed process is seen to have ended; a frozen one loses its lease first, as one does
whose machine is gone.
"""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from benchmarks.figures import Figure, write
from benchmarks.fleet.standing import Standing, standing

ROUTE = """\
phb: 1
node: r1
ports: [{number: 1, name: a, address: 10.0.1.1}, {number: 2, name: b, address: 10.0.2.1}]
routes:
  - {destination: 10.0.%d.0/24, port: b, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
"""
PATIENCE_S = 600


class Watch:
    """A controller: which switches it keeps, and when it last said so."""

    def __init__(self, fleet: Standing, inventory: Path, state: str) -> None:
        command = [sys.executable, "-m", "phb", "watch", "--json", "--share", "--inventory", str(inventory)]
        self.process = subprocess.Popen(
            [*command, "--state", state, *fleet.program], stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.kept: dict[str, float] = {}
        self.applied: dict[str, float] = {}
        self.told: dict[str, int] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event: dict[str, Any] = json.loads(line)
            now, kind = time.monotonic(), event["event"]
            self.told[kind] = self.told.get(kind, 0) + 1
            if kind in ("applied", "in-sync"):
                self.kept[event["switch"]] = now
            if kind == "applied":
                self.applied[event["switch"]] = now

    @property
    def processor_s(self) -> float:
        """Seconds of processor time until now."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    @property
    def memory_mb(self) -> float:
        """MB of memory now."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * 4096 / 1e6

    def end(self) -> None:
        """End it at once, and close what was read of it."""
        self.process.kill()
        self.process.wait()


def _until(done: Any) -> None:
    until = time.monotonic() + PATIENCE_S
    while not done():
        if time.monotonic() > until:
            raise RuntimeError(f"not done within {PATIENCE_S} s")
        time.sleep(0.01)


def _moved(from_: Watch, to: list[Watch], how: signal.Signals) -> float:
    """Stop a controller; give the seconds until others have compared each of its switches."""
    # Whoever said it last keeps it.
    mine = {name for name, when in from_.kept.items() if all(when > each.kept.get(name, 0) for each in to)}
    began = time.monotonic()
    from_.process.send_signal(how)
    _until(lambda: all(any(each.kept.get(name, 0) > began for each in to) for name in mine))
    return max(max(each.kept.get(name, 0) for each in to) for name in mine) - began


def measure(count: int = 200, controllers: int = 2, state: str | None = None) -> list[Figure]:
    """Measure with so many switches and controllers."""
    with TemporaryDirectory() as name, standing(count, Path(name)) as fleet:
        folder = Path(name)
        (folder / "policy.yaml").write_text(ROUTE % 1)
        inventory = fleet.inventory(folder, [folder / "policy.yaml"])
        where = state or str(folder / "state.sqlite")
        began = time.monotonic()
        watches = [Watch(fleet, inventory, where) for _ in range(controllers)]
        try:
            _until(lambda: len({name for each in watches for name in each.kept}) == count)
            started = time.monotonic() - began
            time.sleep(5)
            used, since = sum(each.processor_s for each in watches), time.monotonic()
            time.sleep(10)
            steady = (sum(each.processor_s for each in watches) - used) / (time.monotonic() - since)
            memory = max(each.memory_mb for each in watches)
            frozen = _moved(watches[0], watches[1:], signal.SIGSTOP)
            watches[0].process.send_signal(signal.SIGCONT)
            _until(lambda: watches[0].told.get("members", 0) >= 3)
            time.sleep(5)
            (folder / "policy.yaml").write_text(ROUTE % 2)
            began = time.monotonic()
            _until(lambda: len({n for each in watches for n, when in each.applied.items() if when > began}) == count)
            changed = time.monotonic() - began
            killed = _moved(watches[0], watches[1:], signal.SIGKILL)
        finally:
            for each in watches:
                each.end()
        return [
            Figure("fleet.share.start.s", started, "s"),
            Figure("fleet.share.steady", steady, "processors"),
            Figure("fleet.share.memory", memory, "MB"),
            Figure("fleet.share.changed.s", changed, "s"),
            Figure("fleet.share.frozen.s", frozen, "s"),
            Figure("fleet.share.killed.s", killed, "s"),
        ]


def main(
    count: Annotated[int, typer.Option(help="Switches.")] = 200,
    controllers: Annotated[int, typer.Option(help="Controllers.")] = 2,
    state: Annotated[str | None, typer.Option(help="Their state.  (default: an SQLite file)")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the figures to this file.")] = None,
) -> None:
    """Measure how soon others keep the switches of a controller that ends."""
    figures = measure(count, controllers, state)
    for figure in figures:
        print(f"{figure.name} {figure.value:.2f} {figure.unit}")
    if json is not None:
        write(json, figures)


if __name__ == "__main__":
    typer.run(main)
