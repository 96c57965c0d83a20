"""`monitor.many.*`: what one `phb monitor` takes that watches 200 switches of 20 classes each, every second.

Each switch has a rule for each class, and all of them have traffic in every second. Metrics are served, and read every
15 seconds, and history is kept; SNMP isn't served. `cores` is its processor time by the time that passes, `mb` its
resident memory at the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.figures import Figure
from benchmarks.monitor.policy import CLASSES, policy, written
from benchmarks.monitor.standing import DEVICE, standing

SWITCHES = 200
# Until all switches have been read for some time, and the seconds that count.
WARM_S, MEASURED_S = 75, 120
SCRAPED_S = 15


def _inventory(folder: Path, addresses: Sequence[str], path: Path) -> Path:
    lines = ["phb-inventory: 1", "switches:"]
    for number, address in enumerate(addresses):
        lines += [f"  - {{name: s{number}, address: '{address}', device-id: {DEVICE}, policies: ['{path}']}}"]
    inventory = folder / "inventory.yaml"
    inventory.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return inventory


class Monitor:
    """A `phb monitor` in a process of its own."""

    def __init__(self, inventory: Path, *options: str) -> None:
        command = [sys.executable, "-m", "phb", "monitor", "--inventory", str(inventory)]
        command += ["--metrics", "127.0.0.1:0", *options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        said, self._metrics = self._process.stderr.readline().strip().split(": ", 1)
        if said != "metrics":
            raise RuntimeError(f"phb monitor said {said}: {self._metrics}")

    def scrape(self) -> int:
        """Read its metrics; return how many switches answer it."""
        with urllib.request.urlopen(self._metrics, timeout=30) as page:
            return sum(line.startswith(b"phb_switch_up{") and float(line.split()[-1]) == 1 for line in page)

    def seconds(self) -> float:
        """Return its processor time so far."""
        if self._process.poll() is not None:
            raise RuntimeError(f"phb monitor ended with {self._process.returncode}")
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Return its resident memory."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def end(self) -> None:
        """End it, and wait."""
        self._process.terminate()
        self._process.wait()


@contextmanager
def monitored(addresses: Sequence[str], path: Path) -> Iterator[Monitor]:
    """Give a monitor of all addresses."""
    with TemporaryDirectory() as folder:
        history = str(Path(folder) / "history.sqlite")
        monitor = Monitor(_inventory(Path(folder), addresses, path), "--history", history)
        try:
            yield monitor
        finally:
            monitor.end()


def measure() -> list[Figure]:
    """Measure processor time and memory."""
    with (
        written(policy(CLASSES)) as path,
        standing(SWITCHES, path) as addresses,
        monitored(addresses, path) as monitor,
    ):
        time.sleep(WARM_S)
        began, used = time.monotonic(), monitor.seconds()
        for _ in range(MEASURED_S // SCRAPED_S):
            time.sleep(SCRAPED_S)
            if (up := monitor.scrape()) != SWITCHES:
                raise RuntimeError(f"{up} of {SWITCHES} switches answer the monitor")
        cores = (monitor.seconds() - used) / (time.monotonic() - began)
        return [
            Figure("monitor.many.cores", cores, "of one core"),
            Figure("monitor.many.mb", monitor.megabytes(), "MB"),
        ]
