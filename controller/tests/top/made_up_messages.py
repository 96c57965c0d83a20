"""Made-up messages: a network of switches with ports, classes, drops and an objective that isn't met."""

from __future__ import annotations

from collections.abc import Iterator

from phb.monitor.live.messages import Detail, Hello, Message, Tick

BEGAN = 1_795_687_200_000.0
CLASSES = ("gold", "silver", "bulk")


def hello(names: list[str]) -> Hello:
    infos = [{"name": name, "address": f"{name}:9559", "groups": [f"site-{name[:1]}"]} for name in names]
    return {
        "kind": "hello",
        "version": 1,
        "title": "",
        "now": BEGAN,
        "interval": 1.0,
        "writable": False,
        "switches": infos,
        "links": [],
    }


def detail(name: str, second: int, *, unmet: bool = False, classes: tuple[str, ...] = CLASSES) -> Detail:
    figures, queues = {}, {}
    for number, each in enumerate(classes, 1):
        bps = 1e6 * number * (second + 1)
        queues[each] = {"bps": bps, "pps": bps / 8000, "refused": float(number - 1), "queued": 10 * number}
        figures[each] = {
            "bps": bps,
            "pps": bps / 8000,
            "dropped": {"wred": number - 1.0, "queue limit": 0.0},
            "marked": 0.0,
            "queued": 10 * number,
            "mean": 400.0 * number,
            "delays": {"50": 300.0, "90": 900.0, "99": 1200.0 * number, "99.9": 20_000.0},
        }
    bps = sum(each["bps"] for each in queues.values())
    port = {"up": True, "speed": 10_000_000, "bps": bps, "pps": bps / 8000, "queued": 60, "queues": queues}
    down = {"up": False, "speed": None, "bps": 0.0, "pps": 0.0, "queued": 0, "queues": {}}
    objective = {
        "of": f"class '{classes[0]}'",
        "measure": "delay-percentile",
        "percentile": 99.0,
        "bound": 1.0,
        "value": 1.2,
        "unit": "ms",
        "state": "not-achieved" if unmet else "okay",
        "since": BEGAN,
    }
    return {
        "kind": "detail",
        "t": BEGAN + 1000 * second,
        "switch": name,
        "seconds": 1.0,
        "ports": {"wan": port, "lan": down},
        "classes": figures,
        "policies": [],
        "objectives": [objective],
    }


def tick(name: str, second: int, *, unmet: bool = False) -> Tick:
    condition = "not-achieved" if unmet else "okay"
    summary = {"condition": condition, "bps": 6e6 * (second + 1), "dropped": 3.0, "delay": 3600.0, "unmet": int(unmet)}
    return {"kind": "tick", "t": BEGAN + 1000 * second, "switches": {name: summary}}


def away(name: str, second: int) -> list[Message]:
    gone = {"condition": "away", "bps": 0.0, "dropped": 0.0, "delay": None, "unmet": 0}
    moment = BEGAN + 1000 * second
    nothing = {"kind": "detail", "t": moment, "switch": name, "seconds": 0.0, "away": "it can't be reached"}
    return [
        {"kind": "tick", "t": moment, "switches": {name: gone}},
        nothing | {"ports": {}, "classes": {}, "policies": [], "objectives": []},
        {"kind": "event", "t": moment, "switch": name, "event": "switch-away", "message": "it can't be reached"},
    ]


def network(names: list[str], seconds: int = 1) -> Iterator[Message]:
    """All messages of so many seconds; the first switch's objective isn't met."""
    yield hello(names)
    for second in range(seconds):
        for name in names:
            unmet = name == names[0]
            yield tick(name, second, unmet=unmet)
            yield detail(name, second, unmet=unmet)
