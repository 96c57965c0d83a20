"""Statements that don't concern packets: each is listed with the reason why it has no effect.

To add one, add a line to the table of its mode. `language.unknown` treats statements that are in no file of this
folder.
"""

from __future__ import annotations

from phb.formats.ios.configuration import Configuration
from phb.formats.ios.language.lines import Words
from phb.formats.ios.language.modes import (
    CLASS_MAP,
    GLOBAL,
    IN_BLOCK,
    INTERFACE,
    NETWORK,
    POLICY_CLASS,
    POLICY_MAP,
    SERVICE,
)
from phb.formats.ios.language.vocabulary import Mode

MANAGEMENT = "it manages the router, not its packets"
DISCOVERY = "the router's own messages, not the packets that pass"
ROUTING = "routing protocol: routes are written in YAML"
FORWARDING = "how the router looks routes up, not where packets go"
LINE = "the line's own business; the switch's port has its own"
MULTICAST = "phb forwards no multicast"
MEASURING = "it measures, and changes no packet"
ABSENT = "phb doesn't do it anyway"

# Statements of one line.
GLOBALS = {
    MANAGEMENT: "aaa alias arp banner boot buffers call clock config-register enable exception file license logging "
    "login memory-size monitor network-clock-participate network-clock-select ntp parser platform privilege prompt "
    "radius-server rmon scheduler security service snmp snmp-server sntp tacacs-server tftp-server username",
    DISCOVERY: "cdp lldp",
}
# Statements of several words, or with a reason of their own.
GLOBAL_PHRASES = {
    "ip as-path": ROUTING,
    "ip bgp-community": ROUTING,
    "ip bootp": MANAGEMENT,
    "ip cef": FORWARDING,
    "ip classless": FORWARDING,
    "ip default-gateway": FORWARDING,
    "ip domain": MANAGEMENT,
    "ip domain-list": MANAGEMENT,
    "ip domain-lookup": MANAGEMENT,
    "ip domain-name": MANAGEMENT,
    "ip dhcp": MANAGEMENT,
    "ip finger": MANAGEMENT,
    "ip flow-cache": MEASURING,
    "ip flow-export": MEASURING,
    "ip forward-protocol": FORWARDING,
    "ip ftp": MANAGEMENT,
    "ip host": MANAGEMENT,
    "ip http": MANAGEMENT,
    "ip local": MANAGEMENT,
    "ip multicast": MULTICAST,
    "ip multicast-routing": MULTICAST,
    "ip name-server": MANAGEMENT,
    "ip access-list helper": MANAGEMENT,
    "ip access-list log-update": MANAGEMENT,
    "ip access-list logging": MANAGEMENT,
    "ip access-list persistent": MANAGEMENT,
    "ip access-list resequence": MANAGEMENT,
    "ip nat": "phb doesn't translate addresses; where an interface does, that is listed",
    "ip ospf": ROUTING,
    "ip pim": MULTICAST,
    "ip prefix-list": ROUTING,
    "ip rcmd": MANAGEMENT,
    "ip routing": "phb forwards by the routes of the files",
    "ip scp": MANAGEMENT,
    "ip route profile": ROUTING,
    "ip route static": ROUTING,
    "ip route topology": ROUTING,
    "ip source-route": ABSENT,
    "ip spd": "the queue before the route processor, not those of ports",
    "ip ssh": MANAGEMENT,
    "ip subnet-zero": FORWARDING,
    "ip tcp": "the router's own connections",
    "ip telnet": MANAGEMENT,
    "ip tftp": MANAGEMENT,
    "ip gratuitous-arps": DISCOVERY,
    "ipv6 cef": FORWARDING,
    "ipv6 unicast-routing": FORWARDING,
    "ipv6 route static": ROUTING,
    "ipv6 route topology": ROUTING,
    "mls qos statistics-export": MEASURING,
    "mpls label": ABSENT,
    "mpls ldp": ROUTING,
    "multilink bundle-name": MANAGEMENT,
    "priority-list": "it has no effect unless an interface has it, which is an error",
    "queue-list": "it has no effect unless an interface has it, which is an error",
}
# Statements that open a block, which is left out with them.
BLOCKS = {
    "archive": MANAGEMENT,
    "class-map type": "phb has class maps for packets only",
    "ephone": "voice calls are the router's own packets",
    "ephone-dn": "voice calls are the router's own packets",
    "event manager": MANAGEMENT,
    "flow": MEASURING,
    "ip access-list fqdn": "phb has no lists of names",
    "ip access-list role-based": "phb has no security groups",
    "ipv6 router": ROUTING,
    "mgcp": "voice calls are the router's own packets",
    "map-class": "it has no effect unless an interface has it, which is an error",
    "object-group fqdn": "phb has object groups of IPv4 addresses and of services",
    "object-group security": "phb has object groups of IPv4 addresses and of services",
    "object-group v6-network": "phb has object groups of IPv4 addresses and of services",
    "object-group v6-service": "phb has object groups of IPv4 addresses and of services",
    "policy-map type": "phb has policy maps for packets only",
    "redundancy": MANAGEMENT,
    "telephony-service": "voice calls are the router's own packets",
    "vrf definition": "phb has one routing table",
    "zone": "phb has no firewall by zones",
    "zone-pair": "phb has no firewall by zones",
    "controller": LINE,
    "crypto pki": MANAGEMENT,
    "crypto isakmp": "it has no effect without a crypto map on an interface, which is an error",
    "crypto ipsec": "it has no effect without a crypto map on an interface, which is an error",
    "crypto map": "it has no effect unless an interface has it, which is an error",
    "crypto key": MANAGEMENT,
    "dial-peer": "voice calls are the router's own packets",
    "gateway": "voice calls are the router's own packets",
    "ip dhcp pool": MANAGEMENT,
    "ip sla": MEASURING,
    "ip vrf": "phb has one routing table; an interface in another is an error",
    "key chain": ROUTING,
    "line": MANAGEMENT,
    "router": ROUTING,
    "tcl": MANAGEMENT,
    "track": MEASURING,
    "voice": "voice calls are the router's own packets",
    "voice-card": "voice calls are the router's own packets",
    "voice-port": "voice calls are the router's own packets",
    "webvpn": MANAGEMENT,
}
INTERFACES = {
    "arp": DISCOVERY,
    "auto discovery qos": MEASURING,
    "carrier-delay": LINE,
    "cdp": DISCOVERY,
    "claw": LINE,
    "clock": LINE,
    "clockrate": LINE,
    "crc": LINE,
    "csna": LINE,
    "dce-terminal-timing-enable": LINE,
    "delay": "a routing protocol's figure",
    "description": "a comment",
    "down-when-looped": LINE,
    "duplex": LINE,
    "framing": LINE,
    "full-duplex": LINE,
    "half-duplex": LINE,
    "ignore-dcd": LINE,
    "invert": LINE,
    "ip accounting": MEASURING,
    "ip broadcast-address": DISCOVERY,
    "ip cef": FORWARDING,
    "ip cgmp": MULTICAST,
    "ip directed-broadcast": ABSENT,
    "ip flow": MEASURING,
    "ip helper-address": DISCOVERY,
    "ip igmp": MULTICAST,
    "ip information-reply": DISCOVERY,
    "ip irdp": DISCOVERY,
    "ip load-sharing": FORWARDING,
    "ip mask-reply": DISCOVERY,
    "ip mroute-cache": MULTICAST,
    "ip mtu": "phb doesn't fragment",
    "ip multicast": MULTICAST,
    "ip nbar protocol-discovery": MEASURING,
    "ip ospf": ROUTING,
    "ip pim": MULTICAST,
    "ip proxy-arp": DISCOVERY,
    "ip redirects": DISCOVERY,
    "ip rip": ROUTING,
    "ip route-cache": FORWARDING,
    "ip rsvp": "phb doesn't speak RSVP",
    "ip split-horizon": ROUTING,
    "ip summary-address": ROUTING,
    "ip tcp adjust-mss": "hosts choose their segments",
    "ip unreachables": DISCOVERY,
    "ip virtual-reassembly": ABSENT,
    "ip router": ROUTING,
    "ipv6 address": "a port is known by its IPv4 address",
    "ipv6 enable": DISCOVERY,
    "ipv6 mtu": "phb doesn't fragment",
    "ipv6 nd": DISCOVERY,
    "ipv6 ospf": ROUTING,
    "ipv6 router": ROUTING,
    "isis": ROUTING,
    "keepalive": LINE,
    "lldp": DISCOVERY,
    "load-interval": MEASURING,
    "logging": MANAGEMENT,
    "loopback": LINE,
    "mac-address": "the MAC addresses of routes are written in YAML",
    "media-type": LINE,
    "mop": DISCOVERY,
    "mtu": "phb doesn't fragment",
    "negotiation": LINE,
    "ntp": DISCOVERY,
    "peer": LINE,
    "physical-layer": LINE,
    "ppp": LINE,
    "pulse-time": LINE,
    "serial": LINE,
    "snmp": MANAGEMENT,
    "standby": DISCOVERY,
    "transmitter-delay": LINE,
    "tx-queue-limit": "the length of the transmit ring is the switch's own (phb-lab sets it in its networks)",
    "tx-ring-limit": "the length of the transmit ring is the switch's own (phb-lab sets it in its networks)",
    "vrrp": DISCOVERY,
}

# Statements of a router block that also stand without indentation where a configuration was typed from paper.
_BLOCK_WORDS = (
    "address-family area auto-summary default-information default-metric distance distribute-list eigrp "
    "exit-address-family log-adjacency-changes match maximum-paths metric neighbor network ospf passive-interface "
    "redistribute router-id set summary-address synchronization timers version"
)

_ONE_LINE = {word: reason for reason, words in GLOBALS.items() for word in words.split(" ")} | GLOBAL_PHRASES


@GLOBAL.statement(*_ONE_LINE, negatable=True, aside=True)
def _of_the_router(configuration: Configuration, _: object, words: Words) -> None:
    _list(configuration, words, _ONE_LINE[words.phrase])


@INTERFACE.statement(*INTERFACES, negatable=True, aside=True)
def _of_an_interface(configuration: Configuration, _: object, words: Words) -> None:
    _list(configuration, words, INTERFACES[words.phrase])


@GLOBAL.statement(*BLOCKS, negatable=True, aside=True)
def _block(configuration: Configuration, _: object, words: Words) -> Mode | None:
    _list(configuration, words, BLOCKS[words.phrase])
    return None if words.negated else Mode(IN_BLOCK, None)


@IN_BLOCK.statement(*_BLOCK_WORDS.split(" "), negatable=True)
@CLASS_MAP.statement("description")
@POLICY_MAP.statement("description", aside=True)
@POLICY_CLASS.statement("description", aside=True)
@NETWORK.statement("description")
@SERVICE.statement("description")
def _unlisted(configuration: Configuration, _: object, words: Words) -> None:
    pass


def _list(configuration: Configuration, words: Words, reason: str) -> None:
    shown = f"no {words.phrase}" if words.negated else words.phrase
    configuration.aside(words.origin, f"'{shown}' has no effect: {reason}")
