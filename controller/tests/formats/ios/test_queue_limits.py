"""``queue-limit`` in time and bytes, as packets of 1500 bytes."""

import pytest

from phb.errors import InputError
from phb.model import Dialect


def read_class(ios, statements, dialect=Dialect.IOS_HQF, bandwidth=10_000, shaped=""):
    body = "".join(f"  {statement}\n" for statement in statements.split("; "))
    text = f"class-map a\n match dscp 1\npolicy-map p\n class a\n{body}"
    if shaped:
        text += f"policy-map outer\n class class-default\n  shape average {shaped}\n  service-policy p\n"
    text += f"interface Fa0/0\n bandwidth {bandwidth}\n service-policy output {'outer' if shaped else 'p'}\n"
    return ios(text, dialect)


# Computed by hand: bytes = rate * time / 8, packets = bytes / 1500, at least one.
LIMITS = {
    # 50 ms of 10 Mbit/s are 62500 bytes.
    "bandwidth remaining percent 20; queue-limit 50 ms": (10_000, "", 41, "62500 bytes at 10000000 bit/s"),
    "bandwidth remaining ratio 3; queue-limit 50000 us": (10_000, "", 41, "62500 bytes at 10000000 bit/s"),
    "bandwidth 2000; queue-limit 50 ms": (10_000, "", 8, "12500 bytes at 2000000 bit/s"),
    "bandwidth percent 40; queue-limit 60 ms": (10_000, "", 20, "30000 bytes at 4000000 bit/s"),
    "bandwidth percent 50; queue-limit 60 ms": (10_000, "8000000", 20, "30000 bytes at 4000000 bit/s"),
    "priority 400; queue-limit 90 ms": (10_000, "", 3, "4500 bytes at 400000 bit/s"),
    "priority; queue-limit 12 ms": (1_000, "", 1, "1500 bytes at 1000000 bit/s"),
    "bandwidth 8; queue-limit 5 ms": (10_000, "", 1, "5 bytes at 8000 bit/s"),
    "bandwidth 2000; queue-limit 65536 bytes": (10_000, "", 43, "65536 bytes"),
    "bandwidth 2000; queue-limit 1 bytes": (10_000, "", 1, "1 bytes"),
    "bandwidth percent 90; queue-limit 50 ms": (1_000_000, "", 3750, "5625000 bytes at 900000000 bit/s"),
}


@pytest.mark.parametrize("statements", LIMITS)
def test_limit(ios, statements):
    bandwidth, shaped, packets, size = LIMITS[statements]
    policy = read_class(ios, statements, bandwidth=bandwidth, shaped=shaped)
    queue = policy.queueing[0].schedule.queues[0]
    assert (queue.traffic_class, queue.queue_limit) == ("a", packets)
    said = statements.rpartition("; ")[2]
    assert [str(notice) for notice in policy.notices] == [
        f"f:6: '{said}' is {packets} packets at FastEthernet0/0: {size}, in packets of 1500"
    ]


def test_conversations_of_a_class_have_a_quarter(ios):
    queue = read_class(ios, "fair-queue; queue-limit 50 ms").queueing[0].schedule.queues[0]
    assert (queue.queue_limit, queue.fair_queue.congestive_discard_threshold) == (41, 10)


REFUSED = {
    "queue-limit 9 bytes": (Dialect.IOS_12, "f:6: found 'queue-limit' in bytes, expected packets in ios-12; others"),
    "queue-limit 7000": (Dialect.IOS_HQF, "f:6: found '7000', expected packets from 1 to 4096"),
    "queue-limit 9 kbytes": (Dialect.IOS_HQF, "f:6: found 'kbytes', expected one of packets, bytes, ms, us"),
    "queue-limit 9 ms 5": (Dialect.IOS_HQF, "f:6: found '5', expected the end of the statement"),
    "queue-limit 0 bytes": (Dialect.IOS_HQF, "f:6: found '0', expected a limit from 1 to 2147483647"),
    "queue-limit 30 s": (Dialect.IOS_HQF, "f:6: found 's', expected one of packets, bytes, ms, us"),
    "queue-limit 30000 ms": (
        Dialect.IOS_HQF,
        "f:6: found 'queue-limit 30000 ms', which is 5000 packets of 1500 bytes at 2000000 bit/s, expected",
    ),
    "queue-limit 7000000 bytes": (
        Dialect.IOS_HQF,
        "f:6: found 'queue-limit 7000000 bytes', which is 4666 packets of 1500 bytes, expected at most 4096",
    ),
}


@pytest.mark.parametrize("statement", REFUSED)
def test_refused(ios, statement):
    dialect, message = REFUSED[statement]
    with pytest.raises(InputError) as caught:
        read_class(ios, f"bandwidth 2000; {statement}", dialect)
    assert str(caught.value).startswith(message), str(caught.value)


def test_a_time_at_an_interface_whose_rate_nobody_says(ios):
    text = "policy-map p\n class class-default\n  queue-limit 9 ms\ninterface Channel1/0\n service-policy output p\n"
    with pytest.raises(InputError, match=r"^f:3: .*'bandwidth' in interface Channel1/0$"):
        ios(text, Dialect.IOS_HQF)
