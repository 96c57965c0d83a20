"""A server in a process of its own, for tests that look at its memory; run as a program, it is that process."""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from phb_switch import Binding, P4RuntimeServer, PortConfig, Role, Switch, Tls

MIB = 1 << 20
CPU_PORT = 510
PATIENCE_SECONDS = 30


class Apart:
    """A switch with ports 1 to 4 and a server, elsewhere; `more` is what `P4RuntimeServer` takes, as JSON has it."""

    def __init__(self, device_id: int, **more: Any) -> None:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._process = subprocess.Popen(
            [sys.executable, __file__, json.dumps({"device_id": device_id, **more})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.port = int(self._answer())
        self._before = self._memory("VmRSS")

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the server has ended"
        return line.strip()

    def _memory(self, what: str) -> int:
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        (found,) = (line for line in lines if line.startswith(f"{what}:"))
        return int(found.split()[1]) << 10

    def mark(self) -> None:
        """Growth is counted from here."""
        self._before = self._memory("VmRSS")
        # Writing 5 resets the peak to the present use.
        Path(f"/proc/{self._process.pid}/clear_refs").write_text("5")

    @property
    def grown(self) -> int:
        """By how much it has more memory now, in MiB."""
        return (self._memory("VmRSS") - self._before) // MIB

    @property
    def most_grown(self) -> int:
        """By how much it has had more memory at most, in MiB."""
        return (self._memory("VmHWM") - self._before) // MIB

    def trim(self) -> None:
        """Has the allocator give free memory back to the system."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self._answer()

    def __enter__(self) -> "Apart":
        return self

    def __exit__(self, *_exception: object) -> None:
        try:
            self._process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            self._process.kill()
            self._process.wait()


def main() -> None:
    """Serves until its input ends; gives free memory back at each line."""
    more = json.loads(sys.argv[1])
    if "tls" in more:
        more["tls"] = Tls(**more["tls"])
    if "bindings" in more:
        more["bindings"] = [Binding(**{**each, "roles": set(each["roles"])}) for each in more["bindings"]]
    if "roles" in more:
        more["roles"] = [Role(**each) for each in more["roles"]]
    switch = Switch("apart", {port: PortConfig() for port in range(1, 5)}, cpu_port=CPU_PORT)
    with P4RuntimeServer(switch, **more) as server:
        print(server.address.rpartition(":")[2], flush=True)
        for _ in sys.stdin:
            print(ctypes.CDLL(None).malloc_trim(0), flush=True)


if __name__ == "__main__":
    main()
