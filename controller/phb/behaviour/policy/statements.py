"""By which statement of its format a rule takes a packet, such as a line of an access list."""

from __future__ import annotations

from phb.behaviour.policy.conditions import boxes
from phb.behaviour.policy.references import Node
from phb.model import PolicySet
from phb.origin import Origin
from phb.packets.space import Packet, Subset, is_in


class Statements:
    """The statements that a policy's rules are made of."""

    def __init__(self, policy: PolicySet) -> None:
        self._node = Node(policy)
        self._rules = {rule.name: rule for rule in policy.rules}

    def of(self, name: str, packet: Packet) -> Origin | None:
        """Give the statement by which a rule takes a packet as it came in; None if it is the rule itself, or none."""
        rule = self._rules.get(name)
        # In YAML conditions are parts of their rule; there may be very many rules.
        if rule is None or rule.match[0].origin().statement.startswith(rule.origin().statement):
            return None
        for each in rule.match:
            # What leaves may have other marks than it came with: then no condition is found.
            asked = each if each.egress_port is None else each.model_copy(update={"egress_port": None})
            if any(is_in(packet, box) for box in boxes(self._node, asked, 1 << packet.subsets[Subset.EPOCH])):
                return None if each.origin() == rule.origin() else each.origin()
        return None
