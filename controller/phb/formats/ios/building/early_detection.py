"""``random-detect`` -> early detection of a port or of a class, with IOS's thresholds where none are configured."""

from __future__ import annotations

from phb.formats.ios.configuration import RandomDetect
from phb.formats.ios.language.names import DSCPS
from phb.formats.ios.statements.early_detection import DENOMINATOR
from phb.model import DropProfile, EarlyDetection

# "random-detect dscp" and "random-detect precedence" in the Cisco IOS Quality of Service Solutions Command Reference:
# minimum threshold in packets; the maximum is 40 and the mark probability 1/10 for all of them.
MAXIMUM = 40
BY_PRECEDENCE = {0: 20, 1: 22, 2: 24, 3: 26, 4: 28, 5: 31, 6: 33, 7: 35}
BY_DSCP = {
    **{8 * precedence: minimum for precedence, minimum in BY_PRECEDENCE.items() if precedence},
    **{DSCPS[f"af{each}1"]: 33 for each in range(1, 5)},
    **{DSCPS[f"af{each}2"]: 28 for each in range(1, 5)},
    **{DSCPS[f"af{each}3"]: 24 for each in range(1, 5)},
    DSCPS["ef"]: 37,
}
# The row that all other code points share; IOS calls it the default, and writes it as DSCP 0.
OTHER_DSCPS, OTHER_MINIMUM = 0, 20


def early_detection(detect: RandomDetect) -> EarlyDetection:
    """Give every row of the table, as configured or else as IOS has it."""
    field = "dscp" if detect.by_dscp else "precedence"
    minima = dict(BY_DSCP) if detect.by_dscp else dict(BY_PRECEDENCE)
    if detect.by_dscp:
        minima[OTHER_DSCPS] = OTHER_MINIMUM
    rows = []
    for value in sorted({*minima, *detect.thresholds}):
        configured = detect.thresholds.get(value)
        minimum, maximum, denominator, origin = configured or (minima[value], MAXIMUM, DENOMINATOR, detect.origin)
        selector = {} if detect.by_dscp and value == OTHER_DSCPS else {field: value}
        thresholds = {"minimum": minimum, "maximum": maximum, "denominator": denominator}
        rows.append(DropProfile.model_validate({**selector, **thresholds}).at(origin))
    given = {} if detect.average_weight is None else {"average_weight": detect.average_weight}
    return EarlyDetection.model_validate({"ecn": detect.ecn, "profiles": rows, **given}).at(detect.origin)
