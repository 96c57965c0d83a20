"""Rules that are never asked, because earlier ones take all their traffic."""

from __future__ import annotations

from collections.abc import Iterator

from phb.lint.candidates import Candidates
from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.regions import LIMIT, Region, effect, same_packets
from phb.packets.boxes import TooManyPieces, covering

SHADOWED, DUPLICATE = "shadowed-rule", "duplicate-rule"
_NAMED = 3  # of the rules that together cover one


def _find(context: Context) -> Iterator[Finding]:
    for region, covers in shadowed(context):
        yield _finding(region, covers)


def shadowed(context: Context) -> list[tuple[Region, list[Region]]]:
    """Give each rule and behaviour aggregate that is never asked, with the earlier ones that take its traffic.

    A single earlier one is named where there is one. Rules that would take too many pieces to decide are left out.
    """
    regions = [region for region in context.regions.all if region.boxes]
    zones = sorted({region.zone for region in regions if region.zone}) or [""]
    found: dict[int, list[Region]] = {}
    for zone in zones:
        members = [region for region in regions if region.zone in ("", zone)]
        for region, covers in _among(members):
            found.setdefault(id(region), covers)
    return [(region, found[id(region)]) for region in regions if id(region) in found]


def _among(regions: list[Region]) -> Iterator[tuple[Region, list[Region]]]:
    owners = [region for region in regions for _ in region.boxes]
    boxes = [box for region in regions for box in region.boxes]
    candidates = Candidates(boxes)
    index = 0
    for region in regions:
        first, index = index, index + len(region.boxes)
        covers: dict[int, Region] = {}
        for number, box in enumerate(region.boxes, start=first):
            # Boxes of one rule don't shadow each other, though they may overlap.
            earlier = [other for other in candidates.before(number) if other < first]
            try:
                used = covering(box, [boxes[other] for other in earlier], LIMIT)
            except TooManyPieces:
                used = None
            if used is None:
                break
            covers.update({id(owners[earlier[place]]): owners[earlier[place]] for place in used})
        else:
            yield region, list(covers.values())


def _finding(region: Region, covers: list[Region]) -> Finding:
    same = effect(covers[0].item) == effect(region.item)
    if len(covers) == 1 and same and same_packets(covers[0], region) and covers[0].boxes == region.boxes:
        return Finding(
            DUPLICATE,
            Severity.WARNING,
            region.origin,
            f"rule '{region.name}' says again what '{covers[0].name}' ({covers[0].origin}) says",
            "the first rule that takes a packet counts, so this one is never asked",
            "remove one of them",
        )
    named = [f"'{cover.name}' ({cover.origin})" for cover in covers[:_NAMED]]
    if len(covers) > _NAMED:
        named.append(f"{len(covers) - _NAMED} more")
    others = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    together = " together" if len(covers) > 1 else ""
    outcome = (
        "what they do is the same, so it can go"
        if all(effect(cover.item) == effect(region.item) for cover in covers)
        else "its actions never happen"
    )
    return Finding(
        SHADOWED,
        Severity.WARNING,
        region.origin,
        f"rule '{region.name}' is never asked: {others}{together} take{'' if together else 's'} all its traffic",
        f"the first rule that takes a packet counts; {outcome}",
        f"move '{region.name}' above, narrow what is above it, or remove it",
    )


CHECK = Check({SHADOWED: Severity.WARNING, DUPLICATE: Severity.WARNING}, _find)
