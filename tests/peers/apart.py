"""Runs what others wrote in namespaces of its own, with phb-switch or bmv2 under the names that it starts.

Of a run nothing is left, whatever happens: no interface, no process, no mount.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

EXECUTABLE = os.environ.get("PHB_SWITCH", str(Path(sys.executable).with_name("phb-switch")))
"""The switch; by default that of this environment."""
ROOT = Path(__file__).resolve().parents[2]
NAMES = ("simple_switch_grpc", "simple_switch")

# Mininet's cleaning up removes what lies in /tmp, of others, too. So it gets a /tmp that is thrown away, but for the
# folder of the run.
START = " && ".join(
    [
        "mount -t sysfs sysfs /sys",
        "ip link set lo up",
        "mount -t tmpfs tmpfs /mnt",
        "mkdir /mnt/new /mnt/work /mnt/own",
        'mount --bind "$PWD" /mnt/own',
        "mount -t overlay -o lowerdir=/tmp,upperdir=/mnt/new,workdir=/mnt/work overlay /tmp",
        'mount --move /mnt/own "$PWD"',
        'exec "$@"',
    ]
)
NAMESPACES = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def unavailable(*commands: str) -> str:
    """Why nothing with these commands can run here, or nothing."""
    if os.geteuid() != 0:
        return "needs root"
    for command in ("unshare", *commands):
        if shutil.which(command) is None:
            return f"needs the command {command}"
    return "" if Path(EXECUTABLE).exists() else f"there is no {EXECUTABLE}"


def path_of_phb(folder: Path) -> str:
    """A PATH where bmv2's names are phb-switch; `folder` is made for them."""
    folder.mkdir()
    for name in NAMES:
        (folder / name).symlink_to(EXECUTABLE)
    return f"{folder}:{os.environ['PATH']}"


def bmv2_version() -> str:
    """The version of the bmv2 that the PATH has, or nothing."""
    if shutil.which(NAMES[0]) is None:
        return ""
    ended = subprocess.run([NAMES[0], "--version"], capture_output=True, text=True, check=False)
    return ended.stdout.split("-")[0].strip()


def python(interpreter: str, module: str, *arguments: str) -> list[str]:
    """The command that runs a module of this package as a program, in an interpreter with its own path."""
    program = (
        f"import runpy, sys; sys.path.insert(0, {str(ROOT)!r}); "
        f"runpy.run_module('tests.peers.{module}', run_name='__main__', alter_sys=True)"
    )
    return [interpreter, "-c", program, *arguments]


def start(command: list[str], folder: Path, path: str, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder`, in namespaces of its own.

    Raises:
        subprocess.TimeoutExpired: it took longer.
    """
    return subprocess.run(
        [*NAMESPACES, "sh", "-c", START, "sh", *command],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )


def run(command: list[str], folder: Path, path: str, seconds: float) -> dict[str, object]:
    """As `start`; give the JSON object that is the last line of its output.

    Raises:
        AssertionError: it failed; with its output.
        subprocess.TimeoutExpired: it took longer.
    """
    ended = start(command, folder, path, seconds)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    result: dict[str, object] = json.loads(ended.stdout.splitlines()[-1])
    return result
