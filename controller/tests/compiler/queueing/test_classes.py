"""Queues of classes: rows, levels, slots, flows."""

import pytest

from phb.errors import InputError
from phb.intent import Exact, QueueSlots

from .conftest import of_table


def classes(*queues, port="0"):
    return f"  - port: {port}\n    schedule:\n      kind: classes\n      queues:\n" + "".join(
        f"        - {queue}\n" for queue in queues
    )


def rows(intent):
    return {
        entry.match.get("traffic_class", Exact(0)).value: (entry.action, dict(entry.parameters), entry.priority)
        for entry in of_table(intent, "class_queue")
    }


def single(traffic_class, slot, level, weight, limit=0):
    parameters = {"traffic_class": traffic_class, "slot": slot, "level": level, "weight": weight}
    return ("single", {**parameters, "limit_packets": limit}, 2 if traffic_class else 1)


def test_a_strict_level_shares_and_the_default_class(compiled):
    intent = compiled(
        classes("{class: a, level: 0, queue-limit: 20}", "{class: c, bandwidth: {percent: 75}, queue-limit: 64}")
    )
    assert rows(intent) == {1: single(1, 0, 0, 0, 20), 3: single(3, 1, 7, 1, 64), 0: single(0, 2, 7, 3)}
    assert [queue.traffic_class for queue in intent.queues] == ["a", "c", "class-default"]
    assert of_table(intent, "port_scheduler")[0].parameters == {"profile": 1, "overhead": 0}


def test_flows_that_share_their_class(compiled):
    flows = "{dialect: ios-hqf, dynamic-conversations: 64, congestive-discard-threshold: 32}"
    intent = compiled(classes(f"{{class: b, bandwidth: {{percent: 50}}, fair-queue: {flows}, queue-limit: 128}}"))
    assert rows(intent)[2] == (
        "flows",
        {
            "traffic_class": 2,
            "base": 0,
            "conversations": 64,
            "level": 7,
            "weight": 1,
            "threshold_packets": 32,
            "limit_packets": 128,
            "shared": 1,
        },
        2,
    )
    assert intent.queues == (QueueSlots(0, 64, 0, "p0", "b"), QueueSlots(64, 1, 0, "p0", "class-default"))
    assert of_table(intent, "weight") == []


def test_flows_before_hqf_have_weights_of_their_own(compiled):
    """Measured of IOS: 5 % beside a flow of precedence 7 is about 3.3 : 1; its formula gives 3.16 : 1."""
    flows = "{class: class-default, fair-queue: {dialect: ios-12, dynamic-conversations: 32}}"
    intent = compiled(classes("{class: a, bandwidth: {remaining-percent: 5}}", flows))
    found = rows(intent)
    assert (found[1][1]["weight"], found[0][1]["shared"]) == (1280, 0)
    assert {entry.match["precedence"].value: entry.parameters for entry in of_table(intent, "weight")}[7] == {
        "level": 7,
        "weight": 4048,
    }


def test_weights_beside_flows_are_scaled_together(compiled):
    flows = "{class: class-default, fair-queue: {dialect: ios-12, dynamic-conversations: 4096}}"
    intent = compiled(classes("{class: a, bandwidth: {percent: 75}}", flows))
    weight = rows(intent)[1][1]["weight"]
    flow = of_table(intent, "weight")[0].parameters["weight"]
    # 1 x 100/75 beside 32384.
    assert flow / weight == pytest.approx(32384 * 0.75, rel=1 / 2048)


@pytest.mark.parametrize(
    ("queues", "message"),
    [
        (["{class: x}"], r"^f:10: found class 'x', expected one of class-default, a, b, c, d$"),
        (["{class: a}", "{class: a}"], r"^f:11: found a second queue of class 'a' \(f:10\), expected one$"),
        (
            ["{class: class-default, level: 0}"],
            r"found a strict level of 'class-default', expected a share of the port$",
        ),
        (
            ["{class: a, fair-queue: {dialect: ios-12}}"],
            r"found flows of ios-12 in class 'a', expected 'class-default' and dialect ios-12, or dialect ios-hqf$",
        ),
        (
            ["{class: class-default, fair-queue: {dialect: ios-11.3}}"],
            r"found flows of ios-11.3 in class 'class-default'",
        ),
        (
            ["{class: class-default, bandwidth: {percent: 5}, fair-queue: {dialect: ios-12}}"],
            r"found bandwidth and flows of ios-12 in 'class-default', expected one of them",
        ),
        (["{class: a, bandwidth: {percent: 101}}"], "1 to 100"),
        (
            ["{class: a, bandwidth: {percent: 60}}", "{class: b, bandwidth: {percent: 50}}"],
            r"^f:11: found bandwidth of 110",
        ),
    ],
)
def test_refused(compiled, queues, message):
    with pytest.raises(InputError, match=message):
        compiled(classes(*queues))
