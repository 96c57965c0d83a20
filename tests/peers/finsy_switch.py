"""Switches for finsy's ``demonet``, where its image has a file of Mininet's: simple_switch_grpc of the PATH.

Mininet reads this file itself (``mn --custom``), in the interpreter that it has. What finsy asks Stratum for is such a
switch, too.
"""

import time
from pathlib import Path
from typing import Any

from mininet.log import output
from mininet.net import Mininet
from mininet.node import Switch

FIRST_PORT = 50001


class Bmv2(Switch):  # type: ignore[misc]
    """A switch whose P4Runtime is at the next port from 50001 on."""

    made = 0

    def __init__(self, name: str, config: Any, **options: Any) -> None:
        super().__init__(name, **options)
        self.settings = config
        self.number = Bmv2.made
        Bmv2.made += 1

    def start(self, _controllers: object) -> None:
        """Start it on its interfaces, and wait until it answers."""
        log = Path("/tmp") / self.name / "log.txt"
        log.parent.mkdir(exist_ok=True)
        interfaces = " ".join(f"-i {port}@{name}" for port, name in self.intfs.items() if name.name != "lo")
        given = self.settings
        secrets = ""
        if given.get("grpc_cert"):
            secrets = (
                f"--grpc-server-ssl --grpc-server-with-client-auth --grpc-server-cacert {given['grpc_cacert']} "
                f"--grpc-server-cert {given['grpc_cert']} --grpc-server-key {given['grpc_private_key']}"
            )
        self.cmd(
            f"simple_switch_grpc --no-p4 --device-id 1 --thrift-port {19090 + self.number} --log-console "
            f"--log-level {given['log_level']} {interfaces} -- --grpc-server-addr 0.0.0.0:{FIRST_PORT + self.number} "
            f"--cpu-port {given['cpu_port']} {secrets} > {log} 2>&1 &"
        )
        end = time.monotonic() + 20
        while f":{FIRST_PORT + self.number} " not in self.cmd("ss -tln") and time.monotonic() < end:
            time.sleep(0.1)
        for command in given["commands"]:
            self.cmd(command)


def _iperf(network: Any, **_options: object) -> None:
    """Mininet's command: its own waits for a second report, which iperf 2.1 doesn't give, for ever."""
    client, server = network.hosts[0], network.hosts[-1]
    server.cmd("iperf -s > /dev/null 2>&1 &")
    time.sleep(1)
    said = client.cmd(f"timeout -k 1 20 iperf -t 2 -c {server.IP()}")
    server.cmd("kill -9 %iperf")
    output(f"*** Results: {network._parseIperf(said)}\n")


Mininet.iperf = _iperf

switches = {"bmv2": Bmv2, "stratum": Bmv2}
