"""A forwarding-pipeline configuration and everything that belongs to it."""

from dataclasses import dataclass, field

from finsy.proto import p4i

from phb_switch._native import Switch
from phb_switch.schema import Schema
from phb_switch.store import Store


@dataclass(slots=True)
class Configuration:
    """A program with its p4info, the switch it is loaded in, and what clients have written to it."""

    p4info: p4i.P4Info
    device_config: bytes
    cookie: int | None
    schema: Schema
    switch: Switch
    store: Store = field(default_factory=Store)
