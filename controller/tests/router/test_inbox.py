"""Who waits for the agent, and who is sent away."""

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_NS, IPv6
from scapy.layers.l2 import ARP, Ether

from phb.router.inbox import MOST_OTHERS, Inbox

FLOOD = bytes(Ether() / IP() / UDP())
NEIGHBOURS = [bytes(Ether() / each) for each in (ARP(), IPv6() / ICMPv6ND_NS(), IPv6() / ICMPv6ND_NA())]


def test_neighbours_pass_a_flood_of_which_few_wait():
    inbox = Inbox()
    for _ in range(10 * MOST_OTHERS):
        inbox.put((1, 1, FLOOD))
    for frame in (*NEIGHBOURS, bytes(Ether() / IPv6() / ICMPv6EchoRequest())):
        inbox.put((1, 1, frame))
    left = [inbox.take()[2] for _ in range(len(inbox))]
    assert left == [*NEIGHBOURS, *[FLOOD] * MOST_OTHERS]
    assert not inbox
