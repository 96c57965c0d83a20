"""Lines -> configuration: every line is a statement of the mode it stands in, or of one around it."""

from __future__ import annotations

# Importing a family adds its statements to the modes.
from phb.formats.ios import access_lists, class_maps, globals, ignored, interfaces, policing, policy_maps
from phb.formats.ios.configuration import Configuration
from phb.formats.ios.lines import Line, lines
from phb.formats.ios.modes import GLOBAL
from phb.formats.ios.vocabulary import Mode, suggestion
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
    # As the router itself does: what a mode doesn't know is tried in the mode around it.
    for depth in range(len(modes), 0, -1):
        mode = modes[depth - 1]
        found = mode.vocabulary.find(line)
        if found is None:
            continue
        if found.words.negated and not found.negatable:
            line.fail(f"'no {found.phrase}'", f"the configuration without '{found.phrase}'")
        if found.since is not None and list(Dialect).index(configuration.dialect) < list(Dialect).index(found.since[0]):
            line.fail(
                f"'{found.phrase}'", f"a statement of {configuration.dialect.value}; it came with {found.since[1]}"
            )
        opened = found.handler(configuration, mode.subject, found.words)
        inner = [] if opened is None else [Mode(opened.vocabulary, opened.subject, line.indent)]
        return [*modes[:depth], *inner]
    expected = suggestion(line.words, [mode.vocabulary for mode in reversed(modes)])
    shown = " ".join(line.words[:4])
    line.fail(f"'{shown}'", expected)
