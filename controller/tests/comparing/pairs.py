"""Pairs of policies: those that treat every packet alike though they say it differently, and those that don't."""

from datetime import UTC, datetime

from phb.comparing.comparison import Input, Wanted, compare
from phb.comparing.telling import Side
from phb.device.artifact import Artifact
from phb.formats import yaml_format

AT = datetime(2026, 11, 24, 12, tzinfo=UTC)  # a Tuesday
HEAD = "phb: 1\n"
PORTS = """
ports: [{name: line, number: 1}, {name: lan, number: 2}]
cross-connects: [{between: [line, lan]}]
"""
RATE = "committed-rate: {value: 1, unit: Mbit/s, basis: ethernet}"
METER = f"{{kind: single-rate, {RATE}, committed-burst-bytes: 3000, red: {{drop: true}}}}"
VOICE = "queueing: [{port: line, schedule: {kind: classes, queues: [{class: voice, level: 0, queue-limit: 20}]}}]"


def policy_text(text):
    return HEAD + ("" if "\nports:" in text else PORTS) + text


def compared(a, b, **wanted):
    sides = [Input(yaml_format.read(policy_text(text), name), Side(name)) for text, name in ((a, "A"), (b, "B"))]
    told = compare(*sides, Artifact.load(), Wanted(AT, **wanted))
    assert all(region.failed is None and region.example is not None for region in told.regions)
    return told


EF = "actions: [{name: a, set-dscp: EF}]\n"
ALL = "rules: [{name: r, match: {protocol: udp}, actions: [a]}]\n"
EVERY = "rules: [{name: r, actions: [a]}]\n"
ALIKE = {
    "names of rules, actions and classes": (
        "classes: [{name: voice}]\nactions: [{name: a, class: voice, set-dscp: EF}]\n"
        f"rules: [{{name: r, match: {{protocol: udp}}, actions: [a]}}]\n{VOICE}",
        "classes: [{name: calls}]\nactions: [{name: b, class: calls, set-dscp: EF}]\n"
        f"rules: [{{name: s, match: {{protocol: udp}}, actions: [b]}}]\n{VOICE.replace('voice', 'calls')}",
    ),
    "the order of rules without common packets": (
        EF + "rules: [{name: r, match: {protocol: udp}, actions: [a]}, {name: s, match: {protocol: tcp}, "
        "permission: blocked}]",
        EF + "rules: [{name: s, match: {protocol: tcp}, permission: blocked}, {name: r, match: {protocol: udp}, "
        "actions: [a]}]",
    ),
    "a range as prefixes": (
        "rules: [{name: r, match: {source: 10.0.0.0-10.0.2.255}, permission: blocked}]",
        "rules: [{name: r, match: [{source: 10.0.0.0/23}, {source: 10.0.2.0/24}], permission: blocked}]",
    ),
    "a DSCP as ToS under a mask": (
        EF + "rules: [{name: r, match: {dscp: AF11}, actions: [a]}]",
        "actions: [{name: a, set-tos: {value: 184, mask: 252}}]\n"
        "rules: [{name: r, match: {tos: {value: 40, mask: 252}}, actions: [a]}]",
    ),
    "an exception as an earlier rule": (
        EF + "rules: [{name: r, match: {protocol: tcp}, unless: {destination-ports: 80}, actions: [a]}]",
        EF + "rules: [{name: e, match: {protocol: tcp, destination-ports: 80}}, "
        "{name: r, match: {protocol: tcp}, actions: [a]}]",
    ),
    "marks on input or on output": (
        EF + "rules: [{name: r, match: {protocol: udp, ingress-port: lan}, actions: [a]}]",
        EF + "rules: [{name: r, match: {protocol: udp, egress-port: line}, actions: [a]}]",
    ),
    "a meter on input or on output": (
        f"actions: [{{name: a, meter: {METER}}}]\n"
        "rules: [{name: r, match: {protocol: udp, ingress-port: lan}, actions: [a]}]",
        f"actions: [{{name: a, meter: {METER}}}]\n"
        "rules: [{name: r, match: {protocol: udp, egress-port: line}, actions: [a]}]",
    ),
    "blocked on input or on output": (
        "rules: [{name: r, match: {protocol: udp, ingress-port: lan}, permission: blocked}]",
        "rules: [{name: r, match: {protocol: udp, egress-port: line}, permission: blocked}]",
    ),
    "a mark that the packets have already": (
        EF + "rules: [{name: r, match: {dscp: EF}, actions: [a]}]",
        "",
    ),
    "a mark of the group that a later rule asks for": (
        "actions: [{name: g, set-qos-group: 5}, {name: a, set-dscp: EF}]\n"
        "rules: [{name: r, match: {protocol: udp}, actions: [g]}, "
        "{name: o, match: {egress-port: line, qos-group: 5}, actions: [a]}]",
        EF + "rules: [{name: r, match: {egress-port: line, protocol: udp}, actions: [a]}]",
    ),
    "rules that no packet reaches": (
        "rules: [{name: r, match: {protocol: tcp}, permission: blocked}, {name: s, match: {protocol: tcp}}]",
        "rules: [{name: r, match: {protocol: tcp}, permission: blocked}]",
    ),
    "a rate in other units": (
        f"actions: [{{name: a, meter: {METER}}}]\nrules: [{{name: r, actions: [a]}}]",
        f"actions: [{{name: a, meter: {METER.replace('value: 1, unit: Mbit/s', 'value: 1000, unit: kbit/s')}}}]\n"
        "rules: [{name: r, actions: [a]}]",
    ),
    "colours that the meter never gives": (
        f"actions: [{{name: a, meter: {METER}}}]\nrules: [{{name: r, actions: [a]}}]",
        f"actions: [{{name: a, meter: {METER.replace('red:', 'yellow: {set-dscp: CS1}, red:')}}}]\n"
        "rules: [{name: r, actions: [a]}]",
    ),
    "green of a meter without tokens": (
        f"actions: [{{name: a, meter: {METER.replace('3000', '0')}}}]\n{EVERY}",
        f"actions: [{{name: a, meter: {METER.replace('3000', '0').replace('red:', 'green: {set-dscp: CS1}, red:')}}}]\n"
        f"{EVERY}",
    ),
    "hours of one rule in two": (
        "rules: [{name: r, permission: blocked, valid: {time: 8:00-18:00, time-zone: UTC}}]",
        "rules: [{name: r, permission: blocked, valid: {time: 8:00-12:00, time-zone: UTC}}, "
        "{name: s, permission: blocked, valid: {time: 12:00-18:00, time-zone: UTC}}]",
    ),
    "weights in the same proportion": (
        "queueing: [{port: line, schedule: {kind: classes, queues: "
        "[{class: voice, bandwidth: {weight: 1}}, {class: class-default, bandwidth: {weight: 3}}]}}]\n"
        f"classes: [{{name: voice}}]\nactions: [{{name: a, class: voice}}]\n{ALL}",
        "queueing: [{port: line, schedule: {kind: classes, queues: "
        "[{class: voice, bandwidth: {percent: 25}}, {class: class-default, bandwidth: {percent: 75}}]}}]\n"
        "ports: [{name: line, number: 1, rate: {value: 8, unit: Mbit/s, basis: ethernet}}, {name: lan, number: 2}]\n"
        "cross-connects: [{between: [line, lan]}]\n"
        f"classes: [{{name: voice}}]\nactions: [{{name: a, class: voice}}]\n{ALL}",
    ),
    "a meter that two rules share": (
        f"actions: [{{name: a, meter: {METER}}}]\n"
        "rules: [{name: r, match: {protocol: udp}, actions: [a]}, {name: s, match: {protocol: tcp}, actions: [a]}]",
        f"actions: [{{name: b, meter: {METER}}}]\n"
        "rules: [{name: r, match: [{protocol: udp}, {protocol: tcp}], actions: [b]}]",
    ),
    "a wire as nothing else": ("rules: []", "rules: [{name: all}]"),
}
METERED = f"actions: [{{name: a, meter: {METER}}}]\n" + ALL
ROUTER = """
ports:
  - {name: line, number: 1, mac: "02:00:00:00:00:01", addresses: [10.0.1.1/24]}
  - {name: lan, number: 2, mac: "02:00:00:00:00:02", addresses: [10.0.2.1/24]}
routes: [{destination: 10.9.0.0/16, next-hop: 10.0.1.9}]
"""
QUEUES = """
classes: [{name: voice}]
actions: [{name: a, class: voice}]
queueing:
  - port: line
    schedule:
      kind: classes
      queues:
        - {class: voice, level: 0, queue-limit: 20}
        - {class: class-default, bandwidth: {weight: 3}}
"""
EARLY = "early-detection: {average-weight: 9, profiles: [{minimum: 10, maximum: 20}]}"
BUFFERS = f"""
actions: [{{name: a, meter: {METER}}}, {{name: b, meter: {METER}}}]
rules: [{{name: r, match: {{protocol: udp}}, actions: [a]}}, {{name: s, match: {{protocol: tcp}}, actions: [b]}}]
queueing:
  - {{port: line, schedule: {{kind: fifo}}, buffers: {{shared-bytes: 100000, private: [{{action: a, bytes: 3000}}]}}}}
"""
DIFFERENT = {
    "permission": (
        "rules: [{name: r, match: {protocol: tcp, destination-ports: 20-30}, permission: blocked}]",
        "rules: [{name: r, match: {protocol: tcp, destination-ports: 25-40}, permission: blocked}]",
    ),
    "an exception less": (
        "rules: [{name: r, match: {protocol: udp}, unless: [{dscp: EF}, {dscp: CS6}], permission: blocked}]",
        "rules: [{name: r, match: {protocol: udp}, unless: {dscp: EF}, permission: blocked}]",
    ),
    "marks": (EF + ALL, EF.replace("EF", "AF41") + ALL),
    "marks of those that lack them": (EF + ALL, "rules: []"),
    "802.1p priorities": (
        "actions: [{name: a, set-pcp: 5}]\n" + ALL,
        "actions: [{name: a, set-pcp: 6}]\n" + ALL,
    ),
    "user priorities of a port": (
        "subnet-priorities: [{port: line, mask: 224, mappings: [{tos: 160, user-priority: 5}]}]",
        "subnet-priorities: [{port: line, mask: 224, mappings: [{tos: 160, user-priority: 6}]}]",
    ),
    "a burst": (METERED, METERED.replace("3000", "3001")),
    "what red packets get": (METERED, METERED.replace("drop: true", "set-dscp: CS1")),
    "no meter": (METERED, "rules: []"),
    "a meter that doesn't see what another has passed": (
        METERED,
        METERED.replace("protocol: udp", "protocol: udp, egress-port: line"),
    ),
    "a limit of connections": (
        "actions: [{name: a, max-connections: 5}]\nrules: [{name: r, actions: [a]}]",
        "actions: [{name: a, max-connections: 6}]\nrules: [{name: r, actions: [a]}]",
    ),
    "the rate of a connection": (
        "actions: [{name: a, max-rate: {value: 1, unit: Mbit/s, basis: tcp-payload}}]\n" + EVERY,
        "actions: [{name: a, max-rate: {value: 2, unit: Mbit/s, basis: tcp-payload}}]\n" + EVERY,
    ),
    "a route": (ROUTER, ROUTER.replace("10.0.1.9", "10.0.2.9")),
    "an address of a router": (ROUTER, ROUTER.replace("10.0.2.1/24", "10.0.2.2/24")),
    "a queue's limit": (QUEUES + ALL, QUEUES.replace("limit: 20", "limit: 30") + ALL),
    "a queue's level": (QUEUES + ALL, QUEUES.replace("level: 0", "level: 1") + ALL),
    "another class": (QUEUES + ALL, QUEUES + "rules: []"),
    "early detection": (
        QUEUES.replace("{weight: 3}", "{weight: 3}, " + EARLY) + ALL,
        QUEUES.replace("{weight: 3}", "{weight: 3}, " + EARLY.replace("20", "30")) + ALL,
    ),
    "a shaper of a port": (
        "queueing: [{port: line, schedule: {kind: fifo}, shaper: {rate: {value: 1, unit: Mbit/s, basis: ethernet}}}]",
        "queueing: [{port: line, schedule: {kind: fifo}, shaper: {rate: {value: 2, unit: Mbit/s, basis: ethernet}}}]",
    ),
    "a buffer without bytes of its own": (
        BUFFERS.replace("[{action: a, bytes: 3000}]", "[]"),
        BUFFERS.replace("bytes: 3000}", "bytes: 0}"),
    ),
    "a buffer": (BUFFERS, BUFFERS.replace("bytes: 3000}", "bytes: 4000}")),
    "a meter each": (
        f"actions: [{{name: a, meter: {METER}}}]\n"
        "rules: [{name: r, match: {protocol: udp}, actions: [a]}, {name: s, match: {protocol: tcp}, actions: [a]}]",
        f"actions: [{{name: a, meter: {METER}}}, {{name: b, meter: {METER}}}]\n"
        "rules: [{name: r, match: {protocol: udp}, actions: [a]}, {name: s, match: {protocol: tcp}, actions: [b]}]",
    ),
    "a queue each": (
        "classes: [{name: c}, {name: d}]\nactions: [{name: a, class: c}, {name: b, class: d}]\n"
        "rules: [{name: r, match: {protocol: udp}, actions: [a]}, {name: s, match: {protocol: tcp}, actions: [b]}]\n"
        "queueing: [{port: line, schedule: {kind: classes, queues: [{class: c, level: 0}, {class: d, level: 0}]}}]",
        "classes: [{name: c}, {name: d}]\nactions: [{name: a, class: c}, {name: b, class: c}]\n"
        "rules: [{name: r, match: {protocol: udp}, actions: [a]}, {name: s, match: {protocol: tcp}, actions: [b]}]\n"
        "queueing: [{port: line, schedule: {kind: classes, queues: [{class: c, level: 0}, {class: d, level: 0}]}}]",
    ),
    "a count of connections each": (
        "actions: [{name: a, max-connections: 5}]\nrules: [{name: r, actions: [a]}]",
        "actions: [{name: a, max-connections: 5}]\n"
        "rules: [{name: r, match: {ingress-port: line}, actions: [a]}, {name: s, actions: [a]}]",
    ),
}
