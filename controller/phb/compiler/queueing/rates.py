"""How fast a port is."""

from __future__ import annotations

from phb.model import PolicySet, Queueing, Rate


def port_rate(policy: PolicySet, queueing: Queueing) -> Rate | None:
    """Give the shaper's rate, else the port's own, else None."""
    if queueing.shaper is not None:
        return queueing.shaper.rate
    port = policy.find_port(queueing.port)
    return port.rate if port is not None else None
