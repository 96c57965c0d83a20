"""The dataset that configures the SMC Applicability Tool of z/OS: the time to watch, and the peers.

    SMCATCFG INTERVAL 120
    IPADDR
    C5::1:2:3:4/126
    9.67.113.61

One statement, its words in any case and on any lines; ``;`` starts a comment, as in TCP/IP profiles. The host's port
and its own networks stand in another file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from phb.errors import InputError
from phb.formats.format import READING, ReadOptions
from phb.model import Applicability, PolicySet
from phb.model.applicability import MOST_MINUTES, MOST_PEERS
from phb.origin import Origin
from phb.values import AddressRange

STATEMENT, INTERVAL, ADDRESSES = "SMCATCFG", "INTERVAL", "IPADDR"
_KEYWORDS = (INTERVAL, ADDRESSES)


@dataclass(frozen=True)
class _Word:
    text: str
    origin: Origin

    def __str__(self) -> str:
        return self.text.upper()


def read(text: str, file: str, options: ReadOptions = READING) -> PolicySet:
    """Read a dataset."""
    words = list(_words(text, file))
    if not words or str(words[0]) != STATEMENT:
        found, origin = (f"'{words[0].text}'", words[0].origin) if words else ("nothing", Origin(file))
        raise InputError(origin, found, STATEMENT)
    said: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    position = 1
    while position < len(words):
        keyword = words[position]
        field = {INTERVAL: "interval_minutes", ADDRESSES: "peers"}.get(str(keyword))
        if field is None or field in said:
            raise InputError(keyword.origin, f"'{keyword.text}'", f"{' or '.join(_KEYWORDS)}, each once")
        values = _values(words, position + 1)
        said[field] = _minutes(keyword, values) if field == "interval_minutes" else _peers(keyword, values)
        origins[field] = keyword.origin
        position += 1 + len(values)
    if "peers" not in said:
        raise InputError(words[0].origin, f"{STATEMENT} without {ADDRESSES}", "the addresses of peers")
    applicability = Applicability(**said).at(words[0].origin, origins)
    return PolicySet(applicability=applicability).at(words[0].origin)


def _words(text: str, file: str) -> Iterator[_Word]:
    for number, raw in enumerate(text.splitlines(), start=1):
        statement = raw.partition(";")[0]
        origin = Origin(file, number, " ".join(statement.split()))
        for word in re.findall(r"\S+", statement):
            yield _Word(word, origin)


def _values(words: list[_Word], position: int) -> list[_Word]:
    last = next((place for place in range(position, len(words)) if str(words[place]) in _KEYWORDS), len(words))
    return words[position:last]


def _minutes(keyword: _Word, values: list[_Word]) -> int:
    if len(values) != 1 or not values[0].text.isdecimal() or not 1 <= int(values[0].text) <= MOST_MINUTES:
        shown = " ".join(value.text for value in values)
        raise InputError(keyword.origin, f"{INTERVAL} '{shown}'", f"minutes, from 1 to {MOST_MINUTES}")
    return int(values[0].text)


def _peers(keyword: _Word, values: list[_Word]) -> tuple[AddressRange, ...]:
    if not 1 <= len(values) <= MOST_PEERS:
        raise InputError(keyword.origin, f"{ADDRESSES} with {len(values)} words", f"1 to {MOST_PEERS} addresses")
    peers = []
    for value in values:
        try:
            if "-" in value.text:
                raise ValueError
            peers.append(AddressRange.parse(value.text))
        except ValueError:
            expected = "an IPv4 or IPv6 address, or a subnet such as 9.67.113.0/24, host bits zero"
            raise InputError(value.origin, f"'{value.text}'", expected) from None
    return tuple(peers)
