"""Unknown statements: those that may concern packets are errors, the others are left out.

IOS has thousands of statements, and few are about QoS. Those few are all known here; so an unknown line is about
something else, unless it is mistyped. An unknown line is an error

- where all statements are about QoS: in a class map, a policy map, a class, a policer, an access list;
- if one of its first words, split at hyphens, is one of `QOS_WORDS`: `mls qos trust dscp`, `srr-queue bandwidth share`
  (but not with `no`, which only takes something away);
- if it resembles a statement that concerns packets, letter by letter: `polcy-map`, `servce-policy output wan`;
- where no line is indented: then the end of the block can't be seen.

Any other one is listed, and left out with all that is indented below it; but a `service-policy` with a direction is an
error wherever it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from phb.formats.ios.language.lines import Line
from phb.formats.ios.language.modes import GLOBAL, INTERFACE, POLICY_CLASS, POLICY_MAP, ROUTE_MAP
from phb.formats.ios.language.vocabulary import Mode, suggestion

# Words in QoS statements of switches and of releases that phb doesn't read.
_WORDS = "dscp police policer policing qos queue queueing queuing shape shaping srr trust wred wrr"
QOS_WORDS = frozenset(_WORDS.split(" "))

# Modes with mostly other statements.
OPEN = (GLOBAL, INTERFACE, ROUTE_MAP)

# Stricter than in `suggestion`: IOS has many words, and this decides about an error, not about what to print.
_NEARLY = 0.8
_LONG = 4  # letters of a word: `ipx` isn't `ip`
_SHORTEST = 5  # letters; among shorter words too many are alike


def check_unknown(line: Line, modes: Sequence[Mode]) -> None:
    """Refuse an unknown line that may concern packets, naming the nearest statement of the modes it may stand in."""
    vocabularies = [mode.vocabulary for mode in reversed(modes)]
    words = [word.lower() for word in line.words if word.lower() != "no"][:3]
    is_open = vocabularies[0] in OPEN and (len(modes) == 1 or line.indent > modes[-1].indent)
    if not is_open or _is_qos(words, negated=line.words[0].lower() == "no"):
        for elsewhere in (INTERFACE, POLICY_CLASS):
            found = elsewhere.find(line) if is_open else None
            if found is not None and found.exact:
                line.fail(f"'{line.shown}'", f"it in {elsewhere.name}")
        nearest = vocabularies if not is_open else [*vocabularies, INTERFACE, POLICY_CLASS]
        line.fail(f"'{line.shown}'", suggestion(line.words, nearest))


def check_left_out(line: Line) -> None:
    """Refuse a policy map in an unknown block: packets meet it, whatever the block is."""
    found = INTERFACE.find(line) if line.words[0].lower() == "service-policy" else None
    if found is not None and not found.words.negated:
        line.fail(f"'{line.shown}' in a block that phb doesn't know", "it in an interface")


def _is_qos(words: Sequence[str], *, negated: bool) -> bool:
    if not negated and any(part in QOS_WORDS for word in words for part in word.split("-")):
        return True
    return any(
        _nearly(words, phrase.split())
        for vocabulary in (GLOBAL, INTERFACE, POLICY_MAP, POLICY_CLASS)
        for phrase in vocabulary.phrases(asides=False)
    )


def _nearly(words: Sequence[str], phrase: Sequence[str]) -> bool:
    if len(words) < len(phrase) or len("".join(phrase)) < _SHORTEST:
        return False
    return all(
        word == meant or (len(meant) >= _LONG and SequenceMatcher(None, word, meant).ratio() >= _NEARLY)
        for word, meant in zip(words, phrase, strict=False)
    )
