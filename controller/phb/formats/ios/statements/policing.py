"""``police`` in all its spellings, on one line or with a block of actions."""

from __future__ import annotations

from phb.formats.ios.configuration import Amount, Burst, Configuration, Police, PolicyClass
from phb.formats.ios.language.lines import Words
from phb.formats.ios.language.modes import POLICE, POLICY_CLASS
from phb.formats.ios.language.names import take_dscp, take_precedence
from phb.formats.ios.language.vocabulary import Mode

# "police" in the Cisco IOS Quality of Service Solutions Command Reference.
LOWEST_RATE, HIGHEST_RATE = 8000, 400_000_000_000
LOWEST_BURST, HIGHEST_BURST = 1000, 2_000_000_000

_EVENTS = ("conform-action", "exceed-action", "violate-action")

# Marks that have no place in a packet of the pipeline.
_UNSUPPORTED = (
    "set-clp-transmit",
    "set-discard-class-transmit",
    "set-frde-transmit",
    "set-mpls-exp-transmit",
    "set-mpls-exp-imposition-transmit",
    "set-mpls-exp-topmost-transmit",
)


@POLICY_CLASS.statement("police")
def _police(configuration: Configuration, policy_class: PolicyClass, words: Words) -> Mode:
    words.maybe("cir", "rate")
    return _rate(policy_class, words, _amount(words))


def _rate(policy_class: PolicyClass, words: Words, committed: Amount) -> Mode:
    if policy_class.police is not None:
        words.line.fail("police again", f"it once; it also stands at {policy_class.police.origin}")
    police = Police(words.origin, committed)
    policy_class.police = police
    _parameters(police, words)
    _actions(police, words)
    words.done()
    return Mode(POLICE, police)


def _amount(words: Words) -> Amount:
    if words.maybe("percent"):
        return Amount(percent=words.number(1, 100, "a percentage"))
    rate = words.rate(LOWEST_RATE, HIGHEST_RATE)
    words.maybe("bps")
    return Amount(rate)


def _parameters(police: Police, words: Words) -> None:
    # Bursts may stand without a word, in this order, or with one in any order.
    bare = 0
    while (word := words.peek()) is not None:
        burst = _maybe_burst(words)
        if burst is not None:
            bare += 1
            if bare == 1:
                police.committed_burst = burst
            elif bare == 2:
                police.excess_burst = burst
            else:
                words.line.fail(f"'{word}'", "at most two bursts")
            continue
        if word.lower().startswith("conform-c"):
            words.line.fail(
                "'conform-color'",
                "a policer without it: colours come from an earlier meter or the AF code point ('colour-aware' in "
                "YAML), not from a class map",
            )
        match words.maybe("bc", "be", "burst", "peak-burst", "pir", "peak-rate"):
            case "bc" | "burst":
                police.committed_burst = _burst(words)
            case "be" | "peak-burst":
                police.excess_burst = _burst(words)
            case "pir" | "peak-rate":
                police.peak = _amount(words)
            case None:
                return


def _maybe_burst(words: Words) -> Burst | None:
    number = words.maybe_number(1, HIGHEST_BURST, "a burst")
    if number is None:
        return None
    if words.maybe("ms"):
        return Burst(milliseconds=number)
    words.maybe("bytes")
    if number < LOWEST_BURST:
        words.line.fail(f"a burst of {number} bytes", f"at least {LOWEST_BURST}")
    return Burst(bytes=number)


def _burst(words: Words) -> Burst:
    burst = _maybe_burst(words)
    if burst is None:
        words.fail("a burst in bytes, or in ms")
    return burst


def _actions(police: Police, words: Words) -> None:
    while words.peek() is not None:
        event = words.keyword(*_EVENTS)
        _action(police, event, words)


def _action(police: Police, event: str, words: Words) -> None:
    choices = (
        "drop",
        "transmit",
        "set-dscp-transmit",
        "set-prec-transmit",
        "set-cos-transmit",
        "set-qos-transmit",
    )
    name = words.maybe(*choices, *_UNSUPPORTED)
    if name is None:
        words.fail(f"one of {', '.join(choices)}")
    if name in _UNSUPPORTED:
        words.line.fail(f"'{name}'", f"one of {', '.join(choices)}: phb has no such mark")
    said = police.actions.setdefault(event, {})
    new: dict[str, int | bool] = {}
    match name:
        case "drop":
            new = {"drop": True}
        case "set-dscp-transmit":
            new = {"set_dscp": take_dscp(words)}
        case "set-prec-transmit":
            new = {"set_precedence": take_precedence(words)}
        case "set-cos-transmit":
            new = {"set_pcp": words.number(0, 7, "a class of service")}
        case "set-qos-transmit":
            new = {"set_qos_group": words.number(0, 99, "a QoS group")}
    together = {**said, **new}
    if ("drop" in together and len(together) > 1) or {"set_dscp", "set_precedence"} <= together.keys():
        words.line.fail(f"'{event} {name}' beside another action", "actions that go together")
    police.actions[event] = together


@POLICE.statement(*_EVENTS)
def _event(configuration: Configuration, police: Police, words: Words) -> None:
    _action(police, words.phrase, words)
    words.done()


@POLICE.statement("conform-color")
def _conform_color(configuration: Configuration, police: Police, words: Words) -> None:
    _parameters(police, Words(words.line))
