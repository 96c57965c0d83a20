"""Marks as actions of the stages mark and police."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields

from phb.intent import Entry, Exact
from phb.model import MARKS, Copied, Marking
from phb.values import LAST_QOS_GROUP

FROM_PCP = {Copied.PCP_TO_DSCP: 0xFC, Copied.PCP_TO_PRECEDENCE: 0xE0}
"""Bits of the ToS octet that the 802.1p priority fills."""
ALL_PRIORITY = 0b111


@dataclass(frozen=True)
class Bits:
    """The parameters of `set_marks` (p4src/mark.p4)."""

    value: int = 0
    mask: int = 0
    from_pcp: int = 0
    pcp_value: int = 0
    pcp_mask: int = 0
    from_precedence: int = 0
    qos_group: int = 0
    qos_group_mask: int = 0

    @classmethod
    def of(cls, marking: Marking) -> Bits:
        """Translate a marking of the model."""
        tos, pcp, group = marking.mark, marking.priority, marking.set_qos_group
        return cls(
            *((0, 0) if tos is None else (tos.value, tos.mask)),
            max((FROM_PCP.get(each, 0) for each in marking.copy_marks), default=0),
            *((0, 0) if pcp is None else (pcp.value, pcp.mask)),
            ALL_PRIORITY if Copied.PRECEDENCE_TO_PCP in marking.copy_marks else 0,
            *((0, 0) if group is None else (group, LAST_QOS_GROUP)),
        )

    def under(self, above: Bits) -> Bits:
        """Combine the two so that `above` wins; copies come first."""
        return Bits(
            self.value & ~above.from_pcp & ~above.mask | above.value,
            self.mask & ~above.from_pcp | above.mask,
            self.from_pcp | above.from_pcp,
            self.pcp_value & ~above.from_precedence & ~above.pcp_mask | above.pcp_value,
            self.pcp_mask & ~above.from_precedence | above.pcp_mask,
            self.from_precedence | above.from_precedence,
            above.qos_group if above.qos_group_mask else self.qos_group,
            self.qos_group_mask | above.qos_group_mask,
        )


def marks_entry(table: str, key: Mapping[str, Exact], action: Marking, above: Marking, said: Marking) -> list[Entry]:
    """Give the entry that marks packets, with the fewest parameters; none where nothing is marked.

    Args:
        table: `remark` of stage mark, or `colour_action` of stage police.
        key: Match fields.
        action: The action's marks.
        above: A colour's marks, which win.
        said: The one of both that gives the entry its origin.
    """
    bits = Bits.of(action).under(Bits.of(above))
    if bits == Bits():
        return []
    word = "set" if table.endswith(".remark") else "remark"
    tos, pcp = {"value": bits.value, "mask": bits.mask}, {"value": bits.pcp_value, "mask": bits.pcp_mask}
    if bits.from_pcp or bits.from_precedence or bits.qos_group_mask:
        name = f"{word}_marks"
        parameters = dict(zip((field.name for field in fields(bits)), astuple(bits), strict=True))
    elif bits.mask and bits.pcp_mask:
        name, parameters = f"{word}_tos_and_pcp", {**tos, **{f"pcp_{part}": bit for part, bit in pcp.items()}}
    elif bits.mask:
        name, parameters = "set_tos" if word == "set" else "remark", tos
    elif bits.pcp_mask:
        name, parameters = f"{word}_pcp", pcp
    else:
        return []
    given = next((name for name in MARKS if getattr(said, name) not in (None, ())), "")
    return [Entry(table, dict(key), name, parameters, 0, said.origin(given))]
