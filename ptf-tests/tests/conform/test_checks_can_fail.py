"""A meter with a mistake fails the checks that look for it: else they would be no checks."""

import re
from dataclasses import dataclass
from typing import Any

import pytest

from phb_conform.check import CHECKS, Verdict
from phb_conform.checklist import select
from phb_device import CONNECTED

RATE = re.compile(r"(?<=rate: {value: )\d+")
BURST = re.compile(r"(?<=burst-bytes: )\d+")
DSCP = re.compile(r"(?<=set-dscp: )\d+")


@dataclass
class Mistaken:
    """A switch whose policies are changed on their way."""

    device: Any
    change: Any

    def __getattr__(self, name):
        return getattr(self.device, name)

    def push(self, policy):
        return self.device.push(self.change(policy))


def scaled(pattern, factor):
    return lambda policy: pattern.sub(lambda found: str(max(1, round(int(found[0]) * factor))), policy)


def replaced(old, new):
    return lambda policy: re.sub(old, new, policy)


def swapped(policy):
    """Yellow's mark for red packets and the other way round."""
    return DSCP.sub(lambda found: {"36": "38", "38": "36"}.get(found[0], found[0]), policy)


MISTAKES = {
    "rates 1 % above": (scaled(RATE, 1.01), ["committed_rate", "any_size", "arithmetic", "peak_rate", "excess_rate"]),
    "rates 1 % below": (scaled(RATE, 0.99), ["committed_rate", "any_size", "arithmetic", "peak_rate", "excess_rate"]),
    "bursts twice as large": (
        scaled(BURST, 2),
        [
            *("buckets_start_full", "red_takes_nothing", "never_above_the_bursts", "takes_of_the_right_buckets"),
            *("one_burst_alone", "fills_committed_first", "peak_first", "each_bucket_at_its_rate", "one_duration"),
            *("rates_are_independent", "counts_ip_bytes", "counts_ip_bytes_of_any_frame"),
        ],
    ),
    "always aware": (replaced("colour-aware: false", "colour-aware: true"), ["blind"]),
    "always blind": (replaced("colour-aware: true", "colour-aware: false"), ["aware", "in_profile_traffic_is_safe"]),
    "Ethernet's bytes": (replaced("basis: ip", "basis: ethernet"), ["counts_ip_bytes", "counts_ip_bytes_of_any_frame"]),
    "PPP's bytes": (replaced("basis: ip", "basis: ppp"), ["counts_ip_bytes", "counts_ip_bytes_of_any_frame"]),
    "RFC 4115 in place of RFC 2698": (
        replaced("kind: two-rate,(.*)peak-burst", r"kind: two-rate-separate,\1excess-burst"),
        ["trtcm_peak_first", "trtcm_takes_of_the_right_buckets", "trtcm_buckets_start_full", "trtcm_arithmetic"],
    ),
    "RFC 2698 in place of RFC 4115": (
        replaced("kind: two-rate-separate,(.*)excess-burst", r"kind: two-rate,\1peak-burst"),
        ["rfc4115_takes_of_the_right_buckets", "rfc4115_in_profile_traffic_is_safe", "rfc4115_arithmetic"],
    ),
    "wrong marks": (swapped, ["marks"]),
}
METERS = [check.name for document in ("RFC 2697", "RFC 2698", "RFC 4115") for check in select([document])]
# Of these the next tests see.
OTHERS = [name for name in METERS if name.endswith(("_warned_of", "_on_the_clock"))]


def caught(ends):
    return [name for name in METERS if any(name == end or name.partition("_")[2] == end for end in ends)]


CASES = [(mistake, name) for mistake, (_, ends) in MISTAKES.items() for name in caught(ends)]


@pytest.mark.parametrize(("mistake", "name"), CASES)
def test_a_mistake_is_caught(device, look, mistake, name):
    finding = look(Mistaken(device, MISTAKES[mistake][0]), name)
    assert finding.verdict is Verdict.FAIL, finding.measured


def test_every_check_of_meters_has_its_mistake():
    # Rates of 0 are written by hand, without a policy.
    by_hand = {"rfc4115_without_a_committed_rate"}
    assert {name for _, name in CASES} | set(OTHERS) | by_hand == set(METERS)


@pytest.mark.parametrize("name", [name for name in OTHERS if name.endswith("_warned_of")])
def test_a_lint_that_finds_nothing_is_caught(device, look, monkeypatch, name):
    monkeypatch.setattr("phb.lint.lint", lambda policy, at: [])
    assert look(device, name).verdict is Verdict.FAIL


def test_a_clock_that_stands_still_is_caught(device, look, monkeypatch):
    # In memory a microsecond passes from one frame to the next: none of the tokens that two seconds bring.
    monkeypatch.setattr(device, "virtual", False, raising=False)
    finding = look(device, "srtcm_on_the_clock")
    assert finding.verdict is Verdict.FAIL
    assert finding.figures["error"] > 0.03


@pytest.mark.parametrize("name", [check.name for check in select(["RFC 2475"])])
def test_a_switch_that_does_nothing_is_caught(device, look, name):
    assert look(Mistaken(device, lambda policy: CONNECTED), name).verdict is Verdict.FAIL


def test_names_are_unique():
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)
