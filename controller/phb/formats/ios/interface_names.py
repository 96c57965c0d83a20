"""Names of interfaces: ``fa0/1`` is FastEthernet0/1."""

from __future__ import annotations

import re

from phb.formats.ios.lines import Words
from phb.model import LengthBasis

# Kinds that may be ports of a switch, with what IOS counts as the length of a packet there, and the bandwidth in kbit/s
# that an interface has until one is configured ("bandwidth (interface)" in the Cisco IOS Interface Command Reference,
# and what `show interfaces` prints). A serial line's four bytes are those of HDLC as well as of PPP.
PHYSICAL: dict[str, tuple[LengthBasis, int | None]] = {
    "Async": (LengthBasis.PPP, 9),
    "BRI": (LengthBasis.PPP, 64),
    "Channel": (LengthBasis.IP, None),
    "Ethernet": (LengthBasis.ETHERNET, 10_000),
    "FastEthernet": (LengthBasis.ETHERNET, 100_000),
    "GigabitEthernet": (LengthBasis.ETHERNET, 1_000_000),
    "Hssi": (LengthBasis.PPP, 45_045),
    "Multilink": (LengthBasis.PPP, None),
    "POS": (LengthBasis.PPP, 155_000),
    "Serial": (LengthBasis.PPP, 1544),
    "TenGigabitEthernet": (LengthBasis.ETHERNET, 10_000_000),
}

# Kinds that no port of a switch is.
VIRTUAL = (
    "ATM",
    "BVI",
    "Dialer",
    "Fddi",
    "Group-Async",
    "Loopback",
    "Null",
    "Port-channel",
    "TokenRing",
    "Tunnel",
    "Virtual-Template",
    "Vlan",
)

_NAME = re.compile(r"(?P<kind>[A-Za-z][A-Za-z-]*)(?P<unit>\d[\d/:]*(?:\.\d+)?)?")
_UNIT = re.compile(r"\d[\d/:]*(?:\.\d+)?")


def take_interface(words: Words) -> tuple[str, str]:
    """The full name and the kind of the interface that is named next.

    Raises:
        InputError: No kind of interface begins so, or several do.

    """
    word = words.next("an interface such as FastEthernet0/1")
    match = _NAME.fullmatch(word)
    if match is None:
        words.line.fail(f"'{word}'", "an interface such as FastEthernet0/1")
    unit = match["unit"]
    if unit is None:
        unit = words.next(f"the number of the {word} interface")
        if not _UNIT.fullmatch(unit):
            words.line.fail(f"'{word} {unit}'", "an interface such as FastEthernet0/1")
    return _kind(words, match["kind"]) + unit, _kind(words, match["kind"])


def _kind(words: Words, typed: str) -> str:
    kinds = [*PHYSICAL, *VIRTUAL]
    found = [kind for kind in kinds if kind.lower() == typed.lower()]
    found = found or [kind for kind in kinds if kind.lower().startswith(typed.lower())]
    if len(found) != 1:
        words.line.fail(f"interface kind '{typed}'", f"one of {', '.join(sorted(found or kinds))}")
    return found[0]
