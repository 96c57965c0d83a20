from math import ceil, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb_lab.errors import UsageError
from phb_lab.planning import capacity, requirement
from phb_lab.planning.arithmetic import plan
from phb_lab.planning.capacity import Capacity
from phb_lab.planning.requirement import Requirement


def of_source(name):
    asked = requirement.solution(name)
    return plan(asked, capacity.of_mode(asked.mode))


@pytest.mark.parametrize("name", requirement.names())
def test_each_solution_comes_to_the_published_numbers(name):
    worked_out = of_source(name)
    compared = [step for step in worked_out.steps if step.published is not None]
    assert {step.name for step in compared} == set(worked_out.requirement.published)
    for step in compared:
        # The source rounds on its way (132.48 GB to 133); what is counted is the same.
        tolerance = 0.011 if step.unit in ("h", "min", "GB", "transactions") else 0
        assert isclose(step.value, step.published, rel_tol=tolerance), step
    assert worked_out.met


@pytest.mark.parametrize(
    ("name", "cips_needed", "may_fail"),
    [
        ("bulk-backup", 2, 0),
        ("sysplex-cics", 2, 1),
        ("fep-replacement", 2, 1),
        ("tn3270-conversion", 32, 7),  # "almost half the routers could fail"
        ("mainframe-bulk", 2, 0),
    ],
)
def test_what_the_source_does_not_say_follows(name, cips_needed, may_fail):
    worked_out = of_source(name)
    assert (worked_out.cips_needed, worked_out.routers_may_fail) == (cips_needed, may_fail)


def test_fewer_cips_than_the_arithmetic_wants_are_said():
    assert of_source("tn3270-conversion").remarks[-1] == (
        "30 CIPs are fewer than the 32 of the arithmetic: each gets 8,333.33 sessions, more than planned"
    )


def ask(**changes):
    return Requirement(**{"name": "n", "title": "t", "mode": "csna"} | changes)


def test_too_few_cips_do_not_carry_it():
    worked_out = plan(ask(transactions_per_s=10_000, cips=2), capacity.of_mode("csna"))
    assert not worked_out.met
    assert worked_out.remarks == ("2 CIPs do not carry it: 4 are needed",)


def test_the_rate_is_that_of_as_many_sessions_as_a_cip_has():
    for sessions, rate in [(1_000, 855), (8_000, 711), (16_000, 711)]:
        asked = ask(mode="tn3270", lus=sessions, lus_per_cip=sessions, transactions_per_s=100)
        worked_out = plan(asked, capacity.of_mode("tn3270"))
        limit = next(step for step in worked_out.steps if step.name == "transactions_per_s-limit")
        assert limit.value == rate


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data_bytes": 1e9, "window_s": 1}, "mode csna: MB/s are not known of it, only transactions/s, sessions, "),
        ({"lus": 5, "lus_per_cip": 17_000}, "lus-per-cip: found 17,000, expected at most 16,000"),
    ],
)
def test_what_cannot_be_worked_out_is_said(changes, message):
    with pytest.raises(UsageError, match=message):
        plan(ask(**changes), capacity.of_mode("csna"))


@given(
    rate=st.integers(1, 10**6),
    limit=st.integers(1, 10**5),
    per_router=st.integers(1, 6),
    spare=st.integers(0, 5),
)
def test_the_plan_carries_the_load_with_no_cip_too_many(rate, limit, per_router, spare):
    asked = ask(transactions_per_s=rate, cips_per_router=per_router, spare_routers=spare)
    worked_out = plan(asked, {"transactions_per_s": (Capacity(limit, None, "given"),)})
    assert (worked_out.cips - 1) * limit < rate <= worked_out.cips * limit
    assert worked_out.routers == ceil(worked_out.cips / per_router) + spare
    left = worked_out.routers - worked_out.routers_may_fail
    assert left * per_router * limit >= rate > (left - 1) * per_router * limit
    assert worked_out.met
