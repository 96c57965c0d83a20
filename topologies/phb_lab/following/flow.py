"""Which packets are followed."""

import re
from dataclasses import dataclass

from phb_lab.errors import UsageError

MOST_PACKETS = 10_000

# What is judged at one switch, or at its end, and so says nothing of a way over several.
_OF_ONE_SWITCH = ("ingress-port", "egress-port", "dropped", "waited", "every")
# What switches may write anew: it holds where a packet is sent.
_REWRITTEN = ("tos", "dscp", "vlan", "ether")
_FIVE_TUPLE = re.compile(
    r"(?P<protocol>tcp|udp|icmp|[0-9]{1,3}) +(?P<source>\S+?) *(?P<way><?>) *(?P<destination>\S+)", re.ASCII
)


@dataclass(frozen=True)
class Followed:
    """What is to be followed: a filter in the language of ``phb-switch --trace-filter``, and how many packets.

    Attributes:
        text: as the user wrote it.
        filter: holds where a packet is sent.
        at_switches: holds at every switch that it passes, and may hold for others, too.
    """

    text: str
    filter: str
    at_switches: str
    packets: int


def parse_flow(text: str, packets: int) -> Followed:
    """Read ``tcp 10.0.0.1:1024 > 10.0.0.2:80`` (``<>`` is both ways; ports may be left out), or a filter.

    Raises:
        UsageError: it is neither, as far as that is known before the filter is read.
    """
    flow = text.strip()
    found = _FIVE_TUPLE.fullmatch(flow)
    if found is not None:
        one, other = _end(text, found["source"]), _end(text, found["destination"])
        ways = [_way(found["protocol"], one, other)]
        if found["way"] == "<>":
            ways.append(_way(found["protocol"], other, one))
        flow = " or ".join(ways)
    elif not flow or ">" in flow:
        raise UsageError(
            f"--trace {text}: expected PROTOCOL ADDRESS[:PORT] > ADDRESS[:PORT], or a filter such as 'udp'"
        )
    words = set(re.split(r"[\s()!]+", flow))
    for word in _OF_ONE_SWITCH:
        if word in words:
            raise UsageError(
                f"--trace {text}: found {word!r}, which is about one switch; expected conditions on the packet alone"
            )
    return Followed(text, flow, "" if words & set(_REWRITTEN) else flow, packets)


def _end(text: str, end: str) -> tuple[str, str | None]:
    """An address and a port: 10.0.0.1:80, 2001:db8::1 or [2001:db8::1]:80."""
    found = re.fullmatch(r"\[(?P<six>[0-9A-Fa-f:.]+)\](?::(?P<port6>[0-9]{1,5}))?", end) or re.fullmatch(
        r"(?P<four>[0-9.]+)(?::(?P<port4>[0-9]{1,5}))?|(?P<plain>[0-9A-Fa-f:.]+)", end
    )
    if found is None:
        raise UsageError(f"--trace {text}: found {end!r}, expected an address, with a port or without")
    parts = found.groupdict()
    address = parts.get("six") or parts.get("four") or parts.get("plain")
    assert address is not None
    return address, parts.get("port6") or parts.get("port4")


def _way(protocol: str, source: tuple[str, str | None], destination: tuple[str, str | None]) -> str:
    conditions = [f"proto {protocol}"]
    for side, (address, port) in (("src", source), ("dst", destination)):
        conditions.append(f"{side} host {address}")
        if port is not None:
            conditions.append(f"{side} port {port}")
    return f"({' and '.join(conditions)})"
