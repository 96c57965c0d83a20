"""The embedded switch: a v1model target with a P4Runtime server, for real interfaces and for virtual networks."""

from phb_switch._native import LoadError, Network, PortConfig, RealTime, Switch
from phb_switch.server import P4RuntimeServer

__all__ = ["LoadError", "Network", "P4RuntimeServer", "PortConfig", "RealTime", "Switch"]
