"""Running checks on a device, one after the other, each on a switch that was just reset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from phb import targets
from phb_conform.check import Check, Finding, failed, not_applicable
from phb_device import ControlError, Device


@dataclass(frozen=True)
class Result:
    """A check, and its finding on one switch."""

    check: Check
    finding: Finding


def run(device: Device, checks: Iterable[Check]) -> Iterator[Result]:
    """Run checks; yield each result as soon as it is there.

    Raises:
        ControlError: The switch can't be reset: it has gone, or another client has it.
    """
    for check in checks:
        yield Result(check, _find(device, check))


def _find(device: Device, check: Check) -> Finding:
    reason = _does_not_apply(device, check)
    if reason:
        return not_applicable(reason)
    device.reset()
    try:
        return check.look(device)
    # Any other failure is one finding, and not the end of the report.
    except Exception as error:
        words = str(error).partition("\n")[0] or "without words"
        return failed(words if isinstance(error, ControlError) else f"{type(error).__name__}: {words}")


def _does_not_apply(device: Device, check: Check) -> str:
    capabilities = targets.load(device.target)
    for capability in sorted(check.needs):
        if capability not in capabilities:
            return f"no {capability}: {capabilities.support[capability].reason}"
    if check.virtual and not device.virtual:
        return "needs time that is an argument, and this switch goes by a clock"
    return ""
