"""The statements that phb reads, one file per family; importing this package fills the tables of `language.modes`.

Statements that become part of the policy are read by a function of their family's file; `refused` has those that
concern packets and that phb can't do; `ignored` has those that don't concern packets. docs/inside/add-a-format.md shows
how to add one.
"""

from phb.formats.ios.language.modes import GLOBAL, INTERFACE
from phb.formats.ios.statements import (
    access_lists,
    class_maps,
    globals,
    ignored,
    interfaces,
    object_groups,
    policing,
    policy_maps,
    refused,
)

__all__ = [
    "GLOBAL",
    "INTERFACE",
    "access_lists",
    "class_maps",
    "globals",
    "ignored",
    "interfaces",
    "object_groups",
    "policing",
    "policy_maps",
    "refused",
]
