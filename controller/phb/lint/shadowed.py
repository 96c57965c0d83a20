"""Rules that are never asked, because earlier ones take all their traffic."""

from __future__ import annotations

from collections.abc import Iterator

from phb.lint.candidates import Candidates
from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.regions import Region, effect, within
from phb.packets.boxes import covering
from phb.regions.budget import TimeOver

SHADOWED, DUPLICATE = "shadowed-rule", "duplicate-rule"
_NAMED = 3  # of the rules that together cover one


def _find(context: Context) -> Iterator[Finding]:
    for region, covers in shadowed(context):
        context.shadowed.append((region, covers))
        yield _finding(region, covers)


def shadowed(context: Context) -> Iterator[tuple[Region, list[Region]]]:
    """Give each rule and behaviour aggregate that is never asked, with the earlier ones that take its traffic.

    A single earlier one is named where there is one.

    Raises:
        TimeOver: By whom the time is limited; names where it stopped.
    """
    regions = [region for region in context.regions.all if region.boxes]
    owners = [region for region in regions for _ in region.boxes]
    taken = [each for region in regions for each in region.taken]
    candidates = Candidates([each.box for each in taken])
    index = 0
    for place, region in enumerate(regions):
        first, index = index, index + len(region.boxes)
        covers: dict[int, Region] = {}
        try:
            for number in range(first, index):
                # Boxes of one rule don't shadow each other, though they may overlap.
                earlier = [other for other in candidates.before(number) if other < first]
                used = covering(taken[number], [taken[other] for other in earlier])
                if used is None:
                    break
                covers.update({earlier[other]: owners[earlier[other]] for other in used})
            else:
                by_name = {id(covers[other]): covers[other] for other in sorted(covers)}
                yield region, list(by_name.values())
        except TimeOver:
            behind = len(regions) - place - 1
            raise TimeOver(f"from rule '{region.name}' ({region.origin}) on, with {behind} behind it") from None


def _finding(region: Region, covers: list[Region]) -> Finding:
    same = effect(covers[0].item) == effect(region.item)
    if len(covers) == 1 and same and within(covers[0], region):
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
