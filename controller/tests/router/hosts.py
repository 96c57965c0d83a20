"""Linux hosts in network namespaces of their own, each behind a veth pair whose other end is for a switch."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

PROCESS_ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
PROBE = Path(__file__).with_name("probe.py")
_COUNT = itertools.count()


def unavailable() -> str:
    """Why there can be no such hosts here, or nothing."""
    if os.geteuid() != 0:
        return "needs root"
    if shutil.which("ip") is None:
        return "needs the command ip (iproute2)"
    name = f"phbmade{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    if made.returncode != 0:
        return f"can't make network namespaces: {made.stderr.decode().strip()}"
    try:
        command = ["ip", "link", "add", name[:13], "type", "veth", "peer", "name", "eth0", "netns", name]
        made = subprocess.run(command, capture_output=True, check=False)
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)
    return f"can't make veth interfaces: {made.stderr.decode().strip()}" if made.returncode != 0 else ""


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


class Host:
    """A host with one interface; `port` is the switch's end of it."""

    def __init__(self, stack: ExitStack, mac: str, *addresses: str) -> None:
        # Names of its own for each test: the kernel removes what has been deleted only after a while.
        tag = f"{os.getpid() % 100000}n{next(_COUNT)}"
        self.space, self.port = f"phb{tag}h", f"phb{tag}s"
        ip("netns", "add", self.space)
        stack.callback(ip, "netns", "delete", self.space)
        ip("link", "add", self.port, "type", "veth", "peer", "name", "eth0", "netns", self.space)
        # The switch's end is no host's: nothing but the test's frames on the wire.
        subprocess.run(["sysctl", "-qw", f"net.ipv6.conf.{self.port}.disable_ipv6=1"], check=False, capture_output=True)
        ip("link", "set", self.port, "up")
        self.ip("link", "set", "lo", "up")
        self.ip("link", "set", "eth0", "address", mac, "up")
        for address in addresses:
            self.ip("address", "add", address, "dev", "eth0", *(["nodad"] if ":" in address else []))

    def ip(self, *arguments: str) -> None:
        """Configure it."""
        ip("-n", self.space, *arguments)

    def run(self, *command: str) -> str:
        """What a command on it prints."""
        ended = self.ended(*command)
        ended.check_returncode()
        return ended.stdout

    def ended(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command on it, whatever its exit code."""
        inside = ["ip", "netns", "exec", self.space, *command]
        return subprocess.run(inside, capture_output=True, check=False, text=True, timeout=60)

    def ping(self, address: str, *options: str) -> dict[str, object]:
        """What comes back to one echo request: `probe.py`."""
        return json.loads(self.run(sys.executable, str(PROBE), address, *options))

    def counted(self, protocol: str, what: str) -> int:
        """A number of the kernel's, such as Ip and ReasmOKs."""
        if protocol == "Ip6":
            lines = self.run("cat", "/proc/net/snmp6").splitlines()
            return int(next(line.split()[1] for line in lines if line.split()[0] == f"{protocol}{what}"))
        names, values = (
            line.split() for line in self.run("cat", "/proc/net/snmp").splitlines() if line.startswith(f"{protocol}:")
        )
        return int(values[names.index(what)])
