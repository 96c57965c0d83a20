"""The inventory: which switches there are, how they are reached, which policy files each gets; ways to measure.

A YAML file with the policy files' quality of errors, and sources of more switches: commands, folders, files. Paths in
it are relative to its own folder, so that it means the same from wherever it is used.

    items > netbox, commands > parts (what each source says) > reading (the whole) > following
"""

from phb.inventory.items import (
    Common,
    End,
    Fragment,
    Inventory,
    Link,
    Source,
    StampSession,
    Switch,
    TargetKind,
    TlsFiles,
    is_address,
)
from phb.inventory.reading import read_inventory, read_whole, schema, select

__all__ = [
    "Common",
    "End",
    "Fragment",
    "Inventory",
    "Link",
    "Source",
    "StampSession",
    "Switch",
    "TargetKind",
    "TlsFiles",
    "is_address",
    "read_inventory",
    "read_whole",
    "schema",
    "select",
]
