"""Rules for the same traffic whose times overlap: at those times the order of the file decides, not the clock."""

from __future__ import annotations

from collections.abc import Iterator

from phb.lint.candidates import Candidates
from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.never import never_counts
from phb.lint.regions import Region, effect, within
from phb.model import Rule
from phb.packets.space import Subset

KIND = "overlapping-windows"


def _find(context: Context) -> Iterator[Finding]:
    timed = [
        region
        for region in context.regions.all
        if region.timed
        and region.boxes
        and isinstance(region.item, Rule)
        and not never_counts(region.item.valid, context)
    ]
    if len(timed) < 2:
        return
    never = {id(region.item) for region, _ in context.shadowed}
    boxes = [box for region in timed for box in region.boxes]
    owners = [region for region in timed for _ in region.boxes]
    candidates = Candidates(boxes)
    seen: set[tuple[int, int]] = set()
    for index, region in enumerate(owners):
        for earlier in candidates.before(index):
            pair = (id(owners[earlier]), id(region))
            if owners[earlier] is region or pair in seen or id(region.item) in never:
                continue
            seen.add(pair)
            if _conflict(owners[earlier], region):
                yield _finding(owners[earlier], region)


def _conflict(earlier: Region, later: Region) -> bool:
    one, other = (region.boxes[0].subsets[Subset.EPOCH] for region in (earlier, later))
    return (
        effect(earlier.item) != effect(later.item)
        # An exception inside a wider window is intended, such as a lunch break; only windows that cross are odd.
        and bool(one & other and one & ~other and other & ~one)
        and (within(later, earlier, anytime=True) or within(earlier, later, anytime=True))
    )


def _finding(earlier: Region, later: Region) -> Finding:
    origin = later.item.valid.origin() if isinstance(later.item, Rule) else later.origin
    return Finding(
        KIND,
        Severity.WARNING,
        origin,
        f"the times of rule '{later.name}' overlap those of '{earlier.name}' ({earlier.origin}), which does otherwise "
        "with the same traffic",
        f"while both count, '{earlier.name}' wins because it stands first",
        "let one window begin when or after the other ends (a window ends when the clock shows its end)",
    )


CHECK = Check({KIND: Severity.WARNING}, _find)
