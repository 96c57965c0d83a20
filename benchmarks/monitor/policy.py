"""The policy of switches that are watched: 20 classes with objectives, and rules that lead into them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

CLASSES = 20
FRAME_BYTES = 128


def policy(rules: int) -> str:
    """Return a node with two ports, the classes, and so many rules."""
    lines = [
        "phb: 1",
        "node: bench",
        "ports:",
        "  - {number: 1, name: port1, address: 10.1.0.254}",
        "  - {number: 2, name: port2, address: 10.2.0.254}",
        "routes:",
        "  - {destination: 10.2.0.0/16, port: port2, "
        "source-mac: 02:00:00:00:00:02, destination-mac: 02:00:00:00:01:02}",
        "classes:",
    ]
    for number in range(CLASSES):
        lines += [
            f"  - name: class{number}",
            "    objectives:",
            "      maximum-delays: [{milliseconds: 20}, {milliseconds: 50, percentile: 99}]",
            "      maximum-loss-percent: 1",
            "      maximum-rate: {value: 1, unit: Mbit/s, basis: ethernet}",
        ]
    lines += ["actions:", *(f"  - {{name: action{number}, class: class{number}}}" for number in range(CLASSES))]
    lines += ["rules:"]
    for number in range(rules):
        ports = 1000 + number * 8
        lines += [
            f"  - {{name: rule{number}, match: {{protocol: udp, source: 10.1.{number % 250}.0-10.1.{number % 250}.99, "
            f"destination: 10.2.0.0/16, source-ports: {ports}-{ports + 7}}}, actions: [action{number % CLASSES}]}}"
        ]
    return "\n".join(lines) + "\n"


def frame(rule: int) -> bytes:
    """Return a frame that a rule of `policy` takes."""
    total = FRAME_BYTES - 14
    header = bytes((0x45, 0, total >> 8, total & 255, 0, 0, 0x40, 0, 64, 17))
    addresses = bytes((10, 1, rule % 250, 7, 10, 2, 0, 1))
    words = header + addresses
    sum_ = sum(words[at] << 8 | words[at + 1] for at in range(0, len(words), 2))
    while sum_ > 0xFFFF:
        sum_ = (sum_ >> 16) + (sum_ & 0xFFFF)
    udp = b"".join(each.to_bytes(2, "big") for each in (1000 + rule * 8, 53, total - 20, 0))
    ethernet = bytes.fromhex("020000000101 020000000001 0800")
    return (ethernet + header + (0xFFFF - sum_).to_bytes(2, "big") + addresses + udp).ljust(FRAME_BYTES, b"x")


@contextmanager
def written(text: str) -> Iterator[Path]:
    """Give a file that has a policy."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "policy.yaml"
        path.write_text(text, encoding="utf-8")
        yield path


def push(address: str, device: int, path: Path) -> None:
    """Give a switch a policy."""
    command = [sys.executable, "-m", "phb", "push", "--address", address, "--device-id", str(device), str(path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
