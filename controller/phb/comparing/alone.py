"""Policies whose files don't number their ports, as a router's configuration alone: what they leave out is made up.

A question that no switch is asked needs numbers only to tell ports apart. They are made up by name, the same for all
policies, and then also where packets go, which such files don't say either:

- without any ports there are two, on a host's policy the host's and the network's;
- two ports with addresses are wired to each other;
- of others nobody knows which leads to which, so each is wired to one that has no policy, ``opposite-NAME``: what
  comes in there leaves by the port, and what comes in at the port leaves there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from phb.comparing.fragments import Numbers, addresses, asks_for_host, natural, references
from phb.errors import InputError
from phb.model import LAST_PORT, BehaviourAggregate, Conditions, CrossConnect, PolicySet, Port, Role, Rule
from phb.model.rules import Permission
from phb.values import AddressRange

OPPOSITE = "opposite-"
_ELSE = "a file with 'cross-connects' or 'routes' beside it, which say where packets go"


class Standing(NamedTuple):
    """Policies that can be asked.

    Attributes:
        made_up: What was made up, in words; nothing if files say all.
        unseen: Why not all that they do can be seen so: it matters which port leads to which.
    """

    policies: tuple[PolicySet, ...]
    made_up: tuple[str, ...] = ()
    unseen: tuple[InputError, ...] = ()

    def sure(self) -> Standing:
        """Give this, or raise the first of `unseen`."""
        for each in self.unseen:
            raise each
        return self


def numbered(policies: Sequence[PolicySet]) -> Standing:
    """Give policies with numbers for all ports: of one name the number that some policy says, else a free one.

    Raises:
        InputError: There are too many ports.
    """
    names = {port.name for policy in policies for port in policy.ports if port.number is None}
    if not names:
        return Standing(tuple(policies))
    numbers = Numbers(policies)
    whole = tuple(policy.model_copy(update={"ports": numbers.given(policy)}) for policy in policies)
    return Standing(whole, (f"no file numbers {_listed(names)}: numbered by name",))


def standing_alone(policies: Sequence[PolicySet]) -> Standing:
    """Give numbered policies in which packets go somewhere.

    Policies that number all of their ports stay as they are. Where only one says where packets go, that holds for all.

    Raises:
        InputError: There are too many ports.
    """
    unseen: list[InputError] = []
    if not any(policy.ports for policy in policies):
        return _with_two_ports(policies)
    whole, made_up, _ = numbered(policies)
    if not made_up and all(policy.ports for policy in policies):
        return Standing(whole)
    leading = next((policy for policy in whole if _leads(policy)), None)
    names = [tuple(sorted((port.name for port in policy.ports), key=natural)) for policy in whole]
    if leading is not None:
        lacking = [
            not _leads(made) and (not policy.ports or any(port.number is None for port in policy.ports))
            for policy, made in zip(policies, whole, strict=True)
        ]
        if any(lacking):
            whole = tuple(_led_as(each, leading) if lack else each for each, lack in zip(whole, lacking, strict=True))
            made_up += ("only one side says where packets go: taken for both",)
    elif len(set(names)) == 1 and len(names[0]) == 2 and all(port.address for each in whole for port in each.ports):
        one, other = names[0]
        made_up += (f"no file says where packets go: {one} is wired to {other}",)
        whole = tuple(_wired(policy, ((one, other),)) for policy in whole)
    else:
        unseen = [each for policy in whole for each in _not_seen(policy)]
        wired = _to_wire(whole)
        numbers = Numbers([_with_opposites(policy, wired) for policy in whole])
        whole = tuple(_with_opposites(policy, wired, numbers) for policy in whole)
        made_up += (f"no file says where packets go: each port X is wired to one without policies, '{OPPOSITE}X'",)
    return Standing(tuple(_with_ports_of(policy, whole) for policy in whole), made_up, tuple(unseen))


def _with_two_ports(policies: Sequence[PolicySet]) -> Standing:
    """Give policies with two ports that are wired to each other.

    Raises:
        InputError: They say things of several interfaces of a host, which is connected to one.
    """
    asks = any(asks_for_host(policy) for policy in policies)
    said = dict.fromkeys(address for policy in policies for address in addresses(policy))
    if len(said) > 1:
        found = f"interfaces {', '.join(map(str, said))}, and no word of which one the host is connected to"
        raise InputError(policies[0].origin(), found, "a file with 'ports' and 'cross-connects' beside it")
    names = ("host", "network") if asks or said else ("inside", "outside")
    ports = (
        Port(name=names[0], number=1, role=Role.HOST if asks or said else Role.NETWORK),
        Port(name=names[1], number=2, address=next(iter(said), None)),
    )
    whole = (policy.model_copy(update={"ports": ports, "cross_connects": _crossed([names])}) for policy in policies)
    with_address = f", which has {next(iter(said))}" if said else ""
    return Standing(tuple(whole), (f"no file names a port: '{names[0]}' is wired to '{names[1]}'{with_address}",))


def _crossed(wires: Sequence[tuple[str, str]]) -> tuple[CrossConnect, ...]:
    return tuple(CrossConnect(between=wire) for wire in wires)


def _with_ports_of(policy: PolicySet, others: Sequence[PolicySet]) -> PolicySet:
    """Give a policy with the ports that only others have, to which nothing leads: for their names."""
    ports = {port.name: port for port in policy.ports}
    taken = {port.number for port in policy.ports}
    for port in (port for other in others for port in other.ports):
        if port.name not in ports and port.number not in taken:
            ports[port.name] = Port(name=port.name, number=port.number)
            taken.add(port.number)
    return policy.model_copy(update={"ports": tuple(ports.values())})


def _listed(names: set[str]) -> str:
    few = sorted(names, key=natural)[:3]
    more = len(names) - len(few)
    return ", ".join(few) + (f" and {more} more" if more else "")


def _leads(policy: PolicySet) -> bool:
    routes = any(not route.discard for route in policy.routes)
    return bool(policy.cross_connects or routes or any(port.mac is not None for port in policy.ports))


def _led_as(policy: PolicySet, other: PolicySet) -> PolicySet:
    ports = {port.name: port for port in policy.ports}
    for port in other.ports:
        own = ports.get(port.name, port)
        ports[port.name] = own.model_copy(update={key: getattr(port, key) for key in ("mac", "addresses", "mtu")})
    said = {route.destination for route in policy.routes}
    return policy.model_copy(
        update={
            "ports": tuple(ports.values()),
            "cross_connects": other.cross_connects,
            "routes": (*policy.routes, *(route for route in other.routes if route.destination not in said)),
        }
    )


def _not_seen(policy: PolicySet) -> Iterator[InputError]:
    """Tell where what comes in at one port gets something else at another than its marks say."""
    traffic_classes = {action.name: action.traffic_class for action in policy.actions}
    asking: list[tuple[Rule | BehaviourAggregate, Conditions | BehaviourAggregate]]
    asking = [(rule, each) for rule in policy.rules for each in (*rule.match, *rule.unless)]
    asking += [(each, each) for each in policy.behaviour_aggregates]
    for item, each in asking:
        if each.egress_port is not None:
            fields = [field for field in ("ingress_port", "qos_group") if getattr(each, field) is not None]
            what = f"'{fields[0].replace('_', '-')}' in an output policy" if fields else None
        else:
            traffic_class = next(filter(None, map(traffic_classes.get, item.actions)), None)
            what = None if each.ingress_port is None or traffic_class is None else f"class '{traffic_class}' by port"
        if what is not None:
            yield InputError(item.origin(), f"{what}, and no word of where packets go", _ELSE)


def _to_wire(policies: Sequence[PolicySet]) -> set[str]:
    """Give the ports that get opposites: all, or where a switch hasn't so many those that some policy asks about."""
    names = {port.name for policy in policies for port in policy.ports}
    if 2 * len(names) <= LAST_PORT:
        return names
    return {str(each) for policy in policies for each in references(policy)}


def _with_opposites(policy: PolicySet, wired: set[str], numbers: Numbers | None = None) -> PolicySet:
    """Give a policy with its ports and their opposites, wired once these have numbers."""
    ports = [port for port in policy.ports if port.name in wired]
    # A copy's name may be longer than one that a file gives.
    opposite = [Port(name=OPPOSITE).model_copy(update={"name": f"{OPPOSITE}{port.name}"}) for port in ports]
    with_them = policy.model_copy(update={"ports": (*policy.ports, *opposite)})
    if numbers is None:
        return with_them
    wires = [(port.name, other.name) for port, other in zip(ports, opposite, strict=True)]
    return _wired(with_them.model_copy(update={"ports": numbers.given(with_them)}), wires)


def _wired(policy: PolicySet, wires: Sequence[tuple[str, str]]) -> PolicySet:
    # What comes in at a wire isn't asked by routes: those that discard become the first rules at each way out.
    discarding = tuple(
        Rule(
            name=f"route to {route.destination}",
            permission=Permission.BLOCKED,
            match=tuple(
                Conditions(egress_port=port.name, destination=AddressRange.parse(str(route.destination)))
                for port in policy.ports
            ),
        ).at(route.origin())
        for route in policy.routes
    )
    return policy.model_copy(
        update={
            "cross_connects": _crossed(wires),
            "routes": (),
            "rules": (*discarding, *policy.rules),
        }
    )
