"""``random-detect``, in an interface or in a class."""

from __future__ import annotations

from phb.formats.ios.configuration import Configuration, Interface, PolicyClass, RandomDetect
from phb.formats.ios.language.lines import Words
from phb.formats.ios.language.names import DSCPS, take_named, take_precedence

# The mark probability is 1/10 until another is configured.
DENOMINATOR = 10


def take_random_detect(configuration: Configuration, subject: Interface | PolicyClass, words: Words) -> None:
    """Add one ``random-detect`` statement to the earlier ones."""
    detect = subject.random_detect = subject.random_detect or RandomDetect(words.origin)
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
