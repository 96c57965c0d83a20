"""Ports: every number that entries mention, with a name."""

from __future__ import annotations

from typing import Any

from phb.decompiler.router import interfaces
from phb.decompiler.rows import Rows, exact
from phb.model import Port, Rate, Role
from phb.names import Names

_MATCHED = ("ingress_port", "egress_port")


class Ports:
    """The node's ports; `host` is known once a rule with a direction has shown it."""

    def __init__(self, rows: Rows, names: Names) -> None:
        numbers = set(names.ports)
        for entry in rows.all:
            numbers |= {exact(entry.match[field]) for field in _MATCHED if field in entry.match}
            if "port" in entry.parameters:
                numbers.add(entry.parameters["port"])
        self._names: dict[int, str] = {}
        for number in sorted(numbers):
            name = names.port(number)
            self._names[number] = f"port-{number}" if name.isdigit() or name in self._names.values() else name
        self.host: int | None = None
        self.rates: dict[int, Rate] = {}
        self._interfaces = interfaces(rows)
        self.wires = {
            exact(entry.match["ingress_port"]): entry.parameters["port"]
            for entry in rows.table("forward.cross_connect")
        }

    def name(self, number: int) -> str:
        """Name a port."""
        return self._names[number]

    def _interface(self, number: int) -> dict[str, Any]:
        found = self._interfaces.get(number)
        return {} if found is None else {"mac": found.mac, "addresses": found.addresses, "mtu": found.mtu}

    @property
    def items(self) -> tuple[Port, ...]:
        """The model's ports."""
        return tuple(
            Port(
                number=number,
                name=name,
                role=Role.HOST if number == self.host else Role.NETWORK,
                rate=self.rates.get(number),
                **self._interface(number),
            )
            for number, name in self._names.items()
        )
