"""The embedded switch: a v1model target with a P4Runtime server, for real interfaces and for virtual networks."""

from typing import Literal, TypeAlias

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
    ThriftServer,
    Tls,
    Traces,
)

ExecutorName: TypeAlias = Literal["native", "interpreter"]
"""What runs a program: machine code made when it is loaded, or the interpreter."""

__all__ = [
    "LIMITS",
    "Adapter",
    "Binding",
    "ExecutorName",
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
    "ThriftServer",
    "Tls",
    "Traces",
]
