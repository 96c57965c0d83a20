"""What can be set: line rates, shapers, queue limits. A request is worked out on a copy, checked whole, then applied.

The line rate of a port is the smaller of what it had at the start and its Ethernet speed. The scheduler in its
scheduler policy is a shaper in front of it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from finsy.proto import gnmi

from phb_switch._native import PortConfig, Shaper
from phb_switch.errors import INVALID_ARGUMENT, StatusError
from phb_switch.gnmi import encoding, paths, schema
from phb_switch.gnmi.encoding import Value
from phb_switch.gnmi.paths import Element, Path

Settings = dict[Path, Value]
"""Every writable leaf that has a value."""

_ETHERNET = "ethernetCsmacd"
_SHAPE = "SHAPE"
_HIGHEST_RATE: Final = (1 << 63) - 1
_FIRST_SCHEDULER = 0
_DEFAULT_BUFFER: Final = PortConfig().buffer_packets


def interface_path(name: str) -> Path:
    """The path of an interface."""
    return (Element("interfaces"), Element("interface", (("name", name),)))


def qos_interface_path(name: str) -> Path:
    """The path of an interface's quality of service."""
    return (Element("qos"), Element("interfaces"), Element("interface", (("interface-id", name),)))


def policy_path(name: str) -> Path:
    """The path of a scheduler policy."""
    return (Element("qos"), Element("scheduler-policies"), Element("scheduler-policy", (("name", name),)))


def below(path: Path, names: str) -> Path:
    """A path with further elements without keys."""
    return path + tuple(Element(name) for name in names.split("/"))


def _scheduler_path(policy: Path, sequence: int) -> Path:
    return (*policy, Element("schedulers"), Element("scheduler", (("sequence", str(sequence)),)))


def initial(ports: Mapping[str, PortConfig]) -> Settings:
    """The settings that a switch starts with: shapers and queue limits become a policy named after the interface."""
    settings: Settings = {}
    for name, config in ports.items():
        limited = config.buffer_packets != _DEFAULT_BUFFER
        if config.shaper is None and not limited:
            continue
        shaper = below(_scheduler_path(policy_path(name), _FIRST_SCHEDULER), "one-rate-two-color/config")
        _set(settings, below(shaper, "queuing-behavior"), _SHAPE)
        if config.shaper is not None:
            _set(settings, below(shaper, "cir"), config.shaper.rate_bps)
            _set(settings, below(shaper, "bc"), config.shaper.burst_bytes)
            _set(settings, below(shaper, "overhead"), config.shaper.overhead_bytes)
        if limited:
            _set(settings, below(shaper, "max-queue-depth-packets"), config.buffer_packets)
        _set(settings, below(qos_interface_path(name), "output/scheduler-policy/config/name"), name)
    return _with_interfaces(settings, ports)


def changed(settings: Settings, request: gnmi.SetRequest, interfaces: Mapping[str, object]) -> Settings:
    """The settings after a request: deletions, then replacements, then updates (gNMI specification, 3.4.3).

    Raises:
        StatusError: something in it can't be; with the path.

    """
    if request.union_replace:
        raise StatusError(INVALID_ARGUMENT, "union_replace is not supported")
    result = dict(settings)
    prefix = request.prefix
    for deleted in request.delete:
        _delete(result, paths.read(deleted, prefix))
    for replaced in request.replace:
        path = _concrete(replaced, prefix)
        _delete(result, path)
        _update(result, path, replaced.val)
    for updated in request.update:
        _update(result, _concrete(updated, prefix), updated.val)
    return _with_interfaces(result, interfaces)


def _with_interfaces(settings: Settings, interfaces: Mapping[str, object]) -> Settings:
    """Interfaces are there whatever is deleted."""
    for name in interfaces:
        _set(settings, below(interface_path(name), "config/name"), name)
        settings.setdefault(below(interface_path(name), "config/type"), _ETHERNET)
        _set(settings, below(qos_interface_path(name), "config/interface-id"), name)
    return settings


def _set(settings: Settings, path: Path, value: Value) -> None:
    """Sets a leaf, and with it the keys of the list entries that it is in."""
    settings[path] = value
    for depth, element in enumerate(path, 1):
        for key, text in element.keys:
            entry = path[:depth]
            number = schema.LEAVES[(*schema.names(entry), key)].kind is not schema.Kind.TEXT
            settings[below(entry, key)] = int(text) if number else text
            settings[below(entry, f"config/{key}")] = int(text) if number else text


def _concrete(update: gnmi.Update, prefix: gnmi.Path) -> Path:
    """The path of an update, which must be one place in the tree, or a whole list."""
    path = paths.read(update.path, prefix)
    if paths.is_pattern(path):
        raise _wrong(path, "a wildcard can't be set")
    for depth, element in enumerate(path, 1):
        key = schema.LISTS.get(schema.names(path[:depth]))
        given = [name for name, _ in element.keys]
        if given != ([] if key is None else [key]) and not (depth == len(path) and not given):
            raise _wrong(path, f"{element.name}: expected {'no key' if key is None else f'the key {key}'}")
    return path


def _delete(settings: Settings, path: Path) -> None:
    if not paths.is_pattern(path):
        place = schema.names(path)
        if place not in schema.LEAVES and place not in schema.CONTAINERS:
            raise _wrong(path, "the models here have no such node")
        if place in schema.LEAVES and not schema.LEAVES[place].writable:
            raise _wrong(path, "can't be set")
    for each in [each for each in settings if paths.covers(path, each)]:
        del settings[each]


def _update(settings: Settings, path: Path, value: gnmi.TypedValue) -> None:
    for leaf, content in encoding.flattened(path, value):
        if not schema.LEAVES[schema.names(leaf)].writable:
            raise _wrong(leaf, "can't be set")
        _check_number_keys(leaf)
        settings.update(_with_keys(leaf, content))


def _check_number_keys(path: Path) -> None:
    for depth, element in enumerate(path, 1):
        for key, text in element.keys:
            kind = schema.LEAVES[(*schema.names(path[:depth]), key)].kind
            if kind is schema.Kind.UINT32 and not (re.fullmatch("0|[1-9][0-9]{0,9}", text) and int(text) < 1 << 32):
                raise _wrong(path, f"{key}: expected {kind.value}, found {text!r}")


def _with_keys(path: Path, value: Value) -> Settings:
    settings: Settings = {}
    _set(settings, path, value)
    if settings[path] != value:
        raise _wrong(path, f"found {value!r}, which is not the key")
    return {**settings, path: value}


def port_configs(
    settings: Settings, ports: Mapping[str, PortConfig], started: Mapping[str, PortConfig]
) -> dict[str, PortConfig]:
    """Checks settings as a whole and gives what they mean for the ports.

    Args:
        settings: after a request.
        ports: by the name of the interface, as they are.
        started: as they were at the start, for what settings leave open.

    Raises:
        StatusError: INVALID_ARGUMENT, with the path.

    """
    for path, value in settings.items():
        _check_leaf(path, value, ports)
    return {name: _port_config(settings, name, config, started[name]) for name, config in ports.items()}


def _check_leaf(path: Path, value: Value, ports: Mapping[str, PortConfig]) -> None:
    place = schema.names(path)
    if place in (("interfaces", "interface", "name"), ("qos", "interfaces", "interface", "interface-id")):
        if value not in ports:
            raise _wrong(path, f"there is no interface {value!r}")
    elif place[-1] == "type" and value != _ETHERNET:
        raise _wrong(path, f"expected {_ETHERNET}, found {value!r}")
    elif place[-1] == "port-speed" and value not in schema.SPEEDS:
        raise _wrong(path, f"expected one of {', '.join(schema.SPEEDS)}, found {value!r}")
    elif place[-1] == "queuing-behavior" and value != _SHAPE:
        raise _wrong(path, f"expected {_SHAPE}, found {value!r}; policing is the program's")
    elif place[-1] == "cir" and not (isinstance(value, int) and 0 < value <= _HIGHEST_RATE):
        raise _wrong(path, f"expected a rate from 1 to {_HIGHEST_RATE} bit/s, found {value}")
    elif place[-1] == "max-queue-depth-packets" and value == 0:
        raise _wrong(path, "expected at least 1 packet")


def _port_config(settings: Settings, name: str, present: PortConfig, started: PortConfig) -> PortConfig:
    rates = [] if started.rate_bps is None else [started.rate_bps]
    speed = settings.get(below(interface_path(name), "ethernet/config/port-speed"))
    if isinstance(speed, str):
        rates.append(schema.SPEEDS[speed])
    buffer_packets, queue_depth = _DEFAULT_BUFFER, started.queue_depth
    present.shaper = None
    scheduler = _scheduler(settings, below(qos_interface_path(name), "output/scheduler-policy/config/name"))
    if scheduler is not None:
        present.shaper = _shaper(settings, scheduler, present.overhead_bytes)
        depth = settings.get(below(scheduler, "max-queue-depth-packets"))
        if isinstance(depth, int):
            buffer_packets = queue_depth = depth
    present.rate_bps = min(rates, default=None)
    present.buffer_packets, present.queue_depth = buffer_packets, queue_depth
    return present


def _shaper(settings: Settings, scheduler: Path, line_overhead: int) -> Shaper | None:
    """The shaper that a port's scheduler is; None if it has no rate. It counts what the line counts unless it says."""
    rate, burst, overhead = (settings.get(below(scheduler, leaf)) for leaf in ("cir", "bc", "overhead"))
    if not isinstance(rate, int):
        for leaf, value in (("bc", burst), ("overhead", overhead)):
            if value is not None:
                raise _wrong(below(scheduler, leaf), "a shaper without a cir")
        return None
    return Shaper(
        rate,
        burst if isinstance(burst, int) else 0,
        overhead if isinstance(overhead, int) else line_overhead,
    )


def _scheduler(settings: Settings, binding: Path) -> Path | None:
    """Where the scheduler of the policy is that a port is bound to, if it is to one."""
    policy = settings.get(binding)
    if not isinstance(policy, str):
        return None
    if below(policy_path(policy), "name") not in settings:
        raise _wrong(binding, f"there is no scheduler policy {policy!r}")
    schedulers = list(_schedulers(settings, policy_path(policy)))
    if len(schedulers) > 1:
        raise _wrong(
            binding, f"the scheduler policy {policy!r} has {len(schedulers)} schedulers; a port has one shaper"
        )
    return below(schedulers[0], "one-rate-two-color/config") if schedulers else None


def _schedulers(settings: Settings, policy: Path) -> Iterator[Path]:
    depth = len(policy) + 2
    for path in settings:
        if len(path) == depth + 1 and path[: len(policy)] == policy and path[-1].name == "sequence":
            yield path[:depth]


def _wrong(path: Sequence[Element], message: str) -> StatusError:
    return StatusError(INVALID_ARGUMENT, f"{paths.text(path)}: {message}")
