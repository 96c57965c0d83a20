"""Policies of a node with four ports, drawn by a seed: each port is queued in another way."""

from __future__ import annotations

from random import Random

PORTS = (1, 2, 3, 4)
PRECEDENCES = range(8)

_CLASSES = {"voice": 5, "business": 3, "bulk": 1}
"""The class of a precedence; all others are class-default."""


def draw_policy(random: Random) -> str:
    """Draw a policy in native YAML: routes between all ports, three classes, and a different queueing at each port."""
    lines = ["phb: 1", "node: soak", "ports:"]
    lines += [f"  - {{number: {port}, name: port{port}}}" for port in PORTS]
    lines.append("routes:")
    lines += [
        f"  - {{destination: 10.0.{port}.0/24, port: port{port}, source-mac: '02:00:00:00:00:0{port}', "
        f"destination-mac: '02:00:00:00:01:0{port}'}}"
        for port in PORTS
    ]
    lines.append(f"classes: [{', '.join(f'{{name: {name}}}' for name in _CLASSES)}]")
    lines.append("actions:")
    lines += [f"  - {{name: to-{name}, class: {name}}}" for name in _CLASSES]
    # Few enough that a flood reaches the limit; no probe is TCP.
    lines.append(f"  - {{name: tcp, max-connections: {random.choice([10, 1000])}}}")
    lines.append("rules:")
    if random.random() < 0.5:
        lines.append("  - {name: tcp, match: {protocol: tcp, destination-ports: 80}, actions: [tcp]}")
    lines += [
        f"  - {{name: {name}, match: {{precedence: {precedence}}}, actions: [to-{name}]}}"
        for name, precedence in _CLASSES.items()
    ]
    lines.append("queueing:")
    for port in PORTS:
        lines += _queueing(port, random)
    return "\n".join(lines) + "\n"


def _queueing(port: int, random: Random) -> list[str]:
    kind = random.choice([_fifo, _fair, _classes, _limited_classes, _buffers, _early])
    # The switch's own limit of packets lies above some hold queues and below others.
    hold = random.choice([None, 40, 1000])
    lines = [f"  - port: port{port}", *([f"    hold-queue: {hold}"] if hold else [])]
    # 5 Mbit/s are 2,000 frames of 300 bytes a second: a flood is many times more.
    rate = f"{{value: {random.choice([5, 10, 20])}, unit: Mbit/s, basis: ethernet}}"
    burst = random.choice(["", ", burst-bytes: 8000"])
    return [*lines, f"    shaper: {{rate: {rate}{burst}}}", *kind(random)]


def _fifo(random: Random) -> list[str]:
    return ["    schedule: {kind: fifo}"]


def _flows(random: Random, dialect: str) -> str:
    slots = random.choice([16, 256, 4096])
    threshold = random.choice([4, 64, 4096])
    return f"dialect: {dialect}, dynamic-conversations: {slots}, congestive-discard-threshold: {threshold}"


def _fair(random: Random) -> list[str]:
    return [f"    schedule: {{kind: fair-queue, {_flows(random, random.choice(['ios-11.3', 'ios-12', 'ios-hqf']))}}}"]


def _classes(random: Random) -> list[str]:
    """Draw no limits: the port's are the only ones."""
    return [
        "    schedule:",
        "      kind: classes",
        "      queues:",
        "        - {class: voice, level: 0}",
        f"        - {{class: business, bandwidth: {{weight: {random.randint(1, 60)}}}}}",
        f"        - {{class: bulk, bandwidth: {{weight: 10}}, fair-queue: {{{_flows(random, 'ios-hqf')}}}}}",
        "        - {class: class-default, bandwidth: {weight: 10}}",
    ]


def _limited_classes(random: Random) -> list[str]:
    return [
        "    schedule:",
        "      kind: classes",
        "      queues:",
        f"        - {{class: voice, level: 0, queue-limit: {random.randint(1, 64)}}}",
        f"        - {{class: business, level: 1, queue-limit: {random.randint(1, 64)}}}",
        "        - {class: bulk, bandwidth: {weight: 10}, early-detection: {average-weight: 4, "
        "profiles: [{minimum: 5, maximum: 30}]}}",
        f"        - {{class: class-default, bandwidth: {{weight: 30}}, queue-limit: {random.randint(1, 200)}, "
        f"fair-queue: {{{_flows(random, 'ios-hqf')}}}}}",
    ]


def _buffers(random: Random) -> list[str]:
    return [
        *_fair(random),
        "    buffers:",
        f"      shared-bytes: {random.choice([5_000, 60_000])}",
        f"      holes: {random.choice([1, 2, 4])}",
        f"      private: [{{action: to-voice, bytes: 5000}}, {{action: to-bulk, bytes: {random.choice([0, 2000])}}}]",
    ]


def _early(random: Random) -> list[str]:
    return [
        "    schedule: {kind: fifo}",
        "    early-detection:",
        # An average of 2^4 packets: an idle line is without early drops after some tenths of a second.
        f"      average-weight: {random.randint(2, 4)}",
        f"      ecn: {random.choice(['true', 'false'])}",
        "      profiles: [{minimum: 10, maximum: 60}]",
    ]
