"""Resolved references to ports."""

from __future__ import annotations

from dataclasses import dataclass

from phb.errors import InputError
from phb.model import PolicySet, Port, PortReference
from phb.origin import Origin
from phb.values import AnyAddress


@dataclass(frozen=True, slots=True)
class NumberedPort:
    """A port with a number, which entries need."""

    number: int
    name: str
    address: AnyAddress | None


def resolve(policy: PolicySet, reference: PortReference, origin: Origin) -> NumberedPort:
    """Give the port of this name or number; refuse an unknown port, or one without a number."""
    port = policy.find_port(reference)
    if port is None:
        shown = reference if isinstance(reference, int) else f"'{reference}'"
        raise InputError(origin, f"port {shown}", known(policy))
    return numbered(port)


def numbered(port: Port) -> NumberedPort:
    """Give the port; refuse one without a number."""
    if port.number is None:
        raise InputError(
            port.origin(), f"port '{port.name}' without a number", "its 'number' in a 'ports' section of some file"
        )
    return NumberedPort(port.number, port.name, port.address)


def with_address(policy: PolicySet, address: AnyAddress, origin: Origin) -> Port:
    """Give the port that has the address; refuse any other address."""
    found = next((port for port in policy.ports if port.address == address), None)
    if found is None:
        known = ", ".join(f"{port.address} ({port.name})" for port in policy.ports if port.address is not None)
        expected = f"the address of a port: {known}" if known else "the address of a port; no port has one"
        raise InputError(origin, f"interface {address}", expected)
    return found


def known(policy: PolicySet) -> str:
    """List the ports that may be named."""
    ports = ", ".join(f"'{port.name}' ({'?' if port.number is None else port.number})" for port in policy.ports)
    return f"one of {ports}" if ports else "a port that a 'ports' section names; there is none"
