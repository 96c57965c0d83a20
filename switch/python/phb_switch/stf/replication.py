"""Multicast groups and mirroring sessions of simple_switch_CLI as updates.

bmv2 has nodes (an instance and ports) associated with groups, and sessions to a port or a group; the switch has groups
and sessions with replicas.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic

from phb_switch.stf.plane import Change, Replicating
from phb_switch.stf.statements import StatementError
from phb_switch.stf.values import number

_SESSION_BITS, _GROUP_BITS, _INSTANCE_BITS, _PORT_BITS = 15, 16, 16, 9

Replicas = list[tuple[int, int]]


@dataclass
class _Node:
    instance: int
    ports: list[int]


class Replication(Generic[Change]):
    """Groups and sessions of the commands so far."""

    def __init__(self, plane: Replicating[Change]) -> None:
        self._plane = plane
        self._groups: dict[int, list[int]] = {}
        self._nodes: dict[int, _Node] = {}
        self._created = 0
        # Session to ("port" or "group", number).
        self._sessions: dict[int, tuple[str, int]] = {}

    def command(self, name: str, words: tuple[str, ...]) -> list[Change]:
        """Carries out a command; StatementError for a word that is no number, or names nothing. Returns the changes."""
        before = self._replicas()
        getattr(self, f"_{name}")(*words)
        return self._difference(before, self._replicas())

    def _difference(
        self,
        before: tuple[dict[int, Replicas], dict[int, Replicas]],
        after: tuple[dict[int, Replicas], dict[int, Replicas]],
    ) -> list[Change]:
        changes = []
        for group in sorted(before[0].keys() | after[0].keys()):
            if before[0].get(group) != after[0].get(group):
                changes.append(self._plane.multicast_group(group, after[0].get(group)))
        for session in sorted(before[1].keys() | after[1].keys()):
            if before[1].get(session) != after[1].get(session):
                changes.append(self._plane.clone_session(session, after[1].get(session)))
        return changes

    def _replicas(self) -> tuple[dict[int, Replicas], dict[int, Replicas]]:
        groups = {
            group: [(port, self._nodes[handle].instance) for handle in handles for port in self._nodes[handle].ports]
            for group, handles in self._groups.items()
        }
        sessions = {
            session: [(target, 0)] if kind == "port" else groups.get(target, [])
            for session, (kind, target) in self._sessions.items()
        }
        return groups, sessions

    def _mirroring_add(self, session: str, port: str) -> None:
        self._sessions[number(session, _SESSION_BITS)] = ("port", number(port, _PORT_BITS))

    def _mirroring_add_mc(self, session: str, group: str) -> None:
        self._sessions[number(session, _SESSION_BITS)] = ("group", number(group, _GROUP_BITS))

    def _mirroring_delete(self, session: str) -> None:
        self._sessions.pop(_existing("session", session, self._sessions))

    def _mirroring_get(self, session: str) -> None:
        _existing("session", session, self._sessions)

    def _mc_mgrp_create(self, group: str) -> None:
        created = number(group, _GROUP_BITS)
        if created in self._groups:
            raise StatementError(f"found group {created}, which exists already")
        self._groups[created] = []

    def _mc_mgrp_destroy(self, group: str) -> None:
        self._groups.pop(_existing("group", group, self._groups))

    def _mc_node_create(self, instance: str, *ports: str) -> None:
        self._nodes[self._created] = _Node(number(instance, _INSTANCE_BITS), _ports(ports))
        self._created += 1

    def _mc_node_update(self, node: str, *ports: str) -> None:
        self._nodes[_existing("node", node, self._nodes)].ports = _ports(ports)

    def _mc_node_destroy(self, node: str) -> None:
        handle = _existing("node", node, self._nodes)
        del self._nodes[handle]
        for handles in self._groups.values():
            while handle in handles:
                handles.remove(handle)

    def _mc_node_associate(self, group: str, node: str) -> None:
        self._groups[_existing("group", group, self._groups)].append(_existing("node", node, self._nodes))

    def _mc_node_dissociate(self, group: str, node: str) -> None:
        handles, handle = self._groups[_existing("group", group, self._groups)], _existing("node", node, self._nodes)
        if handle not in handles:
            raise StatementError(f"found node {handle}, which group {group} doesn't have")
        handles.remove(handle)


def _existing(what: str, text: str, known: Mapping[int, object]) -> int:
    found = number(text)
    if found not in known:
        raise StatementError(f"found {what} {found}, expected one of: {', '.join(map(str, known)) or 'there is none'}")
    return found


def _ports(words: tuple[str, ...]) -> list[int]:
    if "|" in words:
        raise StatementError("found '|', but link aggregation groups don't exist in P4Runtime; name the ports")
    return [number(word, _PORT_BITS) for word in words]
