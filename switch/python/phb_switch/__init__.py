"""The embedded switch: a v1model target with a P4Runtime server, for real interfaces and for virtual networks."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phb_switch._native import Adapter, LoadError, Network, Port, PortConfig, PortError, RealTime, Shaper, Switch
    from phb_switch.server import P4RuntimeServer

__all__ = [
    "Adapter",
    "LoadError",
    "Network",
    "P4RuntimeServer",
    "Port",
    "PortConfig",
    "PortError",
    "RealTime",
    "Shaper",
    "Switch",
]

_MODULES = {"P4RuntimeServer": "phb_switch.server"}


def __getattr__(name: str) -> Any:
    """Imports what is asked for, so that the command `phb-switch` handles Ctrl-C before gRPC is loaded."""
    if name not in __all__:
        raise AttributeError(f"module 'phb_switch' has no attribute {name!r}")
    value = getattr(import_module(_MODULES.get(name, "phb_switch._native")), name)
    globals()[name] = value
    return value
