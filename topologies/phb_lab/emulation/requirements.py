"""Requirements of a network in Mininet; one sentence says what is missing."""

import os
import shutil
import socket
import subprocess

from phb_lab.emulation import mininet_package
from phb_lab.errors import LabError

# Command to Debian's package.
COMMANDS = {
    "ip": "iproute2",
    "mnexec": "mininet",
    "ifconfig": "net-tools",
    "ethtool": "ethtool",
    "setpriv": "util-linux",
}


class UnavailableError(LabError):
    """Networks can't run in Mininet here."""


def missing(target: str = "phb-switch") -> str | None:
    """Why networks can't run in Mininet here; None if they can."""
    if os.geteuid() != 0:
        return "Mininet needs root"
    for command, package in COMMANDS.items():
        if shutil.which(command) is None:
            return f"Mininet needs the command {command} (Debian: apt-get install {package})"
    if not mininet_package.is_there():
        return "Mininet is not installed (Debian: apt-get install mininet)"
    if target == "bmv2" and shutil.which("simple_switch_grpc") is None:
        return "simple_switch_grpc (bmv2) is not on the PATH"
    return _without_namespaces()


def require(target: str = "phb-switch") -> None:
    """Check all that is needed.

    Raises:
        UnavailableError: something is missing; the message says what, and how to get it.
    """
    reason = missing(target)
    if reason is not None:
        raise UnavailableError(reason)
    mininet_package.load()


def has_congestion_control(name: str) -> bool:
    """Whether the kernel has a congestion control; it may load one for root when a socket asks."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError:
            return False
    return True


def _without_namespaces() -> str | None:
    """Root in a container may lack the right to make namespaces, or veth interfaces in them."""
    made = subprocess.run(
        ["mnexec", "-n", "ip", "link", "add", "eth0", "type", "veth"], capture_output=True, text=True, check=False
    )
    return f"no network namespaces with veth interfaces here: {made.stderr.strip()}" if made.returncode else None
