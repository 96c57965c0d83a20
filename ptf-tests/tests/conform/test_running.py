"""How checks end: not applicable and why, with an unexpected error, or with a switch that has gone."""

import pytest

from phb.targets import Capability
from phb_conform.check import Check, Level, Verdict, passed
from phb_conform.running import run
from phb_device import ControlError


def made(look, *, needs=(), virtual=False):
    return Check("RFC 0", "1", Level.MUST, "something", frozenset(needs), virtual, look)


class Stub:
    """A device that does nothing."""

    target, virtual = "bmv2", False
    resets = 0

    def reset(self):
        self.resets += 1


def test_each_check_gets_a_switch_that_was_reset():
    device = Stub()
    seen = []

    def look(device):
        seen.append(device.resets)
        return passed("fine")

    assert [result.finding.verdict for result in run(device, [made(look), made(look)])] == [Verdict.PASS] * 2
    assert seen == [1, 2]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"needs": [Capability.SHAPING]}, "no shaping: its rates are packets per second, and it has no gNMI"),
        ({"virtual": True}, "needs time that is an argument, and this switch goes by a clock"),
    ],
)
def test_what_does_not_apply_says_why_and_is_not_run(given, why):
    def look(device):
        raise AssertionError("is run")

    (result,) = run(Stub(), [made(look, **given)])
    assert (result.finding.verdict, result.finding.measured) == (Verdict.NOT_APPLICABLE, why)


@pytest.mark.parametrize(
    ("error", "words"),
    [(ControlError("it says no\nbecause"), "it says no"), (KeyError("x"), "KeyError: 'x'"), (OSError(), "OSError: ")],
)
def test_an_error_in_a_check_is_a_failure_and_not_the_end(error, words):
    def look(device):
        raise error

    results = list(run(Stub(), [made(look), made(lambda device: passed("fine"))]))
    assert [result.finding.verdict for result in results] == [Verdict.FAIL, Verdict.PASS]
    assert results[0].finding.measured.startswith(words)


def test_a_switch_that_has_gone_is_the_end():
    class Gone(Stub):
        def reset(self):
            raise ControlError("gone")

    with pytest.raises(ControlError, match="gone"):
        list(run(Gone(), [made(lambda device: passed("fine"))]))
