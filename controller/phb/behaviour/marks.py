"""What is made of a packet's marks, as a function of the marks that it has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from phb.packets.space import UNTAGGED

MarkTable: TypeAlias = NDArray[np.int32]
"""Of shape (256, 9, 3): by ToS octet and TAG, the ToS octet, the TAG and the QoS group (KEPT) that the packet gets."""
KEPT: Final = -1


@dataclass(frozen=True, slots=True)
class Marks:
    """New marks (p4src/mark.p4): copies of what the packet had come first, of a frame without a tag of priority 0.

    ``tos' = (tos with pcp << 5 under from_pcp) with value under mask``; ``pcp' = (pcp with tos >> 5 under
    from_precedence) with pcp_value under pcp_mask``, of tagged frames.

    Attributes:
        group: QoS group; None leaves it.
    """

    value: int = 0
    mask: int = 0
    from_pcp: int = 0
    pcp_value: int = 0
    pcp_mask: int = 0
    from_precedence: int = 0
    group: int | None = None


UNMARKED: Final = Marks()


@cache
def table(marks: Marks) -> MarkTable:
    """Tabulate marks."""
    tos, tag = np.meshgrid(np.arange(256), np.arange(UNTAGGED + 1), indexing="ij")
    pcp = np.where(tag == UNTAGGED, 0, tag)
    new_tos = tos & ~marks.from_pcp | pcp << 5 & marks.from_pcp
    new_tos = new_tos & ~marks.mask | marks.value & marks.mask
    new_pcp = pcp & ~marks.from_precedence | tos >> 5 & marks.from_precedence
    new_pcp = new_pcp & ~marks.pcp_mask | marks.pcp_value & marks.pcp_mask
    new_tag = np.where(tag == UNTAGGED, UNTAGGED, new_pcp)
    group = np.full_like(tos, KEPT if marks.group is None else marks.group)
    made = np.stack((new_tos, new_tag, group), axis=-1).astype(np.int32)
    made.setflags(write=False)
    return made
