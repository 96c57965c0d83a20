"""A mode's table of statements, and the search for a line's entry.

A phrase is found word by word; each word may be abbreviated as long as only one continuation begins with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeAlias

from phb.formats.ios.configuration import Configuration
from phb.formats.ios.language.lines import Line, Words, abbreviated
from phb.model import Dialect

# In a phrase, any number or IPv4 address: an access list's entry may begin with one.
NUMBER = "N"


@dataclass
class Mode:
    """The place of following statements: a vocabulary and its subject.

    Attributes:
        indent: How far the statement that opened it is indented.
        indented: Whether its statements stand further right: then one that doesn't has left it.
    """

    vocabulary: Vocabulary
    subject: Any
    indent: int = 0
    indented: bool = False


# Takes the configuration so far, the mode's subject, and the words after the phrase. Gives the mode that the statement
# opens, if it opens one.
Handler: TypeAlias = Callable[[Configuration, Any, Words], Mode | None]


@dataclass
class _Node:
    phrase: str = ""
    children: dict[str, _Node] = field(default_factory=dict)
    handler: Handler | None = None
    negatable: bool = False
    since: tuple[Dialect, str] | None = None
    aside: bool = False


@dataclass(frozen=True)
class Found:
    """A statement of a vocabulary; `exact` if no word of its phrase is abbreviated."""

    phrase: str
    exact: bool
    handler: Handler
    negatable: bool
    since: tuple[Dialect, str] | None
    words: Words


class Vocabulary:
    """The statements of one mode; errors use its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._root = _Node()

    def statement(
        self,
        *phrases: str,
        negatable: bool = False,
        since: tuple[Dialect, str] | None = None,
        aside: bool = False,
    ) -> Callable[[Handler], Handler]:
        """Add statements; decorates the function that reads them.

        Args:
            phrases: The fixed words of each; the function finds them in `Words.phrase`.
            negatable: Whether ``no PHRASE`` is a statement, too; the function finds that in `Words.negated`.
            since: The first dialect that has it, and its release.
            aside: Whether it doesn't concern packets: then an unknown line that resembles it is no error.
        """

        def register(handler: Handler) -> Handler:
            for phrase in phrases:
                node = self._root
                for word in phrase.split():
                    node = node.children.setdefault(word, _Node(f"{node.phrase} {word}".strip()))
                if node.handler is not None:
                    raise ValueError(f"{self.name} has '{phrase}' already")
                node.handler, node.negatable, node.since, node.aside = handler, negatable, since, aside
            return handler

        return register

    def find(self, line: Line) -> Found | None:
        """Find the line's statement; None for an unknown one. Refuse an ambiguous abbreviation."""
        negated = line.words[0].lower() == "no" and len(line.words) > 1
        node, position = self._root, int(negated)
        best: tuple[_Node, int] | None = None
        while True:
            if node.handler is not None:
                best = (node, position)
            if position == len(line.words):
                break
            word = line.words[position]
            choices = (
                [NUMBER] if word[0].isdigit() and NUMBER in node.children else abbreviated(word, tuple(node.children))
            )
            if len(choices) > 1:
                shown = " ".join(line.words[: position + 1])
                line.fail(f"'{shown}'", f"one of {', '.join(sorted(choices))} in full")
            if not choices:
                break
            node, position = node.children[choices[0]], position + 1
        if best is None:
            return None
        found, position = best
        assert found.handler is not None
        words = Words(line, position, phrase=found.phrase, negated=negated)
        exact = " ".join(line.words[int(negated) : position]).lower() == found.phrase
        return Found(found.phrase, exact, found.handler, found.negatable, found.since, words)

    def phrases(self, *, asides: bool = True) -> list[str]:
        """Give all statements, in alphabetical order; without `asides` those that concern packets."""
        found: list[str] = []
        pending = [self._root]
        while pending:
            node = pending.pop()
            if node.handler is not None and (asides or not node.aside):
                found.append(node.phrase)
            pending.extend(node.children.values())
        return sorted(found)


def suggestion(words: Sequence[str], vocabularies: Sequence[Vocabulary]) -> str:
    """Suggest a known statement that resembles an unknown one, else the page that lists all."""
    phrases = [phrase for vocabulary in vocabularies for phrase in vocabulary.phrases()]
    lower = [word.lower() for word in words if word.lower() != "no"]
    for length in (3, 2, 1):
        close = get_close_matches(" ".join(lower[:length]), phrases, n=1, cutoff=0.75)
        if close:
            return f"a statement that phb knows, such as '{close[0]}'"
    return f"a statement of {vocabularies[0].name} that phb knows (docs/policies/ios.md lists them)"
