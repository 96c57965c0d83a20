"""Rules that are never asked, because earlier ones take all their traffic."""

from __future__ import annotations

from collections.abc import Iterator

from phb.lint.candidates import Candidates
from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.regions import Region, effect, within
from phb.packets.boxes import covering

SHADOWED, DUPLICATE = "shadowed-rule", "duplicate-rule"
_NAMED = 3  # of the rules that together cover one


def _find(context: Context) -> Iterator[Finding]:
    for region, covers in shadowed(context):
        yield _finding(region, covers)


def shadowed(context: Context) -> list[tuple[Region, list[Region]]]:
    """Give each rule and behaviour aggregate that is never asked, with the earlier ones that take its traffic.

    A single earlier one is named where there is one.
    """
    regions = [region for region in context.regions.all if region.boxes]
    owners = [region for region in regions for _ in region.boxes]
    taken = [each for region in regions for each in region.taken]
    candidates = Candidates([each.box for each in taken])
    found = []
    index = 0
    for region in regions:
        first, index = index, index + len(region.boxes)
        covers: dict[int, Region] = {}
        for number in range(first, index):
            # Boxes of one rule don't shadow each other, though they may overlap.
            earlier = [other for other in candidates.before(number) if other < first]
            used = covering(taken[number], [taken[other] for other in earlier])
            if used is None:
                break
            covers.update({earlier[place]: owners[earlier[place]] for place in used})
        else:
            by_name = {id(covers[other]): covers[other] for other in sorted(covers)}
            found.append((region, list(by_name.values())))
    return found


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
