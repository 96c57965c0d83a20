"""Lines -> configuration: every line is a statement of the mode it stands in, or of one around it."""

from __future__ import annotations

from collections.abc import Sequence

from phb.errors import InputError
from phb.formats.ios.configuration import Configuration
from phb.formats.ios.language.lines import Line, lines
from phb.formats.ios.language.modes import IN_BLOCK, LEFT_OUT, WRONG
from phb.formats.ios.language.unknown import check_left_out, check_unknown
from phb.formats.ios.language.vocabulary import Found, Mode
from phb.formats.ios.statements import GLOBAL, INTERFACE
from phb.model import Dialect


def parse(text: str, file: str, dialect: Dialect) -> Configuration:
    """Read every statement. Its error is one of its list, map or interface, else of the whole configuration."""
    configuration = Configuration(dialect)
    modes = [Mode(GLOBAL, None)]
    statements = list(lines(text, file))
    flat = not any(line.indent for line in statements)
    for number, line in enumerate(statements):
        if [word.lower() for word in line.words] == ["end"]:
            _note_rest(configuration, statements[number + 1 :])
            break
        modes = _left(modes, line)
        try:
            opened = _statement(configuration, modes, line)
            if opened is None:
                modes = modes if flat else _around(modes, line)
                check_unknown(line, modes)
                configuration.aside(line.origin, f"'{line.shown}' has no effect: phb doesn't know it; it isn't QoS")
                opened = [*modes, Mode(LEFT_OUT, None, line.indent)]
            modes = opened
        except InputError as error:
            modes = modes if flat else _around(modes, line)
            subject = modes[1].subject if len(modes) > 1 else None
            getattr(subject, "errors", configuration.errors).append(error)
            if modes[-1].vocabulary is not LEFT_OUT:
                modes = [*modes, Mode(WRONG, None, line.indent)]
    return configuration


def _note_rest(configuration: Configuration, lines_left: Sequence[Line]) -> None:
    """Note statements behind ``end`` that concern packets: they may be another router's, or typed later."""
    heads = {phrase.split()[0] for phrase in GLOBAL.phrases(asides=False)}
    for line in lines_left:
        if line.words[0].lower() in heads:
            configuration.note(
                line.origin, f"'{line.shown}' has no effect, nor has what follows: 'end' stands above it"
            )
            return


def _left(modes: list[Mode], line: Line) -> list[Mode]:
    """Give the modes without those whose blocks this line's indentation has left."""
    if modes[-1].vocabulary in (LEFT_OUT, WRONG) and line.indent <= modes[-1].indent:
        modes = modes[:-1]
    while len(modes) > 1 and modes[-1].indented and line.indent <= modes[-1].indent:
        modes = modes[:-1]
    if line.indent > modes[-1].indent:
        modes[-1].indented = True
    return modes


def _around(modes: list[Mode], line: Line) -> list[Mode]:
    """Give the modes whose blocks the line is in, by its indentation alone."""
    return [modes[0], *(mode for mode in modes[1:] if mode.indent < line.indent)]


def _statement(configuration: Configuration, modes: list[Mode], line: Line) -> list[Mode] | None:
    """Read a line as a statement; give the modes after it, or None if it is unknown."""
    if line.words[0].lower() == "exit" and len(line.words) == 1:
        return modes[:-1] or modes
    # Lines indented below the head of a block that is left out belong to it.
    if modes[-1].vocabulary in (IN_BLOCK, LEFT_OUT, WRONG) and line.indent > modes[-1].indent:
        if modes[-1].vocabulary is LEFT_OUT:
            check_left_out(line)
        return modes
    chosen = _find(modes, line)
    if chosen is None:
        return None
    depth, found = chosen
    if found.words.negated and not found.negatable:
        line.fail(f"'no {found.phrase}'", f"the configuration without '{found.phrase}'")
    if found.since is not None and list(Dialect).index(configuration.dialect) < list(Dialect).index(found.since[0]):
        line.fail(f"'{found.phrase}'", f"a statement of {configuration.dialect.value}; it came with {found.since[1]}")
    opened = found.handler(configuration, modes[depth - 1].subject, found.words)
    inner = [] if opened is None else [Mode(opened.vocabulary, opened.subject, line.indent)]
    return [*modes[:depth], *inner]


def _find(modes: list[Mode], line: Line) -> tuple[int, Found] | None:
    """Find the statement, and how many modes are open where it belongs.

    As on the router, a statement unknown in a mode is looked up in the mode around it. A full statement there comes
    before an abbreviated one: `ip route` after an interface is not its `ip route-cache`.
    """
    first: tuple[int, Found] | None = None
    ambiguous: InputError | None = None
    # Lines indented below an interface are never of the whole router: `ip vrf forwarding` isn't `ip vrf`.
    another = line.words[0].lower() == "interface"
    strict = modes[-1].vocabulary is INTERFACE and line.indent > modes[-1].indent and not another
    for depth in range(len(modes), len(modes) - 1 if strict else 0, -1):
        try:
            found = modes[depth - 1].vocabulary.find(line)
        except InputError as error:
            ambiguous = ambiguous or (error if first is None else None)
            continue
        if found is not None and found.exact:
            return depth, found
        if found is not None and first is None and ambiguous is None:
            first = (depth, found)
    if ambiguous is not None:
        raise ambiguous
    return first
