"""The commands that start switches: the embedded one, and bmv2 where it is installed."""

import subprocess
import sys
from typing import Literal

from phb_lab.description import Switch
from phb_switch import ExecutorName

Target = Literal["phb-switch", "bmv2"]

# As in docs/operate/limits.md; packets to controllers leave here.
_CPU_PORT = 510
_BMV2_QUEUES = 8
_BMV2_THRIFT_PORT = 9090


def command(target: Target, switch: Switch, address: str, seed: int, executor: ExecutorName | None) -> list[str]:
    """The command that starts a described switch, whose port N is the interface `ethN`.

    bmv2 gets neither rates nor transmit rings: queues behind its ports limit them
    (:func:`phb_lab.emulation.interfaces.limit_rate`), first in, first out as a transmit ring is.
    """
    interfaces = [argument for port in switch.ports for argument in ("-i", f"{port.number}@eth{port.number}")]
    if target == "bmv2":
        return _bmv2(switch, interfaces, address)
    arguments = [sys.executable, "-m", "phb_switch", "--no-p4", "--device-id", str(switch.device_id), *interfaces]
    for port in switch.ports:
        if port.rate_bps is not None:
            arguments += ["--port-rate", f"{port.number}={port.rate_bps}:{port.overhead_bytes}"]
        if port.transmit_ring:
            arguments += ["--transmit-ring", f"{port.number}={port.transmit_ring}"]
    if executor is not None:
        arguments += ["--executor", executor]
    return [*arguments, "--seed", str(seed), "--grpc-server-addr", address]


def _bmv2(switch: Switch, interfaces: list[str], address: str) -> list[str]:
    arguments = ["simple_switch_grpc", "--no-p4", "--device-id", str(switch.device_id), *interfaces]
    # Not every build has Thrift. Each switch has its own namespace, so all may use one port.
    told = subprocess.run([arguments[0], "--help"], capture_output=True, text=True, check=False).stdout
    if "--thrift-port" in told:
        arguments += ["--thrift-port", str(_BMV2_THRIFT_PORT)]
    return [
        *arguments,
        "--",
        "--cpu-port",
        str(_CPU_PORT),
        "--priority-queues",
        str(_BMV2_QUEUES),
        "--grpc-server-addr",
        address,
    ]
