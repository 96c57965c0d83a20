"""Helpers for tests of checks: the checks of a document, and how a check must end."""

from phb_conform.check import CHECKS, Verdict
from phb_conform.running import run


def of(*documents):
    """Names of the checks of documents, whose modules are imported."""
    return [check.name for check in CHECKS if check.document in documents]


def named(name):
    """A check by its name."""
    (found,) = [check for check in CHECKS if check.name == name]
    return found


def found(device, name):
    """Run a check as ``phb conform`` does."""
    (result,) = run(device, [named(name)])
    return result.finding


def must_pass(device, name):
    """A check passes, or doesn't apply where the switch can't do what is asked: phb's own one can."""
    finding = found(device, name)
    passes = {Verdict.PASS} if device.virtual else {Verdict.PASS, Verdict.NOT_APPLICABLE}
    assert finding.verdict in passes, finding.measured


def must_fail(broken, name):
    """A check finds a broken switch at fault, and not by stumbling."""
    broken.reset()
    finding = named(name).look(broken)
    assert broken.changed, "the switch isn't broken"
    assert finding.verdict is Verdict.FAIL, finding.measured
