"""The embedded switch: a v1model target with a P4Runtime server, for real interfaces and for virtual networks."""

from phb_switch._native import (
    LIMITS,
    Adapter,
    Binding,
    LoadError,
    Network,
    P4RuntimeServer,
    Port,
    PortConfig,
    PortError,
    RealTime,
    Role,
    Shaper,
    Switch,
    Tls,
)

__all__ = [
    "LIMITS",
    "Adapter",
    "Binding",
    "LoadError",
    "Network",
    "P4RuntimeServer",
    "Port",
    "PortConfig",
    "PortError",
    "RealTime",
    "Role",
    "Shaper",
    "Switch",
    "Tls",
]
