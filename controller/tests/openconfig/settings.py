"""Settings of openconfig-qos as the clients of featureprofiles write them: seven queues, two classifiers, RFC 7951."""

QUEUES = ("NC1", "AF4", "AF3", "AF2", "AF1", "BE0", "BE1")
# By queue; what DP-1.2 and the traffic tests classify by.
DSCPS = {
    "NC1": range(48, 60),
    "AF4": range(32, 36),
    "AF3": range(24, 28),
    "AF2": range(16, 20),
    "AF1": range(8, 12),
    "BE0": range(4, 8),
    "BE1": range(4),
}
# All 64, as DP-1.15 to DP-1.17 have them.
ALL_DSCPS = {
    "NC1": range(48, 64),
    "AF4": range(32, 48),
    "AF3": range(24, 32),
    "AF2": range(16, 24),
    "AF1": range(8, 16),
    "BE0": range(4, 8),
    "BE1": range(4),
}
VERSIONS = ("IPV4", "IPV6")
# Packets of a queue: less than a hundredth of what a case sends.
DEPTH = 8


def named(names):
    return [{"name": name, "config": {"name": name}} for name in names]


def queues_and_groups(names=QUEUES):
    groups = [{"name": f"group-{name}", "config": {"name": f"group-{name}", "output-queue": name}} for name in names]
    return {"queues": {"queue": named(names)}, "forwarding-groups": {"forwarding-group": groups}}


def term(number, version, dscps, queue=None, set_dscp=None):
    actions = {} if queue is None else {"config": {"target-group": f"group-{queue}"}}
    if set_dscp is not None:
        actions["remark"] = {"config": {"set-dscp": set_dscp}}
    found = {"id": str(number), "config": {"id": str(number)}, "actions": actions}
    if dscps is not None:
        found["conditions"] = {version.lower(): {"config": {"dscp-set": list(dscps)}}}
    return found


def classifiers(dscps=None, remarks=None):
    """Classifiers ``dscp-IPV4`` and ``dscp-IPV6``, a term for each queue; `remarks` are new DSCPs by queue."""
    found = []
    for version in VERSIONS:
        terms = [
            term(number, version, values, queue, (remarks or {}).get(queue))
            for number, (queue, values) in enumerate((dscps or DSCPS).items())
        ]
        config = {"name": f"dscp-{version}", "type": version}
        found.append({"name": config["name"], "config": config, "terms": {"term": terms}})
    return {"classifiers": {"classifier": found}}


def scheduler(sequence, weights, depth, strict=False):
    inputs = [
        {
            "id": queue,
            "config": {"id": queue, "input-type": "QUEUE", "queue": queue, "weight": str(weight)},
        }
        for queue, weight in weights.items()
    ]
    config = {"sequence": sequence} | ({"priority": "STRICT"} if strict else {})
    limit = {"one-rate-two-color": {"config": {"max-queue-depth-packets": depth}}}
    return {"sequence": sequence, "config": config, "inputs": {"input": inputs}, **limit}


def output_policy(strict, weighted, depth=DEPTH):
    """Policy ``out``: strict queues by their weights, then others by theirs, each of so many packets."""
    schedulers = [scheduler(0, strict, depth, strict=True)] if strict else []
    schedulers += [scheduler(1, weighted, depth)] if weighted else []
    return {"name": "out", "config": {"name": "out"}, "schedulers": {"scheduler": schedulers}}


def one_rate(cir, bc, queue, **actions):
    """Policy ``in``: a policer of one rate that drops what exceeds it."""
    return _policer(
        {
            "config": {"sequence": 1, "type": "openconfig-qos-types:ONE_RATE_TWO_COLOR"},
            "one-rate-two-color": {
                "config": {"cir": str(cir), "bc": bc, "queuing-behavior": "POLICE"},
                "exceed-action": {"config": {"drop": True}},
                **actions,
            },
        },
        queue,
    )


def two_rates(cir, pir, bc, be, queue):
    """Policy ``in``: a policer of two rates that drops what violates the second."""
    return _policer(
        {
            "config": {"sequence": 1, "type": "openconfig-qos-types:TWO_RATE_THREE_COLOR"},
            "two-rate-three-color": {
                "config": {"cir": str(cir), "pir": str(pir), "bc": bc, "be": be},
                "exceed-action": {"config": {"drop": False}},
                "violate-action": {"config": {"drop": True}},
            },
        },
        queue,
    )


def _policer(scheduler, queue):
    served = {"id": "in", "config": {"id": "in", "input-type": "QUEUE", "queue": queue}}
    scheduler |= {"sequence": 1, "inputs": {"input": [served]}}
    return {"name": "in", "config": {"name": "in"}, "schedulers": {"scheduler": [scheduler]}}


def profile(name, minimum, maximum, percent=100, weight=None, **more):
    config = {
        "min-threshold": str(minimum),
        "max-threshold": str(maximum),
        "enable-ecn": True,
        "max-drop-probability-percent": percent,
        **({} if weight is None else {"weight": weight}),
        **more,
    }
    return {"name": name, "config": {"name": name}, "wred": {"uniform": {"config": config}}}


def profiles(*each):
    return {"queue-management-profiles": {"queue-management-profile": list(each)}}


def policies(*each):
    return {"scheduler-policies": {"scheduler-policy": list(each)}}


def interface(name, *, classified=False, police=None, schedule=None, queues=None):
    """An interface: `classified` by both classifiers, its policies, and profiles (or None) by queue."""
    found = {
        "interface-id": name,
        "config": {"interface-id": name},
        "interface-ref": {"config": {"interface": name}},
    }
    given = {}
    if classified:
        each = [{"type": version, "config": {"type": version, "name": f"dscp-{version}"}} for version in VERSIONS]
        given["classifiers"] = {"classifier": each}
    if police is not None:
        given["scheduler-policy"] = {"config": {"name": police}}
    if given:
        found["input"] = given
    output = {}
    if schedule is not None:
        output["scheduler-policy"] = {"config": {"name": schedule}}
    if queues is not None:
        configs = [
            {"name": queue} | ({} if name is None else {"queue-management-profile": name})
            for queue, name in queues.items()
        ]
        output["queues"] = {"queue": [{"name": config["name"], "config": config} for config in configs]}
    if output:
        found["output"] = output
    return found


def interfaces(*each):
    return {"interfaces": {"interface": list(each)}}


def traffic_test(strict, weighted, dscps=None, remarks=None, ecn=None, depth=DEPTH):
    """Two inputs with classifiers and one output with queues: what the traffic tests configure."""
    extra = {} if ecn is None else profiles(ecn)
    by_queue = dict.fromkeys(QUEUES, None if ecn is None else ecn["name"])
    return {
        **queues_and_groups(),
        **classifiers(dscps, remarks),
        **policies(output_policy(strict, weighted, depth)),
        **extra,
        **interfaces(
            interface("eth1", classified=True),
            interface("eth2", classified=True),
            interface("eth3", schedule="out", queues=by_queue),
        ),
    }
