"""OpenConfig's QoS (openconfig-qos) as JSON by RFC 7951, from a file or from a switch by gNMI."""

from phb.formats.openconfig.reader import read

__all__ = ["read"]
