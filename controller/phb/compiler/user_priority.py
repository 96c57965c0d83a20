"""ToS to the 802.1p priority of tagged frames, by egress port (Policy Agent's SetSubnetPrioTosMask).

Where a port has a statement of its own, only that counts; the one without a port is for all others except the host's
own port: frames to a host have their priority from elsewhere.
"""

from __future__ import annotations

from phb.compiler.ports import numbered, resolve, with_address
from phb.errors import InputError
from phb.intent import Entry, Exact, MatchValue, Ternary
from phb.model import PolicySet, PriorityMapping, SubnetPriority
from phb.notice import Notice
from phb.origin import Origin

MAP = "PhbIngress.user_priority.map"
_OWN, _LEFT_OUT, _OTHERS = 3, 2, 1
_QUEUES = "ToS to output queues of the adapter, and CLAW channels and OSA-2 have none (QDIO adapters do)"


def compile_user_priorities(policy: PolicySet) -> tuple[list[Entry], list[Notice]]:
    """Give entries of stage user_priority, and notices of statements without effect.

    Raises:
        InputError: A statement is about a port that isn't there or has no number, or two are about the same.
    """
    others = next((each for each in policy.subnet_priorities if _is_for_others(each) and _mapped(each)), None)
    entries, notices = [], []
    own: dict[int, Origin] = {}
    for statement in policy.subnet_priorities:
        mapped = _mapped(statement)
        match: dict[str, MatchValue] = {}
        if statement.address is not None:
            with_address(policy, statement.address, statement.origin("address"))
        if not _is_for_others(statement) and (mapped or others is not None):
            number = _port(policy, statement)
            if number in own:
                raise InputError(
                    statement.origin(), f"port {number} again", f"it once; it also stands at {own[number]}"
                )
            own[number] = statement.origin()
            match = {"egress_port": Exact(number)}
        elif not mapped:
            notices.append(Notice(statement.origin(), f"SetSubnetPrioTosMask has no effect: it maps {_QUEUES}"))
            continue
        for tos, mapping in mapped.items():
            # P4Runtime leaves a mask of no bits out (section 9.1.1).
            asked = {"tos": Ternary(tos, statement.mask)} if statement.mask else {}
            parameters = {"pcp": mapping.user_priority or 0}
            priority = _OWN if match else _OTHERS
            entries.append(Entry(MAP, {**match, **asked}, "set_priority", parameters, priority, mapping.origin()))
        if any(mapping.priority is not None for mapping in statement.mappings):
            message = f"of SetSubnetPrioTosMask only user priorities have an effect: the others map {_QUEUES}"
            notices.append(Notice(statement.origin(), message))
    if others is not None:
        host = policy.host_port
        if host is not None:
            own.setdefault(numbered(host).number, others.origin())
        entries += [Entry(MAP, {"egress_port": Exact(port)}, "keep", {}, _LEFT_OUT, own[port]) for port in own]
    return entries, notices


def _is_for_others(statement: SubnetPriority) -> bool:
    return statement.address is None and statement.port is None


def _mapped(statement: SubnetPriority) -> dict[int, PriorityMapping]:
    """Give the first mapping with a user priority for each ToS under the mask."""
    found: dict[int, PriorityMapping] = {}
    for mapping in statement.mappings:
        if mapping.user_priority is not None:
            found.setdefault(mapping.tos & statement.mask, mapping)
    return found


def _port(policy: PolicySet, statement: SubnetPriority) -> int:
    if statement.port is not None:
        return resolve(policy, statement.port, statement.origin("port")).number
    assert statement.address is not None
    return numbered(with_address(policy, statement.address, statement.origin("address"))).number
