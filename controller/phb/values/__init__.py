"""The small values a policy is made of: addresses, ranges, ToS octets, times.

Each is written as text in a policy file. `Text` makes a parser a pydantic field type; a parser that refuses raises
ValueError, and the user is told what was expected there. Each type has a JSON schema that refuses what its parser does,
as far as a pattern can say it.

    text > addresses, code_points, protocols, times
"""

from phb.values.addresses import (
    Address,
    Addresses,
    AddressRange,
    AnyAddress,
    AnyInterface,
    AnyNetwork,
    InterfaceAddress,
    Mac,
    MacAddress,
    Network,
    parse_address,
    parse_network,
)
from phb.values.code_points import (
    CODE_POINTS,
    LAST_QOS_GROUP,
    UNTAGGED,
    CodePoint,
    Pcp,
    PriorityCodePoint,
    Tos,
    TypeOfService,
    Vlan,
    parse_code_point,
)
from phb.values.martians import MARTIAN_DESTINATIONS, MARTIAN_SOURCES
from phb.values.protocols import (
    ICMP_VERSIONS,
    PROTOCOLS,
    TCP_FLAGS,
    Flags,
    Icmp,
    IcmpType,
    PortRange,
    Ports,
    Protocol,
    TcpFlags,
    flags_or_type,
    parse_protocol,
    write_protocol,
)
from phb.values.text import Text, Within, is_integer
from phb.values.times import Moment, TimeRange, Times, Zone, parse_moment, parse_zone, write_moment

__all__ = [
    "CODE_POINTS",
    "ICMP_VERSIONS",
    "LAST_QOS_GROUP",
    "MARTIAN_DESTINATIONS",
    "MARTIAN_SOURCES",
    "PROTOCOLS",
    "TCP_FLAGS",
    "UNTAGGED",
    "Address",
    "AddressRange",
    "Addresses",
    "AnyAddress",
    "AnyInterface",
    "AnyNetwork",
    "CodePoint",
    "Flags",
    "Icmp",
    "IcmpType",
    "InterfaceAddress",
    "Mac",
    "MacAddress",
    "Moment",
    "Network",
    "Pcp",
    "PortRange",
    "Ports",
    "PriorityCodePoint",
    "Protocol",
    "TcpFlags",
    "Text",
    "TimeRange",
    "Times",
    "Tos",
    "TypeOfService",
    "Vlan",
    "Within",
    "Zone",
    "flags_or_type",
    "is_integer",
    "parse_address",
    "parse_code_point",
    "parse_moment",
    "parse_network",
    "parse_protocol",
    "parse_zone",
    "write_moment",
    "write_protocol",
]
