"""Statements of interfaces and classes that concern packets and that phb can't do.

To add one, add a line to the table of its effect.
"""

from __future__ import annotations

from phb.formats.ios.configuration import Configuration, Interface, PolicyClass
from phb.formats.ios.language.lines import Words
from phb.formats.ios.language.modes import INTERFACE, POLICY_CLASS

# Links that are no port of a switch, and what to write instead where the interface has QoS.
UNLIKE = {
    "bridge-group": "a routed interface: phb doesn't bridge",
    "channel-group": "one link: phb bundles none",
    "frame-relay": "PPP or HDLC: phb has no Frame Relay",
    "isdn incoming-voice": "a line for packets: phb has no calls",
    "ppp multilink": "one link: phb bundles none",
    "pvc": "PPP or HDLC: phb has no ATM",
    "pppoe-client": "an interface without it: phb has no PPPoE",
    "service instance": "a routed interface: phb doesn't bridge",
    "switchport": "a routed interface: phb doesn't bridge",
    "xconnect": "a routed interface: phb has no pseudowires",
}

# Other treatment of packets on interfaces whose QoS phb has nevertheless: conditions may meet other packets.
BESIDES = {
    "crypto map": "phb doesn't encrypt: policies meet packets as they are",
    "ip inspect": "phb inspects no sessions",
    "ip nat": "phb doesn't translate addresses: policies meet those that packets arrive with",
    "ip verify": "phb doesn't check sources against routes",
    "ip wccp": "phb redirects nothing",
    "mac access-group": "phb has no lists of MAC addresses",
    "ip vrf forwarding": "phb has one routing table",
    "vrf forwarding": "phb has one routing table",
    "zone-member": "phb has no firewall by zones",
}

# Refused, with what to write instead.
INTERFACES = {
    "bgp-policy": "marks in a policy map: phb doesn't mark by BGP's routes",
    "class": "a policy map on a PPP or HDLC line: phb has no Frame Relay classes",
    "custom-queue-list": "classes with 'bandwidth' in a policy map: phb has no custom queueing",
    "frame-relay class": "a policy map on the interface: phb has no Frame Relay classes",
    "frame-relay traffic-shaping": "'shape average' in a policy map: phb has no Frame Relay",
    "ip nhrp map group": "a policy map on a physical interface: phb has no tunnels",
    "ip rtp priority": "a class with 'priority' in a policy map",
    "nhrp map group": "a policy map on a physical interface: phb has no tunnels",
    "priority-group": "classes with 'priority' in a policy map: phb has no priority queueing by lists",
    "rate-limit": "'police' in a policy map: phb has no committed access rate",
    "service-policy type": "a policy map for packets: 'service-policy input' or 'service-policy output'",
    "traffic-shape group": "'shape average' in a policy map",
}
CLASSES = {
    "compression": "a class without it: phb doesn't compress headers",
    "drop": "'police 8000 conform-action drop exceed-action drop', or an access list on the interface",
    "netflow-sampler": "a class without it: phb doesn't sample flows",
    "shape adaptive": "a class without it: phb has no Frame Relay",
    "shape fecn-adapt": "a class without it: phb has no Frame Relay",
    "shape max-buffers": "'queue-limit' in the class",
}


@INTERFACE.statement(*UNLIKE, negatable=True, aside=True)
def _unlike(configuration: Configuration, interface: Interface, words: Words) -> None:
    if not words.negated:
        interface.unlike.append((words.origin, UNLIKE[words.phrase]))


@INTERFACE.statement(*BESIDES, negatable=True, aside=True)
def _besides(configuration: Configuration, interface: Interface, words: Words) -> None:
    if not words.negated:
        interface.besides.append((words.origin, f"'{words.phrase}' has no effect: {BESIDES[words.phrase]}"))


@INTERFACE.statement(*INTERFACES, negatable=True)
def _refuse(configuration: Configuration, interface: Interface, words: Words) -> None:
    if not words.negated:
        words.line.fail(f"'{words.phrase}'", INTERFACES[words.phrase])
    # `show running-config all` prints absent statements with `no`.
    configuration.aside(words.origin, f"'no {words.phrase}' has no effect: phb has none")


@POLICY_CLASS.statement(*CLASSES)
def _refuse_in_class(configuration: Configuration, policy_class: PolicyClass, words: Words) -> None:
    words.line.fail(f"'{words.phrase}'", CLASSES[words.phrase])
