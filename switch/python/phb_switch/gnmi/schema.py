"""What part of the OpenConfig models is here: each leaf with its module, its type and its place in the tree.

The names are those of openconfig-interfaces, -if-ethernet, -p4rt and -qos as published at github.com/openconfig/public,
and one of our own, docs/phb-qos.yang.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from finsy.proto import gnmi

from phb_switch.gnmi.paths import Element

INTERFACES: Final = "openconfig-interfaces"
ETHERNET: Final = "openconfig-if-ethernet"
P4RT: Final = "openconfig-p4rt"
QOS: Final = "openconfig-qos"
OWN: Final = "phb-qos"

MODELS: Final = (
    gnmi.ModelData(name=INTERFACES, organization="OpenConfig working group", version="3.7.1"),
    gnmi.ModelData(name=ETHERNET, organization="OpenConfig working group", version="2.13.0"),
    gnmi.ModelData(name=P4RT, organization="OpenConfig working group", version="0.4.0"),
    gnmi.ModelData(name=QOS, organization="OpenConfig working group", version="0.7.0"),
    gnmi.ModelData(name=OWN, organization="phb", version="0.1.0"),
)

SPEEDS: Final[Mapping[str, int]] = {
    "SPEED_10MB": 10 * 10**6,
    "SPEED_100MB": 100 * 10**6,
    "SPEED_1GB": 10**9,
    "SPEED_2500MB": 2500 * 10**6,
    "SPEED_5GB": 5 * 10**9,
    "SPEED_10GB": 10 * 10**9,
    "SPEED_25GB": 25 * 10**9,
    "SPEED_40GB": 40 * 10**9,
    "SPEED_50GB": 50 * 10**9,
    "SPEED_100GB": 100 * 10**9,
    "SPEED_200GB": 200 * 10**9,
    "SPEED_400GB": 400 * 10**9,
    "SPEED_600GB": 600 * 10**9,
    "SPEED_800GB": 800 * 10**9,
}
"""Identities of ETHERNET_SPEED, in bit/s."""


class Kind(Enum):
    """The type of a leaf, as far as encoding asks."""

    TEXT = "a string"
    IDENTITY = "an identity"
    INT32 = "a number from -2147483648 to 2147483647"
    UINT32 = "a number from 0 to 4294967295"
    UINT64 = "a number from 0 to 18446744073709551615"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf of the models."""

    path: tuple[str, ...]
    """Names from the root, without keys."""
    kind: Kind
    module: str
    """Whose the leaf is; where it differs from its container's, JSON_IETF says so."""
    writable: bool = False
    is_counter: bool = False
    identity_module: str = ""


_ETHERNET_TYPES = "openconfig-if-ethernet"
_QOS_TYPES = "openconfig-qos-types"


def _leaf(path: str, kind: Kind, module: str, **more: bool | str) -> Leaf:
    return Leaf(tuple(path.split("/")), kind, module, **more)  # type: ignore[arg-type]


def _counters(container: str, module: str, *names: str) -> Sequence[Leaf]:
    return [_leaf(f"{container}/{name}", Kind.UINT64, module, is_counter=True) for name in names]


_INTERFACE = "interfaces/interface"
_QOS_INTERFACE = "qos/interfaces/interface"
_POLICY = "qos/scheduler-policies/scheduler-policy"
_SCHEDULER = f"{_POLICY}/schedulers/scheduler"
_SHAPER = "one-rate-two-color"


def _configured(container: str, name: str, kind: Kind, module: str, identity_module: str = "") -> Sequence[Leaf]:
    """A leaf that can be set, and the one beside it that tells what is in force."""
    return [
        _leaf(f"{container}/config/{name}", kind, module, writable=True, identity_module=identity_module),
        _leaf(f"{container}/state/{name}", kind, module, identity_module=identity_module),
    ]


_LEAVES: Final = (
    _leaf(f"{_INTERFACE}/name", Kind.TEXT, INTERFACES, writable=True),
    *_configured(_INTERFACE, "name", Kind.TEXT, INTERFACES),
    _leaf(f"{_INTERFACE}/config/type", Kind.IDENTITY, INTERFACES, writable=True, identity_module="iana-if-type"),
    _leaf(f"{_INTERFACE}/state/type", Kind.IDENTITY, INTERFACES, identity_module="iana-if-type"),
    _leaf(f"{_INTERFACE}/state/id", Kind.UINT32, P4RT),
    _leaf(f"{_INTERFACE}/state/admin-status", Kind.TEXT, INTERFACES),
    _leaf(f"{_INTERFACE}/state/oper-status", Kind.TEXT, INTERFACES),
    *_counters(
        f"{_INTERFACE}/state/counters",
        INTERFACES,
        *("in-octets", "in-pkts", "in-discards", "in-errors", "out-octets", "out-pkts", "out-discards", "out-errors"),
    ),
    *_configured(f"{_INTERFACE}/ethernet", "port-speed", Kind.IDENTITY, ETHERNET, _ETHERNET_TYPES),
    _leaf(f"{_POLICY}/name", Kind.TEXT, QOS, writable=True),
    *_configured(_POLICY, "name", Kind.TEXT, QOS),
    _leaf(f"{_SCHEDULER}/sequence", Kind.UINT32, QOS, writable=True),
    *_configured(_SCHEDULER, "sequence", Kind.UINT32, QOS),
    *_configured(f"{_SCHEDULER}/{_SHAPER}", "cir", Kind.UINT64, QOS),
    *_configured(f"{_SCHEDULER}/{_SHAPER}", "bc", Kind.UINT32, QOS),
    *_configured(f"{_SCHEDULER}/{_SHAPER}", "overhead", Kind.INT32, OWN),
    *_configured(f"{_SCHEDULER}/{_SHAPER}", "queuing-behavior", Kind.TEXT, QOS),
    *_configured(f"{_SCHEDULER}/{_SHAPER}", "max-queue-depth-packets", Kind.UINT32, QOS),
    _leaf(f"{_QOS_INTERFACE}/interface-id", Kind.TEXT, QOS, writable=True),
    *_configured(_QOS_INTERFACE, "interface-id", Kind.TEXT, QOS),
    *_configured(f"{_QOS_INTERFACE}/output/scheduler-policy", "name", Kind.TEXT, QOS),
    _leaf(f"{_QOS_INTERFACE}/output/queues/queue/name", Kind.TEXT, QOS),
    _leaf(f"{_QOS_INTERFACE}/output/queues/queue/state/name", Kind.TEXT, QOS),
    *_counters(f"{_QOS_INTERFACE}/output/queues/queue/state", QOS, "transmit-pkts", "transmit-octets", "dropped-pkts"),
)

LEAVES: Final[Mapping[tuple[str, ...], Leaf]] = {leaf.path: leaf for leaf in _LEAVES}

LISTS: Final[Mapping[tuple[str, ...], str]] = {
    tuple(path.split("/")): key
    for path, key in (
        (_INTERFACE, "name"),
        (_POLICY, "name"),
        (_SCHEDULER, "sequence"),
        (_QOS_INTERFACE, "interface-id"),
        (f"{_QOS_INTERFACE}/output/queues/queue", "name"),
    )
}
"""The key of each list."""

CONTAINERS: Final = frozenset(leaf.path[:depth] for leaf in _LEAVES for depth in range(len(leaf.path)))
"""All that leaves lie in, the root among them."""


def names(path: Sequence[Element]) -> tuple[str, ...]:
    """A path without its keys: where it is in the schema."""
    return tuple(element.name for element in path)


def leaves_keys_out(path: Sequence[Element]) -> bool:
    """Whether it stands for all entries of a list by naming none."""
    return any(names(path[:depth]) in LISTS and not element.keys for depth, element in enumerate(path, 1))


def module_of(path: tuple[str, ...]) -> str:
    """The module that a container or leaf is from."""
    if path in LEAVES:
        return LEAVES[path].module
    if path[:3] == ("interfaces", "interface", "ethernet"):
        return ETHERNET
    return QOS if path[:1] == ("qos",) else INTERFACES
