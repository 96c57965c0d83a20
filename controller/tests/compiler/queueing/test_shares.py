"""Bandwidth statements -> shares -> weights."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb.compiler.queueing.shares import LEAST_SHARE, shares, weights
from phb.errors import InputError
from phb.model import Bandwidth, ClassQueue, Rate


def queues(*bandwidths):
    return [
        ClassQueue(traffic_class=f"c{number}", bandwidth=bandwidth if bandwidth is None else Bandwidth(**bandwidth))
        for number, bandwidth in enumerate(bandwidths)
    ]


def rate(value, basis="ethernet"):
    return Rate(value=value, unit="kbit/s", basis=basis)


def parts(*texts):
    return [Fraction(text) for text in texts]


@pytest.mark.parametrize(
    ("bandwidths", "expected"),
    [
        ([{"percent": 50}, {"percent": 30}, None], parts("1/2", "3/10", "1/5")),
        # The two queues of the IBM 2212 (draft-nadas-diffserv-experience-01, section 2.1).
        ([{"weight": 90}, {"weight": 10}], parts("9/10", "1/10")),
        ([{"rate": rate(64)}, {"percent": 25}, None], parts("1/4", "1/4", "1/2")),
        ([{"percent": 40}, {"remaining_percent": 50}, None], parts("2/5", "3/10", "3/10")),
        ([{"percent": 40}, {"weight": 2}, None], parts("2/5", "2/5", "1/5")),
        ([{"percent": 100}, None], [Fraction(1), LEAST_SHARE]),
        ([{"remaining_percent": 100}, {"weight": 7}], [Fraction(1), LEAST_SHARE]),
        ([None], [Fraction(1)]),
    ],
)
def test_shares(bandwidths, expected):
    assert shares(queues(*bandwidths), rate(256)) == expected


@pytest.mark.parametrize(
    ("bandwidths", "port", "message"),
    [
        (
            [{"percent": 60}, {"percent": 50}],
            rate(256),
            "bandwidth of 110 % of the port in all, expected at most 100 %",
        ),
        ([{"rate": rate(200)}, {"percent": 25}], rate(256), "bandwidth of 103.1 % of the port in all"),
        ([{"remaining_percent": 60}, {"remaining_percent": 50}], None, "bandwidth of 110 % of what remains in all"),
        ([{"rate": rate(64)}], None, "at a port without a rate, expected the port's 'rate' or a 'shaper'"),
        (
            [{"rate": rate(64, "ip")}],
            rate(256),
            r"64 kbit/s \(ip\) at a port of 256 kbit/s \(ethernet\), expected one b",
        ),
    ],
)
def test_refused(bandwidths, port, message):
    with pytest.raises(InputError, match=message):
        shares(queues(*bandwidths), port)


@pytest.mark.parametrize(
    ("given_parts", "expected"),
    [
        (parts("9/10", "1/10"), [1, 9]),
        (parts("1/2", "3/10", "1/5"), [6, 10, 15]),
        (parts("1"), [1]),
        (parts("1", "1"), [1, 1]),
    ],
)
def test_weights_are_exact_where_they_can_be(given_parts, expected):
    assert weights(queues(*[None] * len(given_parts)), given_parts) == expected


@given(st.lists(st.fractions(Fraction(1, 10_000), 1), min_size=1, max_size=12))
def test_weights_give_the_shares_within_their_bound(drawn):
    numbers = weights(queues(*[None] * len(drawn)), drawn)
    assert all(0 < number < 1 << 32 for number in numbers)
    # weight x share is one constant but for rounding, which is at most a half in 1,024.
    products = [number * part for number, part in zip(numbers, drawn, strict=True)]
    assert max(products) / min(products) <= (1 + Fraction(1, 2048)) / (1 - Fraction(1, 2048))


def test_a_share_too_small_for_the_pipeline():
    tiny = [Fraction(999_999_937, 1_000_000_007), Fraction(1, 1_000_000_007)]
    with pytest.raises(
        InputError, match=r"found 1e-09 of the port for class 'c1', expected at least 1/4194303 of the l"
    ):
        weights(queues(None, None), tiny)
