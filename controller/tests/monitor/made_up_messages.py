"""Messages of switches that nobody has, as live figures are told: smooth enough to look at, the same each time."""

import math

from phb.monitor.live.messages import (
    ClassFigures,
    Detail,
    Hello,
    Link,
    Mark,
    ObjectiveFigures,
    Occurrence,
    PortFigures,
    Summary,
    Tick,
)

BEGAN = 1_800_000_000_000.0
"""Milliseconds since 1970."""

CLASSES = ("voice", "video", "business", "bulk", "class-default")
SPEED = 100_000_000
SHARES = (0.08, 0.22, 0.3, 0.2, 0.14)


def hello(names=("edge",), links=(), groups=None, **others) -> Hello:
    groups = groups or {}
    switches = [
        {"name": name, "address": f"192.0.2.{1 + index % 250}:9559", "groups": list(groups.get(name, ()))}
        for index, name in enumerate(names)
    ]
    made: Hello = {
        "kind": "hello", "version": 1, "title": "phb monitor", "now": BEGAN, "interval": 1.0, "writable": False,
        "switches": switches, "links": [link(a, b) for a, b in links],
    }  # fmt: skip
    return {**made, **others}  # type: ignore[typeddict-item]


def link(a, b) -> Link:
    return {"a": (a, "wan"), "b": (b, "lan")}


def wave(seed, t, period_s=97.0):
    """Something between 0 and 1 that goes up and down."""
    x = t / 1000 / period_s * 2 * math.pi
    return 0.5 + 0.3 * math.sin(x + seed) + 0.15 * math.sin(2.7 * x + 1.7 * seed) + 0.05 * math.sin(23.1 * x + seed)


def summary(index, t, condition="okay") -> Summary:
    known = condition not in ("away", "waiting")
    return {
        "condition": condition,
        "bps": round(8e7 * wave(index, t)) if known else 0.0,
        "dropped": 12.0 if condition == "not-achieved" else 0.0,
        "delay": round(900 + 40000 * wave(index, t, 61.0)) if known else None,
        "unmet": 1 if condition == "not-achieved" else 0,
    }


def tick(names, t, conditions=None) -> Tick:
    conditions = conditions or {}
    return {
        "kind": "tick", "t": t,
        "switches": {name: summary(index, t, conditions.get(name, "okay")) for index, name in enumerate(names)},
    }  # fmt: skip


def detail(switch="edge", t=BEGAN, classes=CLASSES, ports=("wan",), load=1.0, unmet=False, away=None) -> Detail:
    """`load` 1 is what the line carries in all but moments; more of it waits and is dropped."""
    if away is not None:
        return {
            "kind": "detail", "t": t, "switch": switch, "seconds": 0.0, "away": away,
            "ports": {}, "classes": {}, "policies": [], "objectives": [an_objective("unknown", None, t)],
        }  # fmt: skip
    made = {name: a_class(index, name, t, load, len(classes)) for index, name in enumerate(classes)}
    return {
        "kind": "detail", "t": t, "switch": switch, "seconds": 1.0,
        "ports": {port: a_port(index, made, t) for index, port in enumerate(ports)} | {"lan": an_idle_port()},
        "classes": made,
        "policies": [
            {
                "rule": name, "direction": "outgoing", "traffic_class": name, "bps": one["bps"], "pps": one["pps"],
                "dropped": sum(one["dropped"].values()), "packets": 1_234_567, "bytes": 987_654_321,
            }
            for name, one in made.items() if name != "bulk"
        ],
        "objectives": [
            an_objective("not-achieved" if unmet else "okay", 41.5 if unmet else 4.2, t, classes[0]),
            {
                **an_objective("okay", 3.1e7, t, classes[min(2, len(classes) - 1)]),
                "measure": "minimum-rate", "percentile": None, "bound": 2e7, "unit": "bit/s",
            },
        ],
    }  # fmt: skip


def a_class(index, name, t, load, count) -> ClassFigures:
    share = SHARES[index % len(SHARES)] * len(SHARES) / max(count, len(SHARES))
    bps = share * SPEED * (0.55 + 0.75 * wave(index * 1.3, t)) * min(load, 1.1)
    base = 300 * 3 ** (index % 5) * load * (0.6 + wave(index, t, 41.0))
    late = load > 1
    return {
        "bps": bps, "pps": bps / 8 / 700, "marked": 0.0, "queued": int(base / 400),
        "dropped": {"queue limit": 40 * load * wave(index, t), "early (wred)": 15.0} if late and index % 5 > 1 else {},
        "mean": base * 1.2,
        "delays": {"50": base, "90": base * 2.2, "99": base * (4.5 + 2 * wave(7, t, 13.0)), "99.9": base * 11},
    }  # fmt: skip


def a_port(index, classes, t) -> PortFigures:
    queues = {
        name: {
            "bps": one["bps"] / (1 + index),
            "pps": one["pps"] / (1 + index),
            "refused": sum(one["dropped"].values()),
            "queued": one["queued"],
        }
        for name, one in classes.items()
    }
    return {
        "up": True, "speed": SPEED, "bps": sum(one["bps"] for one in queues.values()) * 1.001, "pps": 9000.0,
        "queued": sum(one["queued"] or 0 for one in queues.values()), "queues": queues,
    }  # fmt: skip


def an_idle_port() -> PortFigures:
    return {"up": True, "speed": SPEED * 10, "bps": 0.0, "pps": 0.0, "queued": None, "queues": {}}


def an_objective(state, value, t, of="voice") -> ObjectiveFigures:
    return {
        "of": f"class '{of}'", "measure": "delay-percentile", "percentile": 99.0, "bound": 20.0, "value": value,
        "unit": "ms", "state": state, "since": t - 65_000,
    }  # fmt: skip


def an_event(t, message, switch="edge", event="not-achieved") -> Occurrence:
    return {"kind": "event", "t": t, "switch": switch, "event": event, "message": message}


def a_mark(t, number=12, switch="edge", **others) -> Mark:
    made: Mark = {
        "kind": "mark", "t": t, "switch": switch, "number": number, "command": "push", "user": "anna",
        "outcome": "applied", "inserted": 3, "modified": 1, "deleted": 2,
    }  # fmt: skip
    return {**made, **others}  # type: ignore[typeddict-item]


def minutes(switch="edge", until=BEGAN, seconds=900, slow_from=None, gap=None, **others) -> list[Detail]:
    """Details of each second; from `slow_from` on there is more than the line carries."""
    found = []
    for second in range(seconds):
        t = until - (seconds - 1 - second) * 1000
        if gap is not None and gap[0] <= t < gap[1]:
            continue
        slow = slow_from is not None and t >= slow_from
        found.append(detail(switch, t, load=1.6 if slow else 0.8, unmet=slow and t > slow_from + 20_000, **others))
    return found
