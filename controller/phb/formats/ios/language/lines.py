"""The lines of a configuration: comments and banners left out, each with its words, its place and its indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn

from phb.errors import InputError
from phb.origin import Origin


@dataclass(frozen=True, slots=True)
class Line:
    """A statement as it was written."""

    words: tuple[str, ...]
    origin: Origin
    indent: int

    @property
    def shown(self) -> str:
        """Its beginning, which tells it from others."""
        return " ".join(self.words[:4])

    def fail(self, found: str, expected: str) -> NoReturn:
        """Refuse this line."""
        raise InputError(self.origin, found, expected)


# Lines that `show running-config` prints around the statements.
_PRINTED = re.compile(
    r"Building configuration\b|Current configuration\b|Last configuration change\b|Using \d+ out of \d+ bytes"
    r"|Load for \w+ secs\b|Time source is\b|No configuration change since\b"
    # Commands typed for it, after the router's prompt.
    r"|[\w.()-]{1,80}[#>]\s*((sh|sho|show|ter|term|terminal|en|enable|exit|wr|write|more|conf|configure|copy|dir)\b.*)?$"
    r"|!|$",
    re.IGNORECASE,
)
# The end of a terminal's page, with the backspaces that wiped it out.
_PAGE = re.compile(r"^\s*<?-+\s?More\s?-+>?[ \x08]*?(?:\x08+ *\x08+)?(?= *\S|$)", re.IGNORECASE)
# Movements of a terminal's cursor.
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# The prompt before a typed statement: R1(config-if)#. Commands after `do` are no statements.
_PROMPT = re.compile(r"[\w.-]{1,63}\([\w-]{1,40}\)#\s*(?:(?:do\s.*|end\s*)$)?")
_DIRECTIVE = re.compile(r"!\s*phb:\s*(?P<word>\S+)\s*(?P<rest>.*)")
_BANNER = re.compile(
    r"(?:banner\s+(?:(?:config-save|exec|incoming|login|motd|slip-ppp|prompt-timeout)\s+)?"
    r"|aaa\s+authentication\s+(?:banner|fail-message)\s+|(?:vacant|refuse)-message\s+|menu\s+\S+\s+(?:title|prompt)\s+)"
    r"(?P<text>\S.*)",
    re.IGNORECASE,
)


def lines(text: str, file: str) -> Iterator[Line]:
    """Give the statements in order, also those behind ``end``; a banner is one, without its text, and must end."""
    rows = text.splitlines()
    numbered = enumerate(rows, start=1)
    for number, raw in numbered:
        expanded = _PAGE.sub("", _ESCAPE.sub("", raw)).replace("\x08", "").expandtabs(8)
        statement = _typed(expanded.strip())
        if _PRINTED.match(statement):
            continue
        words = statement.split()
        line = Line(tuple(words), Origin(file, number, " ".join(words)), len(expanded) - len(expanded.lstrip()))
        banner = _BANNER.fullmatch(statement)
        if banner is not None:
            for _ in range(_banner_rows(line, banner["text"], rows[number:])):
                next(numbered)
            line = Line(tuple(words[:2]), Origin(file, number, "banner"), line.indent)
        yield line


def _typed(statement: str) -> str:
    prompt = _PROMPT.match(statement)
    return statement if prompt is None else statement[prompt.end() :]


def _banner_rows(line: Line, text: str, below: Sequence[str]) -> int:
    """Count the rows of a banner below its statement."""
    # IOS prints the delimiter that was typed, mostly a control character as two: ^C. A circumflex may be one alone.
    delimiters = [text[:2], text[0]] if text.startswith("^") else [text[0]]
    for delimiter in delimiters:
        for count, row in enumerate((text[len(delimiter) :], *below)):
            if delimiter in row:
                return count
    line.fail("a banner without an end", f"'{delimiters[0]}' again before the end of the file")


def directives(text: str, file: str) -> Iterator[tuple[str, str, Origin]]:
    """Give ``! phb: WORD REST`` comments, for facts that a configuration has no words for."""
    for number, raw in enumerate(text.splitlines(), start=1):
        found = _DIRECTIVE.fullmatch(raw.strip())
        if found is not None:
            yield found["word"], found["rest"].strip(), Origin(file, number, raw.strip())


class Words:
    """The words of a line that are still to be read; any that don't fit are an error of this line."""

    def __init__(self, line: Line, position: int = 0, *, phrase: str = "", negated: bool = False) -> None:
        self.line = line
        self.phrase = phrase
        self.negated = negated
        self._position = position

    @property
    def origin(self) -> Origin:
        """The line's place."""
        return self.line.origin

    @property
    def rest(self) -> tuple[str, ...]:
        """The words that are left, unread."""
        return self.line.words[self._position :]

    def peek(self) -> str | None:
        """Give the next word, unread."""
        return self.rest[0] if self.rest else None

    def next(self, expected: str) -> str:
        """Take the next word, whatever it is."""
        if not self.rest:
            self.line.fail(f"'{' '.join(self.line.words)}' and no more", expected)
        self._position += 1
        return self.line.words[self._position - 1]

    def fail(self, expected: str) -> NoReturn:
        """Refuse the next word."""
        word = self.peek()
        if word is None:
            self.line.fail(f"'{' '.join(self.line.words)}' and no more", expected)
        self.line.fail(f"'{word}'", expected)

    def maybe_blotted(self) -> str | None:
        """Take a word that was blotted out, if one comes next: x.x.x.x, ***, <removed>."""
        word = self.peek() or ""
        if not re.fullmatch(r"x+(\.x+)+|\*[*.]*|<\w[\w-]*>", word, re.IGNORECASE):
            return None
        self._position += 1
        return word

    def keyword(self, *choices: str) -> str:
        """Take one of these keywords, abbreviated or not."""
        found = self.maybe(*choices)
        if found is None:
            self.fail(f"one of {', '.join(choices)}" if len(choices) > 1 else f"'{choices[0]}'")
        return found

    def maybe(self, *choices: str) -> str | None:
        """Take one of these keywords if it comes next."""
        word = self.peek()
        if word is None:
            return None
        found = abbreviated(word, choices)
        if len(found) > 1:
            self.line.fail(f"'{word}'", f"one of {', '.join(found)} in full")
        if not found:
            return None
        self._position += 1
        return found[0]

    def number(self, low: int, high: int, what: str) -> int:
        """Take a whole number within bounds."""
        found = self.maybe_number(low, high, what)
        if found is None:
            self.fail(f"{what} from {low} to {high}")
        return found

    def maybe_number(self, low: int, high: int, what: str) -> int | None:
        """Take a whole number if one comes next."""
        word = self.peek()
        if word is None or not re.fullmatch(r"\d{1,12}", word):
            return None
        if not low <= int(word) <= high:
            self.fail(f"{what} from {low} to {high}")
        self._position += 1
        return int(word)

    def rate(self, low: int, high: int) -> int:
        """Take a rate in bit/s; before k, m or g, which later releases allow, it may have a decimal point."""
        found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,9})?)([kmg])", (self.peek() or "").lower())
        if found is None:
            return self.number(low, high, "a rate in bit/s")
        rate = int(Decimal(found[1]) * 1000 ** ("kmg".index(found[2]) + 1))
        if not low <= rate <= high:
            self.fail(f"a rate in bit/s from {low} to {high}")
        self._position += 1
        return rate

    def name(self, what: str) -> str:
        """Take one word of at most 64 characters."""
        word = self.next(what)
        if len(word) > 64:
            self.line.fail(f"'{word}'", f"{what} of at most 64 characters")
        return word

    def done(self) -> None:
        """Refuse more words."""
        if self.rest:
            self.line.fail(f"'{' '.join(self.rest)}'", "the end of the statement")


def abbreviated(word: str, choices: Sequence[str]) -> list[str]:
    """Give the keywords that this word may stand for: the word itself, else all that begin with it."""
    lower = word.lower()
    return [lower] if lower in choices else [choice for choice in choices if choice.startswith(lower)]
