"""Stage version: packets meet the old policy whole or the new one whole, and one write decides which.

By hand the entries of both versions are there from the start, and the default action of ``version.active`` is the one
write; by policy a second push does the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from phb.model import MeterKind
from phb.pipeline_names import DropReason
from phb_device import CONNECTED, Entry, default_action, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, Change, Send, Step, dropped, forwarded
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import udp
from phb_ptf.meters import DROP, Meter

AF11, AF21, EF = 0x28, 0x48, 0xB8
OLD, NEW = "0x0/&0x1", "0x1/&0x1"
ACTIONS = CONNECTED + (
    "actions: [{name: low, set-dscp: AF11}, {name: high, set-dscp: AF21}, {name: best, set-dscp: EF}]\n"
)


def mark(policy: int, tos: int, stage: str = "mark") -> Entry:
    """Return the entry of a rule's code point."""
    return entry(f"{stage}.remark", {"policy": policy}, "set_tos", value=tos, mask=0xFC)


def activate(version: int) -> Entry:
    """Return the one write that activates a version."""
    return default_action("version.active", "set_version", version=version, track_connections=0)


def changed(
    name: str, why: str, old: str, new: str, entries: Sequence[Entry], names: dict[str, int],
    before: Sequence[Send], after: Sequence[Send],
) -> Case:  # fmt: skip
    """Make a case of packets before and after a change from rules `old` to rules `new`.

    `entries` are those of both versions, by hand; `names` are the numbers of rules in them.
    """
    steps: list[Step] = [*before, Change(ACTIONS + new, insert=[activate(1)]), *after]
    return Case(name, why, steps, ACTIONS + old, ByHand([*WIRES, *entries], names))


def low(port: int = 80, *, rule: str, becomes: int = AF11, version: int = 4) -> Send:
    """Return a packet to a port, and the code point that it leaves with."""
    return forwarded(udp(port, version=version), udp(port, tos=becomes, version=version), rule=rule)


def none(port: int = 80, version: int = 4) -> Send:
    """Return a packet that no rule takes."""
    return forwarded(udp(port, version=version))


ALL_LOW = "rules: [{name: low, actions: [low]}]\n"
ALL_HIGH = "rules: [{name: high, actions: [high]}]\n"
BOTH = [*rule(7, version=OLD), *rule(8, version=NEW), mark(7, AF11), mark(8, AF21)]
LOW, HIGH = low(rule="low"), low(rule="high", becomes=AF21)
NAMES = {"low": 7, "high": 8}

cases(
    globals(),
    changed("a_rule_is_replaced", "packets meet the old rule after the change, or the new one before it",
            ALL_LOW, ALL_HIGH, BOTH, NAMES, [LOW, LOW], [HIGH, HIGH, HIGH]),
    changed("a_rule_is_replaced_ipv6", "the version isn't asked of IPv6 packets",
            ALL_LOW, ALL_HIGH, BOTH, NAMES,
            [low(rule="low", version=6)], [low(rule="high", becomes=AF21, version=6)] * 2),
    changed("a_rule_comes", "a rule of the new version counts before the change",
            "rules: []\n", ALL_LOW, [*rule(7, version=NEW), mark(7, AF11)], {"low": 7}, [none(), none()], [LOW]),
    changed("a_rule_goes", "a rule of the old version counts after the change",
            ALL_LOW, "rules: []\n", [*rule(7, version=OLD), mark(7, AF11)], {"low": 7}, [LOW, LOW], [none()]),
    changed("a_rule_stays", "a rule that is in both versions loses packets, or its counters",
            ALL_LOW, ALL_LOW + "behaviour-aggregates: []\n", [*rule(7), mark(7, AF11)], {"low": 7},
            [LOW, LOW], [LOW]),
    changed("a_rule_comes_before_another", "a rule without a version is asked before one of the new version",
            ALL_LOW,
            "rules: [{name: high, match: {destination-ports: 80}, actions: [high]}, {name: low, actions: [low]}]\n",
            [*rule(7, priority=10), *rule(8, priority=20, version=NEW, destination_port=(80, 80)),
             mark(7, AF11), mark(8, AF21)], NAMES,
            [low(80, rule="low"), low(81, rule="low")],
            [low(80, rule="high", becomes=AF21), low(81, rule="low")]),
    changed("a_rule_before_another_goes", "a rule of the old version hides one without a version after the change",
            "rules: [{name: high, match: {destination-ports: 80}, actions: [high]}, {name: low, actions: [low]}]\n",
            ALL_LOW,
            [*rule(7, priority=10), *rule(8, priority=20, version=OLD, destination_port=(80, 80)),
             mark(7, AF11), mark(8, AF21)], NAMES,
            [low(80, rule="high", becomes=AF21), low(81, rule="low")],
            [low(80, rule="low"), low(81, rule="low")]),
    changed("conditions_change", "a rule takes packets by the other version's conditions",
            "rules: [{name: low, match: {destination-ports: 80-81}, actions: [low]}]\n",
            "rules: [{name: low, match: {destination-ports: 81-82}, actions: [low]}]\n",
            [*rule(7, version=OLD, destination_port=(80, 81)), *rule(7, version=NEW, destination_port=(81, 82)),
             mark(7, AF11)], {"low": 7},
            [low(80, rule="low"), low(81, rule="low"), none(82)], [none(80), low(81, rule="low"), low(82, rule="low")]),
    changed("rules_change_places", "the order is that of the other version",
            "rules: [{name: low, match: {destination-ports: 80}, actions: [low]}, {name: high, actions: [high]}]\n",
            "rules: [{name: high, actions: [high]}, {name: low, match: {destination-ports: 80}, actions: [low]}]\n",
            [*rule(7, priority=20, version=OLD, destination_port=(80, 80)), *rule(8, priority=10, version=OLD),
             *rule(7, priority=10, version=NEW, destination_port=(80, 80)), *rule(8, priority=20, version=NEW),
             mark(7, AF11), mark(8, AF21)], NAMES,
            [low(80, rule="low"), low(81, rule="high", becomes=AF21)],
            [low(80, rule="high", becomes=AF21), low(81, rule="high", becomes=AF21)]),
    changed("permission", "a packet is blocked by the other version's rule",
            "rules: [{name: low, match: {destination-ports: 80}, permission: blocked}]\n",
            "rules: [{name: high, match: {destination-ports: 81}, permission: blocked}]\n",
            [*rule(7, version=OLD, destination_port=(80, 80)), *rule(8, version=NEW, destination_port=(81, 81)),
             entry("admit.permission", {"policy": 7}, "block"), entry("admit.permission", {"policy": 8}, "block")],
            NAMES,
            [dropped(udp(80), DropReason.BLOCKED, rule="low"), none(81)],
            [none(80), dropped(udp(81), DropReason.BLOCKED, rule="high")]),
)  # fmt: skip

# Other tables with versions.
AGGREGATE = "behaviour-aggregates: [{{name: {name}, dscp: 0, actions: [{name}]}}]\n"
OUTPUT = "rules: [{{name: {name}, match: {{egress-port: line}}, actions: [{name}]}}]\n"
OUTPUT_AGGREGATE = "behaviour-aggregates: [{{name: {name}, dscp: 0, egress-port: line, actions: [{name}]}}]\n"


def aggregate(stage: str, policy: int, version: str, **match: int) -> Entry:
    """Return a behaviour aggregate of DSCP 0."""
    return entry(
        f"{stage}.behaviour_aggregate", {"version": version, "tos": "0x0/&0xfc"} | match, "set_class",
        priority=10, policy=policy, stream=0, traffic_class=0,
    )  # fmt: skip


def out(name: str, becomes: int) -> Send:
    """Return a packet that the policy of port 1 takes."""
    return forwarded(udp(), udp(tos=becomes), output_rule=name)


METER = Meter(MeterKind.SINGLE_RATE, 150, 0, red=DROP)

cases(
    globals(),
    changed("aggregates", "the version isn't asked of behaviour aggregates",
            AGGREGATE.format(name="low"), AGGREGATE.format(name="high"),
            [aggregate("classify", 7, OLD), aggregate("classify", 8, NEW), mark(7, AF11), mark(8, AF21)], NAMES,
            [LOW, LOW], [HIGH]),
    changed("output_rules", "the version isn't asked by the output policy",
            OUTPUT.format(name="low"), OUTPUT.format(name="high"),
            [*rule(7, stage="output", egress_port=1, version=OLD), *rule(8, stage="output", egress_port=1, version=NEW),
             mark(7, AF11, "output_mark"), mark(8, AF21, "output_mark")], NAMES,
            [out("low", AF11), out("low", AF11)], [out("high", AF21)]),
    changed("output_aggregates", "the version isn't asked of the output policy's behaviour aggregates",
            OUTPUT_AGGREGATE.format(name="low"), OUTPUT_AGGREGATE.format(name="high"),
            [aggregate("output", 7, OLD, egress_port=1), aggregate("output", 8, NEW, egress_port=1),
             mark(7, AF11, "output_mark"), mark(8, AF21, "output_mark")], NAMES,
            [out("low", AF11), out("low", AF11)], [out("high", AF21)]),
    # The old policy marks AF11, and AF11 becomes EF at the output; the new one marks AF21, which stays so.
    changed("input_and_output_together", "a packet meets the input rule of one version and the output rule of another",
            "rules:\n  - {name: low, actions: [low]}\n"
            "  - {name: best, match: {egress-port: line, dscp: AF11}, actions: [best]}\n",
            "rules: [{name: high, actions: [high]}, {name: stay, match: {egress-port: line, dscp: AF21}}]\n",
            [*BOTH, *rule(9, stage="output", egress_port=1, tos=f"{AF11:#x}/&0xfc", version=OLD),
             *rule(10, stage="output", egress_port=1, tos=f"{AF21:#x}/&0xfc", version=NEW),
             mark(9, EF, "output_mark")], NAMES | {"best": 9, "stay": 10},
            [forwarded(udp(), udp(tos=EF), rule="low", output_rule="best")] * 2,
            [forwarded(udp(), udp(tos=AF21), rule="high", output_rule="stay")] * 3),
)  # fmt: skip

# By hand only: versions that change more than once, and all at once.
cases(
    globals(),
    Case(
        "there_and_back",
        "a version that was active before isn't what it was",
        [
            LOW,
            Change(insert=[activate(1)]),
            HIGH,
            Change(insert=[activate(0)]),
            LOW,
            Change(insert=[activate(1)]),
            HIGH,
        ],
        by_hand=ByHand([*WIRES, *BOTH], NAMES),
    ),
    Case(
        "not_before_it_is_active",
        "a version that is being written is met by packets",
        [
            LOW,
            Change(insert=[*rule(8, version=NEW), mark(8, AF21)], policies={"high": 8}),
            LOW,
            Change(insert=[activate(1)]),
            HIGH,
            Change(delete=[*rule(7, version=OLD), mark(7, AF11)]),
            HIGH,
        ],
        by_hand=ByHand([*WIRES, *rule(7, version=OLD), mark(7, AF11)], {"low": 7}),
    ),
    Case(
        "a_meter_goes_on",
        "tokens that packets of one version took are there again for those of the other",
        [
            forwarded(udp(), rule="low"),
            Change(insert=[activate(1)]),
            dropped(udp(), DropReason.POLICED, rule="high", colour=2),
        ],
        by_hand=ByHand(
            [*WIRES, *rule(7, version=OLD, stream=5), *rule(8, version=NEW, stream=5), *METER.entries(5, [7, 8])], NAMES
        ),
    ),
    Case(
        "a_meter_of_its_own",
        "streams of two versions share a bucket",
        [
            forwarded(udp(), rule="low"),
            Change(insert=[activate(1)]),
            forwarded(udp(), rule="high"),
            Change(insert=[activate(0)]),
            dropped(udp(), DropReason.POLICED, rule="low", colour=2),
        ],
        by_hand=ByHand(
            [*WIRES, *rule(7, version=OLD, stream=5), *rule(8, version=NEW, stream=6),
             *METER.entries(5, [7]), *METER.entries(6, [8])],
            NAMES,
        ),
    ),
)  # fmt: skip
