"""Options that name a port: what is attached to it, and how it transmits."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from phb_switch._native import PortConfig
from phb_switch.command.errors import InputError

HIGHEST_PORT: Final = 511
"""v1model's port fields have 9 bits."""

TAP: Final = "tap:"
"""Before the name of an interface: a TAP interface, which is made if there is none."""

_MULTIPLES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
_HIGHEST_RATE = (1 << 63) - 1
_HIGHEST_COUNT = (1 << 32) - 1

EXAMPLES: Final[Mapping[str, str]] = {
    "--interface": "0@veth0",
    "--port-rate": "2=256kbit/s:-7",
    "--transmit-ring": "2=6",
    "--buffer-packets": "2=40",
    "--queue-depth": "2=64",
    "--queue-rate": "2=1000",
}


def attached(given: Sequence[str]) -> dict[int, str]:
    """Reads `PORT@INTERFACE`.

    Raises:
        InputError: one of them is wrong, or two exclude each other.

    """
    interfaces: dict[int, str] = {}
    for each in given:
        port, at, name = each.partition("@")
        option = f"--interface {each!r}"
        if not at or not name or not port.isdecimal():
            raise InputError(f"{option}: expected PORT@INTERFACE, for example {EXAMPLES['--interface']}")
        if not each.isprintable():  # Bytes that are no UTF-8, too.
            raise InputError(f"{option}: expected a name that can be printed")
        number = _port(port, option)
        if number in interfaces:
            raise InputError(f"{option}: port {number} is {interfaces[number]} already")
        if name in interfaces.values():
            raise InputError(f"{option}: {name} is attached already")
        interfaces[number] = name
    return interfaces


def configured(
    ports: Sequence[int],
    *,
    queues: int = 1,
    strict_priority: bool = False,
    rates: Sequence[str] = (),
    transmit_rings: Sequence[str] = (),
    buffers: Sequence[str] = (),
    queue_depths: Sequence[str] = (),
    queue_rates: Sequence[str] = (),
) -> dict[int, PortConfig]:
    """Reads `PORT=...` of all options that have such values.

    Args:
        ports: those that have an interface.
        queues: of each port.
        strict_priority: whether packets with a rank wait in them too.
        rates: of the line.
        transmit_rings: frames between scheduler and line.
        buffers: packets in the scheduler.
        queue_depths: packets in each strict-priority queue.
        queue_rates: packets per second of each strict-priority queue.

    Raises:
        InputError: one of them is wrong.

    """
    configs = {port: PortConfig(queues=queues, strict_priority=strict_priority) for port in ports}
    readers: tuple[tuple[str, Sequence[str], Callable[[PortConfig, str, str], None]], ...] = (
        ("--port-rate", rates, _set_rate),
        ("--transmit-ring", transmit_rings, _set_transmit_ring),
        ("--buffer-packets", buffers, _set_buffer),
        ("--queue-depth", queue_depths, _set_queue_depth),
        ("--queue-rate", queue_rates, _set_queue_rate),
    )
    for name, values, set_to in readers:
        seen: set[int] = set()
        for each in values:
            option = f"{name} {each!r}"
            port_text, equals, value = each.partition("=")
            if not equals:
                raise InputError(f"{option}: expected PORT=..., for example {EXAMPLES[name]}")
            port = _port(port_text, option)
            if port not in configs:
                raise InputError(f"{option}: port {port} has no interface")
            if port in seen:
                raise InputError(f"{option}: given twice for port {port}")
            seen.add(port)
            set_to(configs[port], value, option)
    return configs


def _port(text: str, option: str) -> int:
    if not _is_number(text) or int(text) > HIGHEST_PORT:
        raise InputError(f"{option}: expected a port from 0 to {HIGHEST_PORT}, got {text!r}")
    return int(text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _set_rate(config: PortConfig, text: str, option: str) -> None:
    match = re.fullmatch(r"([0-9]+)(?:\.([0-9]{1,9}))?([kMG]?)(?:bit/s|bit|bps)?(?::([+-]?[0-9]{1,9}))?", text)
    if match is None:
        raise InputError(f"{option}: expected RATE or RATE:OVERHEAD, for example {EXAMPLES['--port-rate']}")
    whole, fraction, multiple, overhead = match.groups()
    scaled = int(whole + (fraction or "")) * _MULTIPLES[multiple]
    rate, remainder = divmod(scaled, 10 ** len(fraction or ""))
    if remainder or not 0 < rate <= _HIGHEST_RATE:
        raise InputError(f"{option}: expected a rate of whole bit/s from 1 to {_HIGHEST_RATE}")
    config.rate_bps, config.overhead_bytes = rate, int(overhead or 0)


def _count(text: str, option: str, of: str, lowest: int) -> int:
    if not _is_number(text) or not lowest <= int(text) <= _HIGHEST_COUNT:
        raise InputError(f"{option}: expected a number of {of} from {lowest}, got {text!r}")
    return int(text)


def _set_transmit_ring(config: PortConfig, text: str, option: str) -> None:
    config.transmit_ring = _count(text, option, "frames", 0)


def _set_buffer(config: PortConfig, text: str, option: str) -> None:
    config.buffer_packets = _count(text, option, "packets", 1)


def _set_queue_depth(config: PortConfig, text: str, option: str) -> None:
    config.queue_depth = _count(text, option, "packets", 1)


def _set_queue_rate(config: PortConfig, text: str, option: str) -> None:
    config.queue_rate_pps = _count(text, option, "packets per second", 1)
