"""References to ports, resolved."""

from __future__ import annotations

from phb.errors import InputError
from phb.model import PolicySet, Port, PortReference
from phb.origin import Origin


def resolve(policy: PolicySet, reference: PortReference, origin: Origin) -> Port:
    """The port of this name or number.

    Raises:
        InputError: The node has no such port.

    """
    port = policy.find_port(reference)
    if port is None:
        shown = reference if isinstance(reference, int) else f"'{reference}'"
        raise InputError(origin, f"port {shown}", known(policy))
    return port


def known(policy: PolicySet) -> str:
    """What to expect where a port is named."""
    ports = ", ".join(f"'{port.name}' ({port.number})" for port in policy.ports)
    return f"one of {ports}" if ports else "a port that a 'ports' section names; there is none"
