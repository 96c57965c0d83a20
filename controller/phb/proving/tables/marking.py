"""Actions that mark packets (p4src/mark.p4, p4src/police.p4)."""

from __future__ import annotations

from typing import Final

from phb.behaviour.marks import UNMARKED, Marks
from phb.intent import Entry
from phb.packets.space import every
from phb.proving.tables.rows import TableFaultError

_GROUP_MASK: Final = every(7)
_TOS: Final = 0xFF
_PRECEDENCE: Final = 0xE0
_PCP: Final = 7


def marks(entry: Entry | None) -> Marks:
    """Give what an entry of `remark` or `colour_action` makes of a packet's marks."""
    if entry is None:
        return UNMARKED
    given = entry.parameters
    match entry.action:
        case "transmit" | "NoAction":
            return UNMARKED
        case "set_tos" | "remark":
            return Marks(value=given["value"], mask=given["mask"])
        case "set_pcp" | "remark_pcp":
            return Marks(pcp_value=given["value"], pcp_mask=given["mask"])
        case "set_tos_and_pcp" | "remark_tos_and_pcp":
            return Marks(given["value"], given["mask"], 0, given["pcp_value"], given["pcp_mask"])
        case "set_marks" | "remark_marks":
            if given["qos_group_mask"] not in (0, _GROUP_MASK):
                raise TableFaultError("a part of a QoS group", entry)
            return Marks(
                given["value"],
                given["mask"],
                given["from_pcp"],
                given["pcp_value"],
                given["pcp_mask"],
                given["from_precedence"],
                given["qos_group"] if given["qos_group_mask"] else None,
            )
    raise TableFaultError(f"action '{entry.action}' marks nothing", entry)


def after(first: Marks, second: Marks) -> Marks:
    """Give what two marks make, one after the other.

    Each bit of the ToS octet is afterwards a constant, that of the priority at its place, or itself; likewise each bit
    of the priority. So two marks are as one.
    """
    if first == UNMARKED:
        return second
    if second == UNMARKED:
        return first
    # Bits by where they are from, after `first`: what is neither constant nor copied is itself.
    tos, constant = first.value & first.mask, first.mask
    copied = first.from_pcp & ~constant & _TOS
    # Below the precedence a copied priority is 0.
    constant |= copied & ~_PRECEDENCE
    copied &= _PRECEDENCE
    pcp, pcp_constant = first.pcp_value & first.pcp_mask, first.pcp_mask
    pcp_copied = first.from_precedence & ~pcp_constant & _PCP

    taken = second.from_pcp & ~second.mask & _TOS
    from_constant, from_tos = pcp_constant << 5 & taken, pcp_copied << 5 & taken
    low = taken & ~_PRECEDENCE
    from_own_pcp = taken & _PRECEDENCE & ~from_constant & ~from_tos
    kept = ~taken & ~second.mask
    new_constant = second.mask | from_constant | low | constant & kept
    new_tos = second.value & second.mask | pcp << 5 & from_constant | tos & kept & constant

    pcp_taken = second.from_precedence & ~second.pcp_mask & _PCP
    pcp_from_constant, pcp_from_pcp = constant >> 5 & pcp_taken, copied >> 5 & pcp_taken
    pcp_from_tos = pcp_taken & ~pcp_from_constant & ~pcp_from_pcp
    pcp_kept = ~pcp_taken & ~second.pcp_mask
    new_pcp_constant = second.pcp_mask | pcp_from_constant | pcp_constant & pcp_kept
    new_pcp = second.pcp_value & second.pcp_mask | tos >> 5 & pcp_from_constant | pcp & pcp_kept & pcp_constant
    return Marks(
        value=new_tos,
        mask=new_constant & _TOS,
        from_pcp=from_own_pcp | copied & kept,
        pcp_value=new_pcp,
        pcp_mask=new_pcp_constant & _PCP,
        from_precedence=pcp_from_tos | pcp_copied & pcp_kept,
        group=first.group if second.group is None else second.group,
    )
