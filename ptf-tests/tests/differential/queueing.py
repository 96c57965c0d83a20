"""Random queueing of a port: every schedule, limits that a few packets reach, early detection that draws seldom."""

CLASSES = ["gold", "silver", "bronze", "class-default"]
LIMITS = [1, 1, 2, 3]
SELECTORS = [{"dscp": "AF11"}, {"dscp": "EF"}, {"precedence": 0}, {"precedence": 5}]
SELECTORS += [{"colour": colour} for colour in ("green", "yellow", "red")]


def early_detection(chance):
    """Thresholds that are mostly one: below it nothing is dropped, from it on everything."""
    chosen = chance.some(SELECTORS, 2)
    if not chosen or chance.one_in(2):
        chosen = [*chosen, {}]
    profiles = []
    for selector in chosen:
        minimum = chance.randint(1, 2)
        profiles.append({**selector, "minimum": minimum, "maximum": minimum + 2 * chance.one_in(10)})
    return {"average-weight": chance.choice([1, 1, 2]), "ecn": chance.one_in(2), "profiles": profiles}


def flows(chance, dialects, shape):
    """Fair queueing of flows."""
    return {
        "dialect": chance.choice(dialects),
        "congestive-discard-threshold": chance.choice(LIMITS),
        "dynamic-conversations": chance.choice(shape.conversations),
    }


def buffers(chance, names):
    """A pool, and private buffers of some actions."""
    return {
        "shared-bytes": chance.choice([0, 100, 300, 2000, 20_000]),
        "holes": chance.choice([1, 2, 3]),
        "private": [{"action": name, "bytes": chance.choice([0, 60, 200, 1500])} for name in chance.some(names, 2)],
    }


def classes(chance, shape):
    """Queues of some classes."""
    queues = []
    for name in chance.some(CLASSES, 3, 1):
        queue = {"class": name}
        if chance.one_in(2):
            queue["queue-limit"] = chance.choice(LIMITS)
        others = ["early"] if shape.simple else ["share", "flows", "early"]
        if name != "class-default":
            others = ["level"] if shape.simple else ["level", *others]
        kind = chance.choice(others)
        if kind == "level":
            queue["level"] = chance.randint(0, 6)
        if kind == "share":
            queue["bandwidth"] = chance.choice([{"percent": 20}, {"remaining-percent": 20}, {"weight": 7}])
        if kind == "flows":
            queue["fair-queue"] = flows(chance, ["ios-hqf"], shape)
        if kind == "early" or (kind == "share" and chance.one_in(2)):
            queue["early-detection"] = early_detection(chance)
        queues.append(queue)
    return {"kind": "classes", "queues": queues}


def queueing(chance, names, shape):
    """All but the port; `names` are those of actions, which may have buffers."""
    kind = chance.choice(["fifo", "classes"] if shape.simple else ["fifo", "fair-queue", "classes", "classes"])
    if kind == "classes":
        result = {"schedule": classes(chance, shape)}
    else:
        flow = flows(chance, ["ios-11.3", "ios-12"], shape) if kind == "fair-queue" else {}
        result = {"schedule": {"kind": kind, **flow}}
        if chance.one_in(3):
            result["early-detection"] = early_detection(chance)
    result["length-basis"] = chance.choice(["ethernet", "ip", "ppp"])
    if shape.simple or chance.one_in(shape.hold_queue_one_in):
        # bmv2 wants a limit wherever the program counts what is queued.
        result["hold-queue"] = chance.choice(LIMITS)
    if chance.one_in(2):
        result["buffers"] = buffers(chance, names)
    return result
