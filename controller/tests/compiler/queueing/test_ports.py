"""Schedulers, profiles, slots and limits of ports."""

import pytest

from phb.errors import InputError
from phb.intent import Exact, Profile, QueueSlots

from .conftest import of_table

FAIR = "schedule: {kind: fair-queue, dialect: ios-11.3}"


@pytest.mark.parametrize(
    ("dialect", "weights"),
    [
        # The source's displays (appendix E) show 585 for precedence 6 and 512 for precedence 7.
        ("ios-11.3", [4096, 2048, 1365, 1024, 819, 682, 585, 512]),
        ("ios-12", [32384, 16192, 10794, 8096, 6476, 5397, 4626, 4048]),
        ("ios-hqf", [4096] * 8),
    ],
)
def test_weights(compiled, dialect, weights):
    intent = compiled(f"  - {{port: 0, schedule: {{kind: fair-queue, dialect: {dialect}}}}}\n")
    rows = {entry.match["precedence"]: entry.parameters for entry in of_table(intent, "weight")}
    assert rows == {Exact(number): {"level": 0, "weight": weight} for number, weight in enumerate(weights)}


@pytest.mark.parametrize(("basis", "length"), [("ppp", 1444), ("ip", 1440), ("ethernet", 1454)])
def test_length_of_a_1400_byte_reply(compiled, basis, length):
    """Appendix E of the source displays 1444 for 1400 bytes of data over PPP."""
    (scheduler,) = of_table(compiled(f"  - {{port: 0, {FAIR}, length-basis: {basis}}}\n"), "port_scheduler")
    frame = 1400 + 20 + 20 + 14
    assert (frame + scheduler.parameters["overhead"]) % (1 << 32) == length


def test_each_queue_has_its_own_slots_in_order_of_port_numbers(compiled):
    fair = "schedule: {kind: fair-queue, dialect: ios-11.3, dynamic-conversations: 16}"
    intent = compiled("".join(f"  - {{port: {number}, {fair}}}\n" for number in (3, 1, 2)), ports=4)
    schedulers = of_table(intent, "port_scheduler")
    assert [(entry.match["egress_port"], entry.parameters["base"]) for entry in schedulers] == [
        (Exact(1), 0),
        (Exact(2), 16),
        (Exact(3), 32),
    ]
    assert intent.queues == tuple(QueueSlots(16 * (port - 1), 16, port, f"p{port}", None) for port in (1, 2, 3))


def test_rows_of_a_port_hang_on_its_profile(compiled):
    text = (
        "  - {port: 0, schedule: {kind: fifo}}\n"
        "  - {port: 1, schedule: {kind: fifo}, hold-queue: 40}\n"
        f"  - {{port: 2, {FAIR}}}\n"
    )
    intent = compiled(text, ports=3)
    assert [entry.parameters["profile"] for entry in of_table(intent, "port_scheduler")] == [0, 1, 2]
    assert intent.profiles == (Profile(1, 1, "p1"), Profile(2, 2, "p2"))
    limits = [(entry.match, entry.parameters) for entry in of_table(intent, "port_limit")]
    assert limits == [
        ({"profile": Exact(1)}, {"hold_queue_packets": 40, "conversation_packets": 0}),
        ({"profile": Exact(2)}, {"hold_queue_packets": 0, "conversation_packets": 64}),
    ]
    assert {entry.match["profile"] for entry in of_table(intent, "weight")} == {Exact(2)}


def test_a_port_without_conversations_has_a_slot_of_its_own(compiled):
    intent = compiled("  - {port: 3, schedule: {kind: fifo}}\n", ports=4)
    assert intent.queues == (QueueSlots(65536 + 3, 1, 3, "p3", None),)


def test_too_many_conversations(compiled):
    fair = "schedule: {kind: fair-queue, dialect: ios-11.3, dynamic-conversations: 4096}"
    text = "".join(f"  - {{port: {number}, {fair}}}\n" for number in range(17))
    message = r"^f:38: found 69632 conversations and class queues, expected at most 65536 on one switch$"
    with pytest.raises(InputError, match=message):
        compiled(text, ports=17)


def test_unknown_port(compiled):
    with pytest.raises(InputError, match=r"^f:6: found port 'wan', expected one of 'p0' \(0\)$"):
        compiled("  - {port: wan, schedule: {kind: fifo}}\n")


def test_reservable_conversations_are_said_to_have_no_effect(compiled):
    fair = "{kind: fair-queue, dialect: ios-11.3, reservable: 5}"
    (notice,) = compiled(f"  - {{port: 0, schedule: {fair}}}\n").notices
    assert "reservable conversations (5) have no effect" in str(notice)
