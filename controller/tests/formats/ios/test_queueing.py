"""How interfaces queue: what is said, and what each dialect has where nothing is."""

import pytest

from phb.errors import InputError
from phb.model import Bandwidth, Dialect, DropProfile, LengthBasis, Rate, RateBasis

HQF, OLD, IOS_12 = Dialect.IOS_HQF, Dialect.IOS_11_3, Dialect.IOS_12


def queueing_of(ios, text, dialect=IOS_12):
    (queueing,) = ios(text, dialect).queueing
    return queueing


def policy_of(ios, classes, dialect=IOS_12, interface="interface Fa0/0\n bandwidth 1000\n", maps="ab"):
    text = "".join(f"class-map {name}\n match dscp {number}\n" for number, name in enumerate(maps, start=1))
    return queueing_of(ios, f"{text}policy-map p\n{classes}\n{interface} service-policy output p\n", dialect)


def queue_of(ios, statements, dialect=IOS_12, name="class-default"):
    body = "\n".join(f"  {statement}" for statement in statements.splitlines())
    queues = policy_of(ios, f" class {name}\n{body}", dialect).schedule.queues
    return next(queue for queue in queues if queue.traffic_class == name)


# interface statements: dialect, kind, threshold, conversations, reservable, hold queue
INTERFACES = {
    "Serial0\n fair-queue 150 4096 0\n hold-queue 150 out": (OLD, "fair-queue", 150, 4096, 0, 150),
    "Serial0\n fair-queue": (OLD, "fair-queue", 64, 256, 0, None),
    "Serial0\n bandwidth 64\n fair-queue": (IOS_12, "fair-queue", 64, 16, 0, 1000),
    "Serial0\n bandwidth 128\n fair-queue 32": (IOS_12, "fair-queue", 32, 32, 0, 1000),
    "Serial0\n bandwidth 256\n fair-queue": (HQF, "fair-queue", 64, 64, 0, 1000),
    "Serial0\n bandwidth 512\n fair-queue": (IOS_12, "fair-queue", 64, 128, 0, 1000),
    "Serial0\n fair-queue 64 512 7": (IOS_12, "fair-queue", 64, 512, 7, 1000),
    "Serial0": (IOS_12, "fair-queue", 64, 256, 0, 1000),
    "Serial0\n no fair-queue": (IOS_12, "fifo", None, None, None, 40),
    "Serial0\n no fair-queue\n hold-queue 75 out": (IOS_12, "fifo", None, None, None, 75),
    "Serial0\n bandwidth 45000\n hold-queue 60 out": (IOS_12, "fifo", None, None, None, 60),
    "FastEthernet0/0\n fair-queue": (IOS_12, "fair-queue", 64, 256, 0, 1000),
    "FastEthernet0/0\n hold-queue 60 out\n no hold-queue out\n random-detect": (IOS_12, "fifo", None, None, None, 40),
}


@pytest.mark.parametrize("statements", INTERFACES)
def test_interface(ios, statements):
    dialect, kind, *rest = INTERFACES[statements]
    queueing = queueing_of(ios, f"interface {statements}\n", dialect)
    schedule = queueing.schedule
    found = [
        getattr(schedule, name, None)
        for name in ("congestive_discard_threshold", "dynamic_conversations", "reservable")
    ]
    assert [schedule.kind, *found, queueing.hold_queue] == [kind, *rest]
    assert getattr(schedule, "dialect", dialect) is dialect


@pytest.mark.parametrize(
    "statements", ["FastEthernet0/0", "Serial0\n bandwidth 45000", "GigabitEthernet0/1\n hold-queue 9 in"]
)
def test_interface_that_says_nothing(ios, statements):
    assert ios(f"interface {statements}\n").queueing == ()


def test_length_basis(ios):
    bases = {"Serial0": LengthBasis.PPP, "Fa0/0": LengthBasis.ETHERNET, "Channel10/0": LengthBasis.IP}
    for name, basis in bases.items():
        assert queueing_of(ios, f"interface {name}\n hold-queue 9 out\n").length_basis is basis


def test_early_detection_of_an_interface(ios):
    queueing = queueing_of(ios, "interface Fa0/0\n random-detect\n random-detect exponential-weighting-constant 6\n")
    detection = queueing.early_detection
    assert detection.average_weight == 6
    minima = {row.precedence: (row.minimum, row.maximum, row.denominator) for row in detection.profiles}
    assert minima == {
        precedence: (minimum, 40, 10) for precedence, minimum in enumerate((20, 22, 24, 26, 28, 31, 33, 35))
    }


def test_early_detection_by_dscp(ios):
    detection = queue_of(
        ios, "bandwidth 100\nrandom-detect dscp-based\nrandom-detect ecn\nrandom-detect dscp 8 30 40"
    ).early_detection
    rows = {row.dscp: row for row in detection.profiles}
    assert detection.ecn is True
    assert rows[None] == DropProfile(minimum=20, maximum=40)  # DSCP 0, and every one that has no row
    assert rows[8] == DropProfile(dscp=8, minimum=30, maximum=40)
    assert [rows[value].minimum for value in (10, 12, 14, 16, 46, 48, 56)] == [33, 28, 24, 24, 37, 33, 35]
    assert len(rows) == 21


def test_threshold_of_a_code_point_of_one_s_own(ios):
    detection = queue_of(ios, "bandwidth 100\nrandom-detect dscp 5 10 20 7").early_detection
    assert DropProfile(dscp=5, minimum=10, maximum=20, denominator=7) in detection.profiles


SHARES = {
    "bandwidth 250": Bandwidth(rate=Rate(value=250, unit="kbit/s", basis=RateBasis.ETHERNET)),
    "bandwidth percent 25": Bandwidth(percent=25),
    "bandwidth remaining percent 25": Bandwidth(remaining_percent=25),
}


@pytest.mark.parametrize("statement", SHARES)
def test_bandwidth(ios, statement):
    assert queue_of(ios, statement, name="a").bandwidth == SHARES[statement]


def test_ratio(ios):
    assert queue_of(ios, "bandwidth remaining ratio 9", HQF, "a").bandwidth == Bandwidth(weight=9)


@pytest.mark.parametrize(
    ("statements", "dialect", "name", "limit", "threshold", "conversations"),
    [
        ("bandwidth 100", IOS_12, "a", 64, None, None),
        ("bandwidth 100\nqueue-limit 30", IOS_12, "a", 30, None, None),
        ("bandwidth 100\nqueue-limit 30 packets", HQF, "a", 30, None, None),
        ("bandwidth 100\nrandom-detect", IOS_12, "a", None, None, None),
        ("bandwidth 100\nrandom-detect", HQF, "a", 64, None, None),
        ("bandwidth 100\nfair-queue", HQF, "a", 64, 16, 16),
        ("fair-queue 32\nqueue-limit 40", HQF, "a", 40, 10, 32),
        ("fair-queue", IOS_12, "class-default", None, 64, 256),
        ("fair-queue 512\nqueue-limit 20", IOS_12, "class-default", None, 20, 512),
        ("queue-limit 20", IOS_12, "class-default", None, 20, 256),
        ("bandwidth 100", IOS_12, "class-default", 64, None, None),
        ("queue-limit 20", HQF, "class-default", 20, None, None),
    ],
)  # fmt: skip
def test_limits_and_flows(ios, statements, dialect, name, limit, threshold, conversations):
    queue = queue_of(ios, statements, dialect, name)
    assert queue.queue_limit == limit
    flows = queue.fair_queue
    assert (flows and flows.congestive_discard_threshold, flows and flows.dynamic_conversations) == (
        threshold,
        conversations,
    )


@pytest.mark.parametrize(("dialect", "fair"), [(IOS_12, True), (HQF, False)])
def test_class_default_that_nobody_configures(ios, dialect, fair):
    queues = policy_of(ios, " class a\n  bandwidth 100", dialect).schedule.queues
    assert [queue.traffic_class for queue in queues] == ["a", "class-default"]
    assert (queues[1].fair_queue is not None) == fair


def test_priority_levels(ios):
    queues = policy_of(
        ios, " class b\n  priority level 2\n class a\n  priority level 1\n  queue-limit 9", HQF
    ).schedule.queues
    assert [(queue.traffic_class, queue.level, queue.queue_limit) for queue in queues[:2]] == [
        ("b", 1, 64),
        ("a", 0, 9),
    ]


# statement: dialect, rate, burst in bytes
SHAPERS = {
    "shape average 512000 512000": (IOS_12, 512_000, 64_000),
    "shape average 512000 512000 0": (IOS_12, 512_000, 64_000),
    "shape average 512000 511999 0": (IOS_12, 512_000, 63_999),
    "shape average 512000": (IOS_12, 512_000, 1600),
    "shape average 319999": (IOS_12, 319_999, 1000),
    "shape average 320000": (IOS_12, 320_000, 1000),
    "shape average percent 50": (HQF, 500_000, 250),
    "shape peak 512000 8000 4000": (IOS_12, 768_000, 1500),
    "shape peak 64000": (IOS_12, 128_000, 2000),
    "shape peak 512000 8000": (HQF, 1_024_000, 2000),
}


@pytest.mark.parametrize("statement", SHAPERS)
def test_shaper(ios, statement):
    dialect, rate, burst = SHAPERS[statement]
    shaper = policy_of(ios, f" class class-default\n  {statement}", dialect).shaper
    assert (shaper.rate.bits_per_second, shaper.burst_bytes) == (rate, burst)


@pytest.mark.parametrize(
    ("bursts", "listed"),
    [
        (
            "8000",
            "f:2: Be, which is Bc unless configured, has no effect: after a pause phb sends a burst of Bc",
        ),
        ("8000 9000", "f:2: Be has no effect: after a pause phb sends a burst of Bc"),
        ("8000 0", None),
        ("", None),
    ],
)
def test_an_excess_burst_is_listed(ios, bursts, listed):
    notices = [str(notice) for notice in ios(f"interface Fa0/0\n traffic-shape rate 64000 {bursts}\n").notices]
    assert [notice for notice in notices if "burst" in notice] == ([] if listed is None else [listed])


def test_bursts_of_shape_peak_are_its_rate_and_its_burst(ios):
    assert not ios("policy-map p\n class class-default\n  shape peak 64000 8000 8000\n").notices[1:]


def test_a_burst_that_is_too_long(ios):
    statement = "  shape peak 64000 10000000000 10000000000"
    with pytest.raises(InputError, match=r"found a burst of 20000000000 bits, expected at most 17179869184$"):
        policy_of(ios, f" class class-default\n{statement}")


def test_what_waits_for_a_shaper(ios):
    old = policy_of(ios, " class class-default\n  shape average 64000").schedule.queues
    new = policy_of(ios, " class class-default\n  shape average 64000", HQF).schedule.queues
    assert [old[0].fair_queue is not None, new[0].fair_queue is not None] == [True, False]


def test_policy_map_within_a_shaper(ios):
    text = (
        "class-map a\n match dscp 1\npolicy-map in\n class a\n  bandwidth percent 20\n"
        "policy-map out\n class class-default\n  shape average 64000\n  service-policy in\n"
        "interface Fa0/0\n service-policy output out\n"
    )
    policy = ios(text)
    (queueing,) = policy.queueing
    assert queueing.shaper.rate.bits_per_second == 64000
    assert [queue.traffic_class for queue in queueing.schedule.queues] == ["a", "class-default"]
    assert [rule.name for rule in policy.rules] == ["in/a"]


def test_generic_shaping_of_an_interface(ios):
    queueing = queueing_of(ios, "interface Fa0/0\n traffic-shape rate 64000 8000 8000 1000\n", OLD)
    assert (queueing.schedule.kind, queueing.shaper.rate.bits_per_second) == ("fair-queue", 64000)


@pytest.mark.parametrize(
    ("reserved", "kilobits", "dialect"),
    [("", 75, IOS_12), (" max-reserved-bandwidth 90\n", 90, IOS_12), ("", 100, HQF)],
)
def test_as_much_as_classes_may_have(ios, reserved, kilobits, dialect):
    interface = f"interface Fa0/0\n bandwidth 100\n{reserved}"
    queues = policy_of(
        ios, f" class a\n  priority 10\n class b\n  bandwidth {kilobits - 10}", dialect, interface
    ).schedule.queues
    assert len(queues) == 3


def test_policy_map_that_only_marks_leaves_the_queue_alone(ios):
    text = (
        "policy-map p\n class class-default\n  set dscp 0\ninterface Serial0\n fair-queue 9\n service-policy output p\n"
    )
    assert queueing_of(ios, text).schedule.congestive_discard_threshold == 9
