"""The switch that a command line asks for: started in memory or on interfaces, or one that runs already."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from phb import targets
from phb.cli.options import check_address
from phb.errors import InputError
from phb.origin import Origin
from phb_device import Attached, Device, Ports, check_reachable, missing, open_device, own_namespace

_OURS = Device.ports


@dataclass(frozen=True)
class Wanted:
    """A switch to test: started with `ports`, or running at `address`, its ports at our `interfaces` by number."""

    target: str
    ports: Ports = Ports.MEMORY
    address: str | None = None
    interfaces: Mapping[int, str] = field(default_factory=dict)

    def prepare(self) -> None:
        """Make room for its interfaces. Call it before any thread starts: only later threads are there."""
        if self.address is None and self.ports is Ports.VETH:
            own_namespace()

    def open(self) -> Device:
        """Start or attach it.

        Raises:
            ControlError: It doesn't start, no server listens at its address, or one of the interfaces can't be had.
        """
        if self.address is None:
            return open_device(self.target, self.ports)
        check_reachable(self.address)
        return Attached(self.target, self.address, self.interfaces)


def wanted(target: str, ports: str, address: str | None, interfaces: Sequence[str]) -> Wanted:
    """Return the switch that the options ask for.

    Raises:
        InputError: There is no such target, it can't be had here, or options don't fit together.
    """
    targets.load(target)
    if ports not in list(Ports):
        raise InputError(Origin("--ports"), f"'{ports}'", "memory or veth")
    if address is None:
        if interfaces:
            raise InputError(Origin("--interface"), "no --address", "both: interfaces are those of a switch that runs")
        reason = missing(target, Ports(ports))
        if reason:
            at_fault, found = ("--target", target) if missing(target, Ports.MEMORY) else ("--ports", ports)
            raise InputError(Origin(at_fault), f"'{found}', but {reason}", "a switch that can be started here")
        return Wanted(target, Ports(ports))
    check_address(address, Origin("--address"))
    named = dict(_interface(text) for text in interfaces)
    if tuple(sorted(named)) != _OURS or len(named) != len(interfaces):
        said = f"ports {', '.join(map(str, sorted(named)))}" if named else "none"
        raise InputError(Origin("--interface"), said, f"one for each of the ports {', '.join(map(str, _OURS))}")
    for name in named.values():
        try:
            socket.if_nametoindex(name)
        except OSError:
            raise InputError(Origin("--interface"), f"'{name}'", "an interface of this machine") from None
    return Wanted(target, Ports.VETH, address, named)


def _interface(text: str) -> tuple[int, str]:
    read = re.fullmatch(r"(\d{1,3})@(\S+)", text)
    if read is None:
        raise InputError(Origin("--interface"), f"'{text}'", "PORT@NAME, such as 1@veth1")
    return int(read[1]), read[2]
