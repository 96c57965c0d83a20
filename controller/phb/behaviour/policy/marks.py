"""Marks of an action, and of a colour above them, bit by bit."""

from __future__ import annotations

from phb.behaviour.marks import Marks
from phb.model import Copied, Marking

_CLASS_SELECTOR, _PRECEDENCE, _PRIORITY = 0b11111100, 0b11100000, 0b111


def marks(*markings: Marking) -> Marks:
    """Give what several markings make together; of each bit, the last one that says something of it counts.

    In each marking new bits come after copies; copies are always of what the packet had.
    """
    tos, priority, group = _Bits(), _Bits(), None
    for marking in markings:
        copied = marking.copy_marks
        if Copied.PCP_TO_DSCP in copied:
            tos.copy(_CLASS_SELECTOR)
        if Copied.PCP_TO_PRECEDENCE in copied:
            tos.copy(_PRECEDENCE)
        if Copied.PRECEDENCE_TO_PCP in copied:
            priority.copy(_PRIORITY)
        if marking.set_dscp is not None:
            tos.set(marking.set_dscp << 2, _CLASS_SELECTOR)
        if marking.set_precedence is not None:
            tos.set(marking.set_precedence << 5, _PRECEDENCE)
        if marking.set_tos is not None:
            tos.set(marking.set_tos.value, marking.set_tos.mask)
        if marking.set_pcp is not None:
            priority.set(marking.set_pcp.value, marking.set_pcp.mask)
        if marking.set_qos_group is not None:
            group = marking.set_qos_group
    return Marks(tos.value, tos.mask, tos.copied, priority.value, priority.mask, priority.copied, group)


class _Bits:
    """Bits that are set, and bits that are copied, of one field."""

    def __init__(self) -> None:
        self.value = self.mask = self.copied = 0

    def set(self, value: int, mask: int) -> None:
        self.value = self.value & ~mask | value & mask
        self.mask |= mask
        self.copied &= ~mask

    def copy(self, bits: int) -> None:
        self.copied |= bits
        self.mask &= ~bits
        self.value &= ~bits
