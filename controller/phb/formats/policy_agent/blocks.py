"""Lines and blocks, the parts of every Policy Agent statement.

Keywords are case-insensitive and ``#`` starts a comment. One attribute stands on a line; its value may stand on the
next one, as the printed profiles of the joint test have it. Braces may share a line with other words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from phb.errors import InputError
from phb.origin import Origin

_SHOWN = 200


def shortened(found: str) -> str:
    """Shorten a word for an error message: a file may be one word of ten million letters."""
    return found if len(found) <= _SHOWN else f"{found[:_SHOWN]}..."


@dataclass(frozen=True)
class StatementLine:
    """A statement or attribute: its words, and their place."""

    words: tuple[str, ...]
    origin: Origin

    @property
    def keyword(self) -> str:
        """The first word as the user wrote it."""
        return self.words[0]

    @property
    def value(self) -> str:
        """Everything behind the keyword."""
        return " ".join(self.words[1:])

    def fail(self, found: str, expected: str) -> NoReturn:
        """Refuse this line."""
        raise InputError(self.origin, shortened(found), expected)


@dataclass
class Block:
    """A statement with its attributes in braces, if it has any."""

    head: StatementLine
    attributes: list[StatementLine] = field(default_factory=list)


def read_lines(text: str, file: str) -> list[StatementLine]:
    """Read every line with words; braces become lines of their own."""
    return list(_lines(text, file))


def _lines(text: str, file: str) -> Iterator[StatementLine]:
    for number, raw in enumerate(text.splitlines(), start=1):
        words: list[str] = []
        statement = raw.partition("#")[0].strip()
        origin = Origin(file, number, " ".join(statement.split()))
        for word in re.findall(r"[{}]|[^\s{}]+", statement):
            if word in "{}":
                if words:
                    yield StatementLine(tuple(words), origin)
                    words = []
                yield StatementLine((word,), origin)
            else:
                words.append(word)
        if words:
            yield StatementLine(tuple(words), origin)


def read_blocks(
    lines: Sequence[StatementLine],
    statements: Mapping[str, bool],
    keywords: frozenset[str],
    refuse: Callable[[StatementLine], None],
) -> Iterator[Block]:
    """Read the statements of a file.

    Args:
        lines: The file.
        statements: By name, whether attributes in braces must follow; other statements may have them.
        keywords: All attributes, in lower case: a word that can't be a value on a line of its own.
        refuse: Raises for a statement that can't be taken, before its braces are read.

    Raises:
        InputError: A statement isn't known, or its braces don't match.
    """
    braced = {name.lower(): needed for name, needed in statements.items()}
    position = 0
    while position < len(lines):
        head = lines[position]
        position += 1
        refuse(head)
        if head.keyword.lower() not in braced:
            head.fail(f"'{head.keyword}'", "one of " + ", ".join(statements))
        block = Block(head)
        if position < len(lines) and lines[position].keyword == "{":
            position = _attributes(block, lines, position + 1, keywords)
        elif braced[head.keyword.lower()]:
            where = lines[position] if position < len(lines) else head
            where.fail(f"'{where.keyword}'", f"'{{' after {head.keyword}")
        yield block


def _attributes(block: Block, lines: Sequence[StatementLine], position: int, keywords: frozenset[str]) -> int:
    """Fill the block from behind its opening brace; give the position behind the closing one."""
    while position < len(lines):
        line = lines[position]
        position += 1
        if line.keyword == "}":
            return position
        if line.keyword == "{":
            line.fail("'{'", f"an attribute of {block.head.keyword} or '}}'")
        if len(line.words) == 1 and position < len(lines) and _is_value(lines[position], keywords):
            line = StatementLine((*line.words, *lines[position].words), line.origin)
            position += 1
        block.attributes.append(line)
    block.head.fail(f"{block.head.keyword} without an end", "'}' before the end of the file")


def _is_value(line: StatementLine, keywords: frozenset[str]) -> bool:
    return line.keyword not in "{}" and line.keyword.lower() not in keywords
