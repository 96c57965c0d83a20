"""Random pushes and packets: what `show` says of a name are packets that it took, and never another's.

The model knows names alone: which rule takes a packet, and so which action, class and queue count it.
"""

import json
import random
from collections import Counter
from copy import deepcopy
from itertools import count

import pytest
import yaml

from phb.explain import parse_packet
from phb.origin import Origin
from phb_switch import P4RuntimeServer, PortConfig, Switch

RULES, ACTIONS, CLASSES = [[f"{kind}{number}" for number in range(5)] for kind in ("rule", "action", "class")]
PACKETS = range(5000, 5008)
WAYS = {1: 2, 3: 4}  # cross-connects: where packets come in, and where they leave
DEFAULT = "class-default"


def draw_policy(rng, before):
    """Another policy: what was there before with a few things changed, or a new one."""
    policy = deepcopy(before) if before and rng.random() < 0.85 else new_policy(rng)
    for _ in range(rng.randrange(1, 4)):
        rng.choice(CHANGES)(rng, policy)
    return policy


def new_policy(rng):
    classes = rng.sample(CLASSES, 3)
    actions = {name: draw_action(rng, classes) for name in rng.sample(ACTIONS, 3)}
    policy = {
        "classes": classes,
        "actions": actions,
        "rules": {},
        "queues": {},
        "ports": {port: f"p{port}" for port in (1, 2, 3, 4)},
    }
    for _ in range(3):
        add_rule(rng, policy)
    change_queues(rng, policy)
    return policy


def draw_action(rng, classes):
    return {"class": rng.choice(classes), "meter": rng.random() < 0.6, "dscp": rng.choice([None, "EF", "AF11"])}


def add_rule(rng, policy):
    free = [name for name in RULES if name not in policy["rules"]]
    if free:
        ports = sorted(rng.sample(PACKETS, rng.randrange(1, 4)))
        policy["rules"][rng.choice(free)] = {"ports": ports, "action": rng.choice(list(policy["actions"]))}


def remove_rule(rng, policy):
    if len(policy["rules"]) > 1:
        del policy["rules"][rng.choice(list(policy["rules"]))]


def reorder_rules(rng, policy):
    items = list(policy["rules"].items())
    rng.shuffle(items)
    policy["rules"] = dict(items)


def rename_rules(rng, policy):
    """Any names for the same rules: renamed, and exchanged."""
    names = rng.sample(RULES, len(policy["rules"]))
    policy["rules"] = dict(zip(names, policy["rules"].values(), strict=True))


def split_or_merge(rng, policy):
    names = list(policy["rules"])
    one = policy["rules"][rng.choice(names)]
    if len(one["ports"]) > 1 and len(names) < len(RULES):
        other = rng.choice([name for name in RULES if name not in policy["rules"]])
        policy["rules"][other] = {"ports": [one["ports"].pop()], "action": one["action"]}
    elif len(names) > 1:
        gone = policy["rules"].pop(rng.choice([name for name in names if policy["rules"][name] is not one]))
        one["ports"] = sorted({*one["ports"], *gone["ports"]})


def change_action(rng, policy):
    policy["actions"][rng.choice(list(policy["actions"]))] = draw_action(rng, policy["classes"])


def change_actions_of_rules(rng, policy):
    policy["rules"][rng.choice(list(policy["rules"]))]["action"] = rng.choice(list(policy["actions"]))


def rename_actions(rng, policy):
    names = dict(zip(policy["actions"], rng.sample(ACTIONS, len(policy["actions"])), strict=True))
    policy["actions"] = {names[name]: action for name, action in policy["actions"].items()}
    for rule in policy["rules"].values():
        rule["action"] = names[rule["action"]]


def rename_classes(rng, policy):
    names = dict(zip(policy["classes"], rng.sample(CLASSES, len(policy["classes"])), strict=True))
    policy["classes"] = list(names.values())
    for action in policy["actions"].values():
        action["class"] = names[action["class"]]
    policy["queues"] = {port: [names[each] for each in queues] for port, queues in policy["queues"].items()}


def change_queues(rng, policy):
    policy["queues"] = {port: rng.sample(policy["classes"], rng.randrange(0, 4)) for port in WAYS.values()}


def rename_ports(rng, policy):
    policy["ports"] = dict(zip(policy["ports"], rng.sample([f"p{number}" for number in range(6)], 4), strict=True))


CHANGES = [
    add_rule, remove_rule, reorder_rules, rename_rules, split_or_merge, change_action, change_actions_of_rules,
    rename_actions, rename_classes, change_queues, rename_ports,
]  # fmt: skip


def as_yaml(policy):
    ports = policy["ports"]

    def action(name, said):
        meter = {
            "kind": "single-rate",
            "committed-rate": {"value": 1000, "unit": "Mbit/s", "basis": "ip"},
            "committed-burst-bytes": 1_000_000,
            "red": {"drop": True},
        }
        marks = {"set-dscp": said["dscp"]} if said["dscp"] else {}
        return {"name": name, "class": said["class"], **marks, **({"meter": meter} if said["meter"] else {})}

    return yaml.safe_dump({
        "phb": 1,
        "node": "dut",
        "ports": [{"number": number, "name": name} for number, name in ports.items()],
        "cross-connects": [{"between": [ports[one], ports[other]]} for one, other in WAYS.items()],
        "classes": [{"name": name} for name in policy["classes"]],
        "actions": [action(*each) for each in policy["actions"].items()],
        "rules": [
            {
                "name": name,
                "match": [{"protocol": "udp", "destination-ports": port} for port in rule["ports"]],
                "actions": [rule["action"]],
            }
            for name, rule in policy["rules"].items()
        ],
        "queueing": [
            {
                "port": ports[port],
                "schedule": {
                    "kind": "classes",
                    "queues": [{"class": name, "level": level} for level, name in enumerate(queues)],
                },
            }
            for port, queues in policy["queues"].items()
            if queues
        ],
    }, sort_keys=False)  # fmt: skip


def counted_by(policy, arrival, destination_port):
    """Whose counters a packet counts in: kinds and names."""
    rule = next((name for name, each in policy["rules"].items() if destination_port in each["ports"]), None)
    traffic_class = DEFAULT
    yield "policy", rule
    if rule is not None:
        name = policy["rules"][rule]["action"]
        traffic_class = policy["actions"][name]["class"]
        if policy["actions"][name]["meter"]:
            yield "meter", name
    yield "class", traffic_class
    port = WAYS[arrival]
    queues = policy["queues"].get(port)
    if queues:
        yield "queue", (port, traffic_class if traffic_class in queues else DEFAULT)
    yield "port", port


def stays(kind, name, before, policy):
    """Whether a name's count must stay, as nothing that it depends on has changed; others may start at zero."""
    match kind:
        case "policy":
            return name is None or before["rules"].get(name) == policy["rules"][name]
        case "meter":
            return before["rules"] == policy["rules"] and name in before["actions"]
        case "class":
            return name == DEFAULT or name in before["classes"]
        case "queue":
            return before["queues"] == policy["queues"]
    return True


@pytest.mark.parametrize("seed", range(4))
def test_each_name_has_its_own_packets(seed, phb, write_file, monkeypatch, tmp_path):
    """Controllers with three state files, one of which is lost now and then, or with none push in turn."""
    rng = random.Random(seed)
    switch = Switch("dut", {port: PortConfig() for port in (1, 2, 3, 4)})
    server = P4RuntimeServer(switch, device_id=1)
    where = ["--address", f"127.0.0.1:{server.start()}"]
    clock = count(1_000_000, 1_000_000)
    before, counts = None, Counter()
    try:
        for _ in range(8):
            state = tmp_path / f"{rng.choice('abc')}.sqlite"
            monkeypatch.setenv("PHB_STATE", str(state))
            if rng.random() < 0.2:
                state.unlink(missing_ok=True)
            policy = draw_policy(rng, before)
            file = write_file("policy.yaml", as_yaml(policy))
            code, _, err = phb("push", *where, *rng.choice([[], ["--no-state"]]), file)
            assert code == 0, err
            came = Counter()
            for _ in range(rng.randrange(1, 40)):
                arrival, port = rng.choice(list(WAYS)), rng.choice(PACKETS)
                frame = parse_packet(f"udp 10.0.1.1:700 > 10.0.2.1:{port} length 200", Origin("test")).frame
                switch.process(arrival, frame, next(clock))
                came.update(counted_by(policy, arrival, port))
            now = shown(phb, where)
            for each, packets in now.items():
                kept = counts[each] if before is not None and stays(*each, before, policy) else None
                allowed = {0, counts[each]} if kept is None else {kept}
                assert packets - came[each] in allowed, each
            before, counts = policy, Counter(now)
    finally:
        server.stop()


def shown(phb, where):
    """What `show` says, by kind and name."""

    def read(what, *options):
        code, out, err = phb("show", what, "--json", *where, *options)
        assert code == 0, err
        return json.loads(out)

    return {
        **{("policy", row["rule"]): row["packets"] for row in read("policy")},
        **{("class", row["class"]): row["packets"] for row in read("class")},
        **{("meter", row["action"]): sum(cell["packets"] for cell in row["colours"].values()) for row in read("meter")},
        **{
            ("queue", (port["port"], queue["class"])): sum(
                each["transmitted"]["packets"] for each in queue["conversations"]
            )
            for port in read("queue", "--all")
            for queue in port["queues"]
        },
        **{("port", row["port"]): row["packets"] for row in read("port") if row["port"] in WAYS.values()},
    }
