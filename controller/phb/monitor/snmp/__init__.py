"""SNMP: what the monitor knows, as objects of SLAPM-MIB and CISCO-CLASS-BASED-QOS-MIB behind Debian's snmpd.

agentx      messages of the protocol between snmpd and us
tree        objects as data
master      the connection with snmpd
switches    what is known of a switch, and numbers of its rows
monitors    rows that watch; setting: how managers write them
slapm, cbqos, interfaces    a MIB each
taker       all of it together
"""

from phb.monitor.snmp.taker import SnmpTaker, serve

__all__ = ["SnmpTaker", "serve"]
