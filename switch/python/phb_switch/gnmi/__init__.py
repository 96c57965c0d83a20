"""gNMI with OpenConfig paths: interfaces, line rates, queue limits and their counters, at the port of P4Runtime."""

from phb_switch.gnmi.service import GnmiService

__all__ = ["GnmiService"]
