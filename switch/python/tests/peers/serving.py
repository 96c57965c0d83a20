"""Switches at the addresses that a client's scripts have; run in a network namespace of its own by `test_peers.py`."""

import asyncio
import contextlib
import importlib.util
import inspect
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from phb_switch import P4RuntimeServer, PortConfig, Switch

FIRST_PORT = 50001
SECONDS = 60.0


def _arp(sender: int) -> bytes:
    """An ARP request of 10.0.0.`sender` in an Ethernet frame from the address of that number."""
    source = sender.to_bytes(6, "big")
    body = b"\x00\x01\x08\x00\x06\x04\x00\x01" + source + bytes([10, 0, 0, sender]) + bytes(6) + bytes([10, 0, 0, 9])
    return b"\xff" * 6 + source + b"\x08\x06" + body + bytes(18)


def _ping(source: int, destination: int) -> bytes:
    header = b"\x45\x00\x00\x1c\x00\x00\x00\x00\x40\x01\x00\x00" + bytes([10, 0, 0, source, 10, 0, 0, destination])
    return destination.to_bytes(6, "big") + source.to_bytes(6, "big") + b"\x08\x00" + header + bytes(26)


# In a row of three switches, whose hosts are 1, 2 and 3: which host's packets come in at which port.
_IN_A_ROW = (((1, 1), (2, 2), (2, 3)), ((2, 1), (1, 2), (3, 3)), ((2, 1), (2, 2), (1, 3)))
_OF_THREE = tuple(tuple((port, _arp(host)) for port, host in at) for at in _IN_A_ROW)


@dataclass(frozen=True)
class Example:
    """A controller, and what its network would bring it."""

    script: str
    test: str
    # The ports of each switch.
    ports: tuple[range, ...]
    cpu_port: int = 255
    # The frames that come to each switch, with their ports.
    frames: tuple[tuple[tuple[int, bytes], ...], ...] = ()


EXAMPLES = {
    "basic": Example("basic/demo.py", "test_basic", (range(1, 5),) * 4),
    "hello": Example("hello/demo2.py", "test_hello", (range(1, 3), range(1, 4), range(1, 3)), frames=_OF_THREE),
    "l2_switch": Example("l2_switch/demo.py", "test_l2switch", (range(1, 4),) * 3, frames=_OF_THREE),
    "simple": Example("simple/demo.py", "test_simple", (range(1, 3),)),
    "tunnel": Example("tunnel/demo1.py", "test_tunnel", (range(1, 4),) * 3),
    "flowcache": Example(
        "flowcache/demo.py", "test_flowcache", (range(1, 4),), 510, (((1, _ping(1, 2)), (2, _ping(2, 1))),)
    ),
}


@contextlib.contextmanager
def _served(ports: Sequence[range], cpu_port: int, first: int, device_ids: Sequence[int]) -> Iterator[list[Switch]]:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    switches = [
        Switch(f"s{number}", {port: PortConfig() for port in of_one}, cpu_port=cpu_port)
        for number, of_one in enumerate(ports, start=1)
    ]
    servers = [
        P4RuntimeServer(switch, device_id=device, address=f"127.0.0.1:{first + place}", like_bmv2=True)
        for place, (switch, device) in enumerate(zip(switches, device_ids, strict=True))
    ]
    for server in servers:
        server.start()
    yield switches
    for server in servers:
        server.stop()


def _until(holds: Callable[[], bool]) -> None:
    """Looks again and again; the last look's exception is what was wrong."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            if holds():
                return
        except Exception:
            if time.monotonic() > end:
                raise
        if time.monotonic() > end:
            raise TimeoutError(f"not within {SECONDS:.0f} s")
        time.sleep(0.2)


def run_example(finsy: Path, name: str) -> None:
    """An example of finsy's, until finsy's own test finds in the tables what it expects."""
    example = EXAMPLES[name]
    folder = finsy / "examples"
    sys.path.insert(0, str(folder / "tests"))
    spec = importlib.util.spec_from_file_location(example.test, folder / "tests" / f"{example.test}.py")
    assert spec is not None
    assert spec.loader is not None
    test = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(test)
    # Of its fixtures it uses none but the log's level.
    fixtures = [
        SimpleNamespace(set_level=lambda *_, **__: None) for _ in inspect.signature(test.test_read_tables).parameters
    ]
    with _served(example.ports, example.cpu_port, FIRST_PORT, [1] * len(example.ports)) as switches:
        script = subprocess.Popen([sys.executable, str(folder / example.script)], cwd=folder)

        def holds() -> bool:
            for switch, frames in zip(switches, example.frames, strict=False):
                for port, frame in frames:
                    switch.process(port, frame, time.monotonic_ns())
            asyncio.run(test.test_read_tables(*fixtures))
            return True

        try:
            _until(holds)
        finally:
            script.terminate()
            script.wait()


def run_tutorial(tutorials: Path, finsy: Path, python: str, folder: Path) -> None:
    """The solution of the tutorials' exercise p4runtime with two switches, until it has shown a tunnel's counters."""
    exercise = folder / "exercises" / "p4runtime"
    (exercise / "logs").mkdir(parents=True)
    (folder / "utils").symlink_to(tutorials / "utils")
    shutil.copy(tutorials / "exercises/p4runtime/solution/mycontroller.py", exercise)
    program = finsy / "examples/tunnel/p4/advanced_tunnel"
    files = ("--p4info", f"{program}.p4info.txtpb", "--bmv2-json", f"{program}.json")
    said = folder / "said"
    # As `_environment` of test_peers.py; our own packages are not for it.
    own = {"PYTHONPATH": "", "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python", "PYTHONUNBUFFERED": "1"}
    environment = os.environ | own
    with _served((range(1, 4),) * 2, 255, 50051, [0, 1]) as (first, second), said.open("w") as out:
        script = subprocess.Popen(
            [python, "mycontroller.py", *files], cwd=exercise, env=environment, stdout=out, stderr=subprocess.STDOUT
        )

        def holds() -> bool:
            now = time.monotonic_ns()
            to_h2 = (
                bytes(12) + b"\x08\x00\x45\x00\x00\x1c" + bytes(4) + b"\x40\x01\x00\x00\x0a\x00\x01\x01\x0a\x00\x02\x02"
            )
            tunnelled = first.process(1, to_h2 + bytes(26), now)
            left = [out for _, port, frame in tunnelled for out in second.process(2, frame, now) if port == 2]
            arrived = [frame[:6].hex() for _, port, frame in left if port == 1]
            words = said.read_text()
            counted = all(
                any(line.startswith(of) and ": 0 packets" not in line for line in words.splitlines())
                for of in ("s1 MyIngress.ingressTunnelCounter 100:", "s2 MyIngress.egressTunnelCounter 100:")
            )
            return arrived == ["080000000222"] and counted and script.poll() is None

        try:
            _until(holds)
        except BaseException:
            print(said.read_text())
            raise
        finally:
            script.send_signal(signal.SIGINT)
            script.wait()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["finsy", finsy, name]:
            run_example(Path(finsy), name)
        case ["tutorial", tutorials, finsy, python, folder]:
            run_tutorial(Path(tutorials), Path(finsy), python, Path(folder))
