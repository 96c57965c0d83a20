"""Class maps and access lists -> regions: the packets of a class. Each is computed once."""

from __future__ import annotations

from phb.errors import InputError
from phb.formats.ios.boxes import (
    EVERY,
    WHOLE,
    IosBox,
    Piece,
    Region,
    complement,
    first_match,
    intersection,
    union,
)
from phb.formats.ios.building.object_groups import unfold
from phb.formats.ios.building.subinterfaces import entered
from phb.formats.ios.configuration import Configuration, MatchTerm
from phb.formats.ios.language.icmp import MESSAGES
from phb.model import DEFAULT_CLASS
from phb.origin import Origin
from phb.values import ICMP_VERSIONS, IcmpType

# Every IPv6 access list permits these before the denial at its end: "permit (IPv6)" in the Cisco IOS IPv6 Command
# Reference.
_NEIGHBOUR_DISCOVERY = tuple(
    IosBox(version=6, protocol=ICMP_VERSIONS[6], icmp_type=IcmpType.parse(MESSAGES[6][name]).bits)
    for name in ("nd-na", "nd-ns")
)


class ClassRegions:
    """The packets that each access list permits and each class map takes."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._access_lists: dict[str, Region] = {}
        self._class_maps: dict[str, Region] = {}

    def access_list(self, name: str, origin: Origin) -> Region:
        """Give the packets that the access list permits; refuse an unknown list."""
        if name not in self._access_lists:
            self._access_lists[name] = first_match(self._entries(name, origin))
        return self._access_lists[name]

    def denied(self, name: str, origin: Origin, version: int) -> Region:
        """Give the packets of this IP version that the access list denies by an entry, or because none permits them."""
        entries = [(not permit, boxes) for permit, boxes in self._entries(name, origin)]
        if self._configuration.access_lists[name].version != version:
            raise InputError(origin, f"access list '{name}' of the other IP version", f"one of IPv{version}")
        if not entries or EVERY[version] not in entries[-1][1]:
            if version == 6:
                entries.append((False, _NEIGHBOUR_DISCOVERY))
            entries.append((True, (IosBox(version=version, origin=origin),)))
        return first_match(entries)

    def _entries(self, name: str, origin: Origin) -> list[tuple[bool, tuple[IosBox, ...]]]:
        """Give the entries up to the first that every packet meets."""
        access_list = self._configuration.access_lists.get(name)
        if access_list is None:
            known = ", ".join(sorted(self._configuration.access_lists))
            expected = f"one of {known}" if known else "an access list of the file; there is none"
            raise InputError(origin, f"access list '{name}'", expected)
        entries = []
        for entry in access_list.entries:
            boxes = unfold(self._configuration, entry)
            entries.append((entry.permit, boxes))
            if EVERY[access_list.version] in boxes:
                break
        return entries

    def class_map(self, name: str, origin: Origin, within: tuple[str, ...] = ()) -> Region:
        """Give the packets that the class takes; `within` are class maps that are being computed.

        Raises:
            InputError: There is none of this name, it contains itself, or one of its terms refers to nothing.
        """
        if name.lower() == DEFAULT_CLASS:
            return WHOLE
        if name in within:
            raise InputError(origin, f"class map '{name}' within itself", "class maps without a circle")
        if name not in self._class_maps:
            class_map = self._configuration.class_maps.get(name)
            if class_map is None:
                known = ", ".join([*sorted(self._configuration.class_maps), DEFAULT_CLASS])
                raise InputError(origin, f"class map '{name}'", f"one of {known}")
            terms = [self._term(term, (*within, name)) for term in class_map.terms]
            # A class map without terms takes nothing, also with match-all.
            join = intersection if class_map.match_all and terms else union
            self._class_maps[name] = join(terms)
        return self._class_maps[name]

    def _term(self, term: MatchTerm, within: tuple[str, ...]) -> Region:
        if term.access_list is not None:
            region = self.access_list(term.access_list, term.origin)
        elif term.class_map is not None:
            region = self.class_map(term.class_map, term.origin, within)
        else:
            region = (Piece(tuple(entered(self._configuration, box) for box in term.boxes)),)
        return complement(region) if term.negated else region
