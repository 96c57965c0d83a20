"""``random-detect``, of an interface or of a class, and what its thresholds are until they are configured."""

from __future__ import annotations

from phb.formats.ios.configuration import Configuration, RandomDetect
from phb.formats.ios.lines import Words
from phb.formats.ios.names import DSCPS, take_named, take_precedence
from phb.model import DropProfile, EarlyDetection

# "random-detect dscp" and "random-detect precedence" in the Cisco IOS Quality of Service Solutions Command Reference:
# minimum threshold in packets; the maximum is 40 and the mark probability 1/10 for all of them.
MAXIMUM, DENOMINATOR = 40, 10
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


def take_random_detect(configuration: Configuration, detect: RandomDetect, words: Words) -> None:
    """One ``random-detect`` statement, added to what was said before."""
    match words.maybe(
        "discard-class", "discard-class-based", "dscp", "dscp-based", "ecn", "exponential-weighting-constant", "flow",
        "prec-based", "precedence", "precedence-based",
    ):  # fmt: skip
        case None:
            words.done()
        case "dscp-based":
            _choose(detect, words, by_dscp=True)
        case "prec-based" | "precedence-based":
            _choose(detect, words, by_dscp=False)
        case "ecn":
            detect.ecn = True
        case "exponential-weighting-constant":
            detect.average_weight = words.number(1, 16, "a weighting constant")
        case "dscp":
            _choose(detect, words, by_dscp=True)
            if _reserved(configuration, words):
                return
            _threshold(detect, words, take_named(words, DSCPS, 63, "a DSCP"))
        case "precedence":
            _choose(detect, words, by_dscp=False)
            if _reserved(configuration, words):
                return
            _threshold(detect, words, take_precedence(words))
        case other:
            expected = "dscp-based or prec-based: phb has no such early detection"
            words.line.fail(f"'random-detect {other}'", expected)
    words.done()


def _choose(detect: RandomDetect, words: Words, *, by_dscp: bool) -> None:
    if detect.by_dscp not in (None, by_dscp):
        ways = {True: "by DSCP", False: "by precedence"}
        words.line.fail(f"early detection {ways[by_dscp]}", f"{ways[not by_dscp]}, as at {detect.origin}")
    detect.by_dscp = by_dscp


def _reserved(configuration: Configuration, words: Words) -> bool:
    if words.maybe("rsvp") is None:
        return False
    configuration.note(words.origin, "'rsvp' has no effect: phb doesn't speak RSVP")
    return True


def _threshold(detect: RandomDetect, words: Words, value: int) -> None:
    minimum = words.number(1, 4096, "a minimum threshold in packets")
    maximum = words.number(minimum, 4096, "a maximum threshold in packets")
    denominator = words.maybe_number(1, 65536, "a mark probability denominator")
    words.done()
    detect.thresholds[value] = (minimum, maximum, denominator or DENOMINATOR, words.origin)


def early_detection(detect: RandomDetect) -> EarlyDetection:
    """Every row of the table, as configured or else as IOS has it."""
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
