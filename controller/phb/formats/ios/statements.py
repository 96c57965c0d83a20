"""Lines -> configuration: every line is a statement of the mode it stands in, or of one around it."""

from __future__ import annotations

from phb.errors import InputError

# Importing a family adds its statements to the modes.
from phb.formats.ios import access_lists, class_maps, globals, ignored, interfaces, policing, policy_maps
from phb.formats.ios.configuration import Configuration
from phb.formats.ios.lines import Line, lines
from phb.formats.ios.modes import GLOBAL
from phb.formats.ios.vocabulary import Found, Mode, suggestion
from phb.model import Dialect

FAMILIES = (access_lists, class_maps, globals, ignored, interfaces, policing, policy_maps)


def parse(text: str, file: str, dialect: Dialect) -> Configuration:
    """Read every statement.

    Raises:
        InputError: With the line of the first one that isn't known, or that doesn't hold together.

    """
    configuration = Configuration(dialect)
    modes = [Mode(GLOBAL, None)]
    for line in lines(text, file):
        modes = _statement(configuration, modes, line)
    return configuration


def _statement(configuration: Configuration, modes: list[Mode], line: Line) -> list[Mode]:
    if line.words[0].lower() == "exit" and len(line.words) == 1:
        return modes[:-1] or modes
    # What is indented below the head of a block that is left out belongs to it, whatever it is.
    if modes[-1].vocabulary is ignored.IN_BLOCK and line.indent > modes[-1].indent:
        return modes
    chosen = _find(modes, line)
    if chosen is not None:
        depth, found = chosen
        if found.words.negated and not found.negatable:
            line.fail(f"'no {found.phrase}'", f"the configuration without '{found.phrase}'")
        if found.since is not None and list(Dialect).index(configuration.dialect) < list(Dialect).index(found.since[0]):
            line.fail(
                f"'{found.phrase}'", f"a statement of {configuration.dialect.value}; it came with {found.since[1]}"
            )
        opened = found.handler(configuration, modes[depth - 1].subject, found.words)
        inner = [] if opened is None else [Mode(opened.vocabulary, opened.subject, line.indent)]
        return [*modes[:depth], *inner]
    expected = suggestion(line.words, [mode.vocabulary for mode in reversed(modes)])
    shown = " ".join(line.words[:4])
    line.fail(f"'{shown}'", expected)


def _find(modes: list[Mode], line: Line) -> tuple[int, Found] | None:
    """The statement, and how many modes are open where it belongs.

    As on the router, what a mode doesn't know is tried in the mode around it. A statement that stands there in full
    comes before one that is only abbreviated: `ip route` after an interface is not its `ip route-cache`.
    """
    first: tuple[int, Found] | None = None
    ambiguous: InputError | None = None
    for depth in range(len(modes), 0, -1):
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
