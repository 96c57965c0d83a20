"""Names of interfaces: ``fa0/1`` is FastEthernet0/1."""

from __future__ import annotations

import re
from difflib import get_close_matches

from phb.formats.ios.language.lines import Words
from phb.model import LengthBasis

# Kinds that may be ports of a switch, with what IOS counts as the length of a packet there, and the bandwidth in kbit/s
# that an interface has until one is configured ("bandwidth (interface)" in the Cisco IOS Interface Command Reference,
# and what `show interfaces` prints). A serial line's four bytes are those of HDLC as well as of PPP.
PHYSICAL: dict[str, tuple[LengthBasis, int | None]] = {
    "AppGigabitEthernet": (LengthBasis.ETHERNET, 1_000_000),
    "Async": (LengthBasis.PPP, 9),
    "BRI": (LengthBasis.PPP, 64),
    "Channel": (LengthBasis.IP, None),
    "Ethernet": (LengthBasis.ETHERNET, 10_000),
    "FastEthernet": (LengthBasis.ETHERNET, 100_000),
    "FiftyGigE": (LengthBasis.ETHERNET, 50_000_000),
    "FiftyGigabitEthernet": (LengthBasis.ETHERNET, 50_000_000),
    "FiveGigabitEthernet": (LengthBasis.ETHERNET, 5_000_000),
    "FortyGigabitEthernet": (LengthBasis.ETHERNET, 40_000_000),
    "FourHundredGigE": (LengthBasis.ETHERNET, 400_000_000),
    "GigabitEthernet": (LengthBasis.ETHERNET, 1_000_000),
    "HundredGigE": (LengthBasis.ETHERNET, 100_000_000),
    "Hssi": (LengthBasis.PPP, 45_045),
    "Multilink": (LengthBasis.PPP, None),
    "POS": (LengthBasis.PPP, 155_000),
    "Serial": (LengthBasis.PPP, 1544),
    "TenGigabitEthernet": (LengthBasis.ETHERNET, 10_000_000),
    "TwentyFiveGigE": (LengthBasis.ETHERNET, 25_000_000),
    "TwoGigabitEthernet": (LengthBasis.ETHERNET, 2_500_000),
    "TwoHundredGigE": (LengthBasis.ETHERNET, 200_000_000),
}

# Kinds that are no ports of a switch. Any unknown word is one, too, unless it resembles one of these: there are more in
# modules of all sorts.
VIRTUAL = [
    "Analysis-Module",
    "ATM",
    "BDI",
    "BVI",
    "CEM",
    "Cellular",
    "Content-Engine",
    "Dialer",
    "Dot11Radio",
    "Embedded-Service-Engine",
    "Fddi",
    "Group-Async",
    "IDS-Sensor",
    "Integrated-Service-Engine",
    "ISM",
    "LISP",
    "Loopback",
    "MFR",
    "Null",
    "NVI",
    "Port-channel",
    "Service-Engine",
    "SM",
    "TokenRing",
    "Tunnel",
    "UCSE",
    "Virtual-Access",
    "Virtual-PPP",
    "Virtual-Template",
    "Virtual-TokenRing",
    "VirtualPortGroup",
    "Vlan",
    "Vxlan",
    "Wlan-ap",
    "Wlan-GigabitEthernet",
    "nve",
    "pseudowire",
]

# Abbreviations of several kinds that mean one of them: as IOS prints them in tables ("Tw1/0/1"), or as a router took
# them that had none of the others.
USUAL = {
    "e": "Ethernet",
    "f": "FastEthernet",
    "fi": "FiveGigabitEthernet",
    "fif": "FiftyGigE",
    "fo": "FortyGigabitEthernet",
    "g": "GigabitEthernet",
    "hu": "HundredGigE",
    "s": "Serial",
    "se": "Serial",
    "tw": "TwoGigabitEthernet",
}

_NAME = re.compile(r"(?P<kind>Dot11Radio|[A-Za-z][A-Za-z-]*)(?P<unit>\d[\d/:]*(?:\.\d+)?)?")
_NEARLY = 0.88  # as `difflib` measures: HundredGigabitEthernet is none of the tables'
_SHORTEST = 4  # letters of a kind that isn't in the tables; shorter ones are abbreviations
_UNIT = re.compile(r"\d[\d/:]*(?:\.\d+)?")


def take_interface(words: Words) -> tuple[str, str]:
    """Take the full name and the kind of the interface that is named next; refuse an ambiguous abbreviation."""
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
    found = found or [kind for kind in kinds if kind == USUAL.get(typed.lower())]
    found = found or [kind for kind in kinds if kind.lower().startswith(typed.lower())]
    if (
        not found
        and len(typed) >= _SHORTEST
        and not get_close_matches(typed.lower(), [kind.lower() for kind in kinds], 1, _NEARLY)
    ):
        return typed
    if len(found) != 1:
        words.line.fail(f"interface kind '{typed}'", f"one of {', '.join(sorted(found or kinds))}")
    return found[0]
