"""The network of one test."""

from collections.abc import Mapping
from random import Random

from phb_lab.description import Datagrams, Host, Messages, Network, Port, Switch, Wire
from phb_lab.figures import read_published

from .tests import PARALLEL_STAGGER_S, Setting

PUBLISHED = read_published(__file__)

SECOND = 1_000_000_000
# IEEE 802.3: preamble and delimiter (8), FCS (4), inter-frame gap (12).
ETHERNET_OVERHEAD = 8 + 4 + 12
LAN_BPS = 100_000_000  # "speed 100" of FastEthernet0/1
WAN_BPS = 2_000_000  # "provided JFC Naples with access to 2 MBit/second throughput"
# No host is described. 17,520 bytes, 12 segments of 1,460, is what Windows 2000 to 2003 offer on Ethernet.
MTU_BYTES = 1500
WINDOW_BYTES = 17_520
DELAYED_ACK_NS = 200_000_000
ANSWER_BYTES = 100  # the receiving MTA's acknowledgement of a message; its length is not given
MTA_NAPLES = "10.10.64.10"
MTA_ACT = "10.10.80.10"  # not given
# The hosts that the printed access lists know, by the class selector that the router gives their packets.
LOAD_ADDRESSES = {1: ("10.10.64.31", "10.10.64.11"), 2: ("10.10.64.40", "10.10.64.40")}
LOAD_PORT = 6000
LOAD_BPS = 1_000_000
# "override" appears in the first round's tables; its port is cut from the source: the next one after flash.
OVERRIDE_PORT = 5004
# Class selector n is precedence n of the ToS octet (RFC 2474, section 4.2.2).
PRECEDENCE_SHIFT = 5
# Calibrated, see docs/networks/isode.md: the WAN's one-way delay from the 1 kByte row of the unshaped table, the frames
# that it loses from the 10 MByte row.
DELAY_US = 13_300
LOSS_PER_MILLION = 30_000
# A message's submission is drawn from it: a person clicks.
SUBMISSION_SPREAD_NS = SECOND


def network(test: Setting, *, seed: int, options: Mapping[str, int]) -> Network:
    """Describe one test; the seed draws when messages are submitted and loads begin."""
    random = Random(seed)
    loss = options["loss_per_million" if test.lossy else "loss_one_queue"]
    switch = Switch("sar2811", 1, (Port(1, LAN_BPS, ETHERNET_OVERHEAD), Port(2, WAN_BPS)), test.policies)
    naples = Host(
        "naples",
        (MTA_NAPLES, *dict.fromkeys(address for group in LOAD_ADDRESSES.values() for address in group)),
        mtu_bytes=MTU_BYTES,
        window_bytes=options["window_bytes"],
        delayed_ack_ns=DELAYED_ACK_NS,
    )
    act = Host(
        "act",
        (MTA_ACT,),
        mtu_bytes=MTU_BYTES,
        window_bytes=options["window_bytes"],
        delayed_ack_ns=DELAYED_ACK_NS,
    )
    return Network(
        name=f"isode/{test.name}",
        switches=(switch,),
        hosts=(naples, act),
        adapters=(),
        wires=(
            Wire(("naples", 0), ("sar2811", 1)),
            Wire(("sar2811", 2), ("act", 0), delay_ns=options["delay_us"] * 1000, loss_per_million=loss),
        ),
        flows=(*_messages(test, random), *_loads(test, options, random)),
        assumptions=ASSUMPTIONS,
    )


ASSUMPTIONS = (
    f"hosts: {WINDOW_BYTES:,}-byte windows, {DELAYED_ACK_NS // 1_000_000} ms delayed acknowledgement, Nagle, Reno as "
    "smoltcp has it",
    f"the WAN: {DELAY_US / 1000:g} ms one way (calibrated: the 1 kByte row of the unshaped table), and "
    f"{LOSS_PER_MILLION / 10_000:g} % of the frames lost in either direction (calibrated: its 10 MByte row), which the "
    "source does not speak of; none lost in the tests with one queue, whose published unloaded rate leaves no room",
    "2 Mbit/s are the rate of the router's WAN port; towards Naples nothing is limited",
    "the load: datagrams of 1,000 bytes payload, 1 Mbit/s of payload",
    f"a message is its bytes in one piece, answered by {ANSWER_BYTES} bytes; no header of X.400",
    f"parallel messages are submitted {PARALLEL_STAGGER_S} s after each other; each submission is up to "
    f"{SUBMISSION_SPREAD_NS // SECOND} s late, drawn by the seed",
    "the share of the unloaded rate is of our message alone, before the load, in the same test; the source's is of the "
    "messages that it sent through the shaper alone",
    f"override uses port {OVERRIDE_PORT} and a permanent connection",
)


def _messages(test: Setting, random: Random) -> list[Messages]:
    """A connection for each precedence that the test sends messages of."""
    connections = PUBLISHED["connections"]
    flows = []
    for precedence, connection in connections.items():
        schedule = [
            (round(sending.at_s * SECOND) + random.randrange(SUBMISSION_SPREAD_NS), sending.size_bytes)
            for sending in test.sendings
            if sending.precedence == precedence
        ]
        if schedule:
            flows.append(
                Messages(
                    name=precedence,
                    group=precedence,
                    client="naples",
                    client_address=MTA_NAPLES,
                    server="act",
                    server_address=MTA_ACT,
                    server_port=connection.get("port", OVERRIDE_PORT),
                    permanent=connection.get("connection") != "on-demand",
                    schedule=tuple(schedule),
                    answer_bytes=ANSWER_BYTES,
                    tos=int(connection["dscp"].removeprefix("CS")) << PRECEDENCE_SHIFT,
                )
            )
    return flows


def _loads(test: Setting, options: Mapping[str, int], random: Random) -> list[Datagrams]:
    if test.load_s is None:
        return []
    interval_ns = options["load_bytes"] * 8 * SECOND // LOAD_BPS
    return [
        Datagrams(
            name=f"load-{number + 1}",
            group="load",
            client="naples",
            client_address=LOAD_ADDRESSES[options["load_class"]][number],
            server="act",
            server_address=MTA_ACT,
            server_port=LOAD_PORT + number,
            payload_bytes=options["load_bytes"],
            interval_ns=interval_ns,
            start_ns=round(test.load_s * SECOND) + random.randrange(interval_ns),
        )
        for number in range(options["loads"])
    ]
