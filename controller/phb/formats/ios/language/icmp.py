"""ICMP messages as access lists and object groups name them, with their types and codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from phb.formats.ios.boxes import Pattern
from phb.formats.ios.language.lines import Words, abbreviated
from phb.values import IcmpType

# Cisco IOS Security Command Reference, "permit (IP)"; numbers are those of IANA's "ICMP Parameters".
_IPV4: Final[Mapping[str, str]] = {
    "administratively-prohibited": "3/13",
    "alternate-address": "6",
    "conversion-error": "31",
    "dod-host-prohibited": "3/10",
    "dod-net-prohibited": "3/9",
    "echo": "8",
    "echo-reply": "0",
    "general-parameter-problem": "12/0",
    "host-isolated": "3/8",
    "host-precedence-unreachable": "3/14",
    "host-redirect": "5/1",
    "host-tos-redirect": "5/3",
    "host-tos-unreachable": "3/12",
    "host-unknown": "3/7",
    "host-unreachable": "3/1",
    "information-reply": "16",
    "information-request": "15",
    "mask-reply": "18",
    "mask-request": "17",
    "mobile-redirect": "32",
    "net-redirect": "5/0",
    "net-tos-redirect": "5/2",
    "net-tos-unreachable": "3/11",
    "net-unreachable": "3/0",
    "network-unknown": "3/6",
    "no-room-for-option": "12/2",
    "option-missing": "12/1",
    "packet-too-big": "3/4",
    "parameter-problem": "12",
    "port-unreachable": "3/3",
    "precedence-unreachable": "3/15",
    "protocol-unreachable": "3/2",
    "reassembly-timeout": "11/1",
    "redirect": "5",
    "router-advertisement": "9",
    "router-solicitation": "10",
    "source-quench": "4",
    "source-route-failed": "3/5",
    "time-exceeded": "11",
    "timestamp-reply": "14",
    "timestamp-request": "13",
    "traceroute": "30",
    "ttl-exceeded": "11/0",
    "unreachable": "3",
}
# Cisco IOS IPv6 Command Reference, "permit (IPv6)"; IANA's "ICMPv6 Parameters".
_IPV6: Final[Mapping[str, str]] = {
    "beyond-scope": "1/2",
    "destination-unreachable": "1",
    "echo-reply": "129",
    "echo-request": "128",
    "header": "4/0",
    "hop-limit": "3/0",
    "mld-query": "130",
    "mld-reduction": "132",
    "mld-report": "131",
    "nd-na": "136",
    "nd-ns": "135",
    "next-header": "4/1",
    "no-admin": "1/1",
    "no-route": "1/0",
    "packet-too-big": "2",
    "parameter-option": "4/2",
    "parameter-problem": "4",
    "port-unreachable": "1/4",
    "reassembly-timeout": "3/1",
    "redirect": "137",
    "renum-command": "138/0",
    "renum-result": "138/1",
    "renum-seq-number": "138/255",
    "router-advertisement": "134",
    "router-renumbering": "138",
    "router-solicitation": "133",
    "time-exceeded": "3",
}
MESSAGES: Final = {4: _IPV4, 6: _IPV6}


def take_icmp_type(words: Words, version: int, others: Sequence[str] = ()) -> Pattern | None:
    """Take a message by name, or its type and perhaps code by number; None where the next word is neither.

    `others` are keywords that may stand there instead: ``ttl`` is no ``ttl-exceeded``.
    """
    kind = words.maybe_number(0, 255, "an ICMP type")
    if kind is not None:
        return IcmpType(kind, words.maybe_number(0, 255, "an ICMP code")).bits
    word = words.peek()
    name = None if word is None or abbreviated(word, others) else words.maybe(*MESSAGES[version])
    return None if name is None else IcmpType.parse(MESSAGES[version][name]).bits
