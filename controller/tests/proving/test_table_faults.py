"""Entries that don't say one thing are told, with the entries."""

import pytest

from phb.intent import Entry, Exact, Range, Ternary
from phb.origin import UNKNOWN
from phb.proving.tables import TableFaultError, behaviour_of_entries


def entry(table, match, action, parameters=None, priority=0):
    return Entry(f"PhbIngress.{table}", match, action, parameters or {}, priority, UNKNOWN)


def rule(priority, policy=1, **match):
    parameters = {"policy": policy, "stream": 0, "traffic_class": 0}
    return entry("classify.multi_field_ipv4", match, "set_class", parameters, priority)


def meter(**changed):
    counted = {"datagram": 0, "overhead": 0, "colour_aware": 0}
    given = {"rate": 8000, "full_after": 1_500_000, "committed_burst": 1500, "excess_burst": 0, **counted, **changed}
    return entry("police.stream_meter", {"stream": Exact(1)}, "single_rate", given)


METERED = entry("classify.multi_field_ipv4", {}, "set_class", {"policy": 1, "stream": 1, "traffic_class": 0}, 1)


def port(number, profile):
    parameters = {"profile": profile, "overhead": 0}
    return entry("conversation.port_scheduler", {"egress_port": Exact(number)}, "class_wfq", parameters, 1)


def queue(profile, slot, traffic_class=0, *, weight=1, level=7, priority=1):
    match = {"profile": Exact(profile)} | ({"traffic_class": Exact(traffic_class)} if traffic_class else {})
    given = {"traffic_class": traffic_class, "slot": slot, "level": level, "weight": weight, "limit_packets": 0}
    return entry("conversation.class_queue", match, "single", given, priority)


def buffer(profile, index, pool):
    given = {"index": index, "private_bytes": 0, "pool": pool, "shared_bytes": 1000, "holes": 1}
    return entry("buffer.stream_buffer", {"profile": Exact(profile)}, "account", given, 1)


FAULTS = {
    "two entries of one priority": [rule(5, 1, protocol=Exact(6)), rule(5, 2, tos=Ternary(0x20, 0xE0))],
    "policy 0": [rule(5, 0)],
    "two entries for the same packets": [
        entry("admit.permission", {"policy": Exact(1)}, each) for each in ("block", "allow")
    ],
    "can't match 1-5": [rule(5, tos=Range(1, 5))],
    "isn't full after 100 us": [METERED, meter(full_after=100)],
    "more than 64 bits": [METERED, meter(rate=1 << 39, full_after=1 << 40)],
    "without a queue": [port(1, 1), queue(1, 0, 1, priority=2)],
    "conversations of another": [port(1, 1), port(2, 2), queue(1, 7), queue(2, 7)],
    "two ports of one profile": [port(1, 1), port(2, 1), queue(1, 0)],
    "behind that of all others": [port(1, 1), queue(1, 0, priority=2), queue(1, 1, 1)],
    "other levels": [port(1, 1), queue(1, 0), queue(1, 1, 1, level=9, weight=0, priority=2)],
    "one account": [port(1, 1), port(2, 2), queue(1, 0), queue(2, 1), buffer(1, 3, 1), buffer(2, 3, 2)],
    "pool of two ports": [port(1, 1), port(2, 2), queue(1, 0), queue(2, 1), buffer(1, 3, 1), buffer(2, 4, 1)],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told(fault, artifact):
    with pytest.raises(TableFaultError, match=fault) as raised:
        behaviour_of_entries(FAULTS[fault], artifact)
    assert raised.value.entries
    assert all(each in FAULTS[fault] for each in raised.value.entries)


@pytest.mark.parametrize(
    "sound",
    [
        [rule(5, 1, protocol=Exact(6)), rule(5, 2, protocol=Exact(17))],
        [rule(5, 1, protocol=Exact(6)), rule(5, 1, tos=Ternary(0x20, 0xE0))],
        [METERED, meter()],
        [port(1, 1), port(2, 2), queue(1, 7), queue(2, 8), buffer(1, 3, 1), buffer(2, 4, 2)],
    ],
)
def test_sound_entries_are_read(sound, artifact):
    assert behaviour_of_entries(sound, artifact) is not None
