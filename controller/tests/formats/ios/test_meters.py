"""``police`` in every spelling, and the policer that ``priority`` implies."""

import pytest

from phb.model import Dialect, MeterKind, RateBasis, Treatment
from phb.values import PriorityCodePoint

SEND, DROP = Treatment(), Treatment(drop=True)
AF12 = Treatment(set_dscp=12)


def meter_of(ios, statements, interface="FastEthernet0/0", direction="input"):
    body = "\n".join(f"  {statement}" for statement in statements.splitlines())
    policy = ios(
        f"policy-map p\n class class-default\n{body}\n"
        f"interface {interface}\n bandwidth 1000\n service-policy {direction} p\n",
        Dialect.IOS_HQF,
    )
    return policy.actions[0].meter


# statement: (kind, CIR, CBS, EBS, PIR, PBS, green, yellow, red)
SPELLINGS = {
    "police 8000": (MeterKind.SINGLE_RATE, 8000, 1500, None, None, None, SEND, DROP, DROP),
    "police cir 80000": (MeterKind.SINGLE_RATE, 80000, 2500, None, None, None, SEND, DROP, DROP),
    "police rate 80000 bps burst 4000 bytes": (MeterKind.SINGLE_RATE, 80000, 4000, None, None, None, SEND, DROP, DROP),
    "police 8000 1500 3000 conform-action transmit exceed-action set-dscp-transmit af12 violate-action drop": (
        MeterKind.SINGLE_RATE, 8000, 1500, 3000, None, None, SEND, AF12, DROP,
    ),
    "police cir 8000 bc 1500 be 3000 conform transmit exceed set-dscp-transmit 12 violate drop": (
        MeterKind.SINGLE_RATE, 8000, 1500, 3000, None, None, SEND, AF12, DROP,
    ),
    "police 8000 2000 violate-action drop": (
        MeterKind.SINGLE_RATE, 8000, 2000, 2000, None, None, SEND, DROP, DROP,
    ),
    "police 8000 1500 exceed-action set-dscp-transmit af12": (
        MeterKind.SINGLE_RATE, 8000, 1500, None, None, None, SEND, AF12, AF12,
    ),
    "police cir 8000 bc 2000 pir 16000 be 4000 exceed-action set-dscp-transmit af12 violate-action drop": (
        MeterKind.TWO_RATE, 8000, 2000, None, 16000, 4000, SEND, AF12, DROP,
    ),
    "police cir 8000 pir 160000": (MeterKind.TWO_RATE, 8000, 1500, None, 160000, 5000, SEND, DROP, DROP),
    "police cir percent 10 bc 400 ms pir percent 20 be 200 ms": (
        MeterKind.TWO_RATE, 100_000, 5000, None, 200_000, 5000, SEND, DROP, DROP,
    ),
    # Percent of 1 Mbit/s: 200 kbit/s for 100 ms is 2500 bytes, 400 kbit/s for 200 ms is 10000.
    "police cir percent 20 bc 100 ms pir percent 40 be 200 ms": (
        MeterKind.TWO_RATE, 200_000, 2500, None, 400_000, 10_000, SEND, DROP, DROP,
    ),
    # A quarter of a second of 200 kbit/s.
    "police rate percent 20": (MeterKind.SINGLE_RATE, 200_000, 6250, None, None, None, SEND, DROP, DROP),
    "police cir percent 1": (MeterKind.SINGLE_RATE, 10_000, 1500, None, None, None, SEND, DROP, DROP),
    "police rate percent 20 burst 4 ms peak-rate percent 100 peak-burst 40 ms": (
        MeterKind.TWO_RATE, 200_000, 100, None, 1_000_000, 5000, SEND, DROP, DROP,
    ),
    "police cir percent 20 bc 100 ms be 50 ms exceed-action set-dscp-transmit af12 violate-action drop": (
        MeterKind.SINGLE_RATE, 200_000, 2500, 1250, None, None, SEND, AF12, DROP,
    ),
    "police 8000\nconform-action set-cos-transmit 3\nexceed-action set-dscp-transmit af12\nviolate-action drop": (
        MeterKind.SINGLE_RATE, 8000, 1500, 1500, None, None, Treatment(set_pcp=PriorityCodePoint(3)), AF12, DROP,
    ),
    "police 8000 conform-action set-prec-transmit 5 exceed-action drop": (
        MeterKind.SINGLE_RATE, 8000, 1500, None, None, None, Treatment(set_precedence=5), DROP, DROP,
    ),
    "police 8000\nexceed-action set-dscp-transmit af12\nexceed-action set-cos-transmit 1": (
        MeterKind.SINGLE_RATE, 8000, 1500, None, None, None, SEND,
        Treatment(set_dscp=12, set_pcp=PriorityCodePoint(1)), Treatment(set_dscp=12, set_pcp=PriorityCodePoint(1)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("statements", SPELLINGS)
def test_police(ios, statements):
    meter = meter_of(ios, statements)
    peak = None if meter.peak_rate is None else meter.peak_rate.bits_per_second
    found = (
        meter.kind, meter.committed_rate.bits_per_second, meter.committed_burst_bytes, meter.excess_burst_bytes,
        peak, meter.peak_burst_bytes, meter.green, meter.yellow, meter.red,
    )  # fmt: skip
    assert found == SPELLINGS[statements]


def test_bytes_are_those_of_the_link(ios):
    assert meter_of(ios, "police 8000").committed_rate.basis is RateBasis.ETHERNET
    assert meter_of(ios, "police 8000", "Serial0/0").committed_rate.basis is RateBasis.PPP


def test_second_burst_without_a_second_bucket_is_listed(ios):
    policy = ios(
        "policy-map p\n class class-default\n  police 8000 1500 3000\ninterface Fa0/0\n service-policy input p\n"
    )
    assert [str(notice) for notice in policy.notices] == [
        "f:3: the second burst has no effect: without a violate-action there is one token bucket"
    ]


def test_place_of_a_meter(ios):
    assert meter_of(ios, "police 8000").origin().line == 3


@pytest.mark.parametrize(
    ("statement", "rate", "burst"),
    [
        ("priority 100", 100_000, 2500),  # 200 ms of the rate
        ("priority 100 4000", 100_000, 4000),
        ("priority percent 20", 200_000, 5000),
        ("priority level 2 100", 100_000, 2500),
        ("priority level 1 percent 20 9000", 200_000, 9000),
    ],
)
def test_priority_with_a_rate_is_policed(ios, statement, rate, burst):
    policy = ios(
        "class-map voice\n match dscp ef\n"
        f"policy-map p\n class voice\n  {statement}\ninterface Fa0/0\n bandwidth 1000\n service-policy output p\n",
        Dialect.IOS_HQF,
    )
    meter = policy.actions[0].meter
    assert (meter.committed_rate.bits_per_second, meter.committed_burst_bytes) == (rate, burst)
    assert (meter.yellow, meter.red) == (DROP, DROP)


def test_priority_without_a_rate_is_policed_by_police(ios):
    text = (
        "class-map v\n match dscp ef\npolicy-map p\n class v\n  priority\n{}interface Fa0/0\n service-policy output p\n"
    )
    assert ios(text.format("")).actions[0].meter is None
    assert ios(text.format("  police 64000\n")).actions[0].meter.committed_rate.bits_per_second == 64000
