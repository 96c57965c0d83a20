"""Stages conversation, buffer, wred and schedule: how the packets of a class are queued and served at a port."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from phb.behaviour.behaviour import Fact, Service
from phb.intent import PortShaper
from phb.proving.tables.rows import Tables


class Queues:
    """The services and buffers of all ports."""

    def __init__(self, tables: Tables, shapers: Iterable[PortShaper]) -> None:
        self.services: dict[int, dict[Hashable, Service]] = {}
        self.buffers: dict[tuple[int, Hashable], tuple[Fact, ...]] = {}
