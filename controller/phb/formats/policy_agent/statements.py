"""Every statement of the Policy Agent, and its treatment here.

Names are those of the z/OS Communications Server: IP Configuration Reference and, for the first version, of the
profiles of the joint IBM and Cisco test.
"""

from __future__ import annotations

from phb.formats.policy_agent import collection
from phb.formats.policy_agent.blocks import Block, StatementLine
from phb.notice import Notice

FIRST_VERSION = ("ServiceCategories", "ServicePolicyRules")
TODAY = ("PolicyAction", "PolicyRule")
# By name: whether attributes in braces must follow.
UNDERSTOOD = {
    "TcpImage": False,
    "PEPInstance": False,
    "SetSubnetPrioTosMask": True,
    **dict.fromkeys(FIRST_VERSION + TODAY, True),
}

# Statements that steer the agent's own process or its reports: no packet is treated differently without them.
HARMLESS = {
    "AutoMonitorApps": "phb starts no programs of the host",
    "AutoMonitorParms": "phb starts no programs of the host",
    "ClientConnection": "phb serves no policy clients",
    "Codepage": "phb reads UTF-8, UTF-16 behind a byte-order mark, and Windows-1252",
    "DynamicConfigPolicyLoad": "phb serves no policy clients",
    "LogLevel": "phb has its own messages",
    "PolicyPerfMonitorForSDR": "phb reports nothing to a sysplex distributor",
    "ServerConnection": "phb asks no policy server",
    "ServicesConnection": "phb serves no import requests",
}

_DISCIPLINE = "a file without it: phb does quality of service, not {}"
_SECURITY = _DISCIPLINE.format("filtering and encryption")
_ROUTING = _DISCIPLINE.format("routing by policy")
_INTRUSION = _DISCIPLINE.format("intrusion detection")
_TLS = _DISCIPLINE.format("TLS")

# Statements without which traffic would be treated differently.
REFUSED = {
    "CommonIDSConfig": _INTRUSION,
    "IDSConfig": _INTRUSION,
    "IDSRule": _INTRUSION,
    "IDSAction": _INTRUSION,
    "CommonIPSecConfig": _SECURITY,
    "IPSecConfig": _SECURITY,
    "IpFilterPolicy": _SECURITY,
    "IpFilterRule": _SECURITY,
    "KeyExchangePolicy": _SECURITY,
    "LocalDynVpnPolicy": _SECURITY,
    "CommonRoutingConfig": _ROUTING,
    "RoutingConfig": _ROUTING,
    "RoutingRule": _ROUTING,
    "RoutingAction": _ROUTING,
    "RouteTable": _ROUTING,
    "CommonTTLSConfig": _TLS,
    "TTLSConfig": _TLS,
    "TTLSRule": _TLS,
    "TTLSGroupAction": _TLS,
    "TTLSEnvironmentAction": _TLS,
    "TTLSConnectionAction": _TLS,
    "QOSConfig": "the statements themselves: name that file on the command line",
    "PolicyServer": "the policy itself: name the server's file on the command line",
    "ReadFromDirectory": "a directory as a source of its own on the command line: ldap://HOST/BASE-DN",
}

# Prefixes of the hundred other statements of those disciplines, many with statements in their braces.
DISCIPLINES = {
    "IDS": _INTRUSION,
    "Routing": _ROUTING,
    "TrafficDescriptor": _ROUTING,
    "TTLS": _TLS,
    **dict.fromkeys(
        (
            *("IpAddr", "IpDataOffer", "IpDynVpn", "IpFilter", "IpGenericFilter", "IpLocalStart", "IpManVpn"),
            *("IpService", "IpTime", "KeyExchange", "LocalDynVpn", "LocalSecurityEndpoint", "PortGroup", "PortRange"),
            *("RemoteIdentity", "RemoteSecurityEndpoint"),
        ),
        _SECURITY,
    ),
}

ALL = {**UNDERSTOOD, **dict.fromkeys([collection.STATEMENT, *HARMLESS, *REFUSED], False)}
_NAMES = {name.lower(): name for name in ALL}


def refuse(head: StatementLine) -> None:
    """Refuse a statement, whatever its braces hold, without which traffic would be treated differently."""
    keyword = head.keyword.lower()
    expected = REFUSED.get(_NAMES.get(keyword, ""))
    if expected is None and keyword not in _NAMES:
        expected = next((words for start, words in DISCIPLINES.items() if keyword.startswith(start.lower())), None)
    if expected is not None:
        head.fail(f"'{head.keyword}'", expected)


def harmless(block: Block) -> Notice | None:
    """Give the notice for a statement that can be left out; None for one to be read."""
    known = _NAMES.get(block.head.keyword.lower(), "")
    if known in HARMLESS:
        return Notice(block.head.origin, f"{known} has no effect: {HARMLESS[known]}")
    return None
