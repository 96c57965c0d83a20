"""An IOS configuration -> the policy model."""

from __future__ import annotations

from phb.errors import InputError, raise_all
from phb.formats.format import READING, ReadOptions
from phb.formats.ios.attachments import attachments
from phb.formats.ios.lines import directives
from phb.formats.ios.ports import build_ports
from phb.formats.ios.queueing import build_queueing
from phb.formats.ios.rules import build_rules
from phb.formats.ios.statements import parse
from phb.formats.ios.uses import settle
from phb.model import Dialect, PolicySet
from phb.origin import Origin


def read(text: str, file: str, options: ReadOptions = READING) -> PolicySet:
    """Read a configuration.

    Args:
        text: What `show running-config` prints, or parts of it.
        file: Its name.
        options: Which IOS is meant, if the file doesn't say it in a line ``! phb: dialect ios-12``.

    Raises:
        InputError: With the line of what is wrong; InputErrors if several things are.

    """
    configuration = parse(text, file, _dialect(text, file, options.dialect))
    settle(configuration)
    ports = build_ports(configuration)
    attached = attachments(configuration)
    rules = build_rules(configuration, attached)
    queueing = build_queueing(configuration, attached)
    raise_all(sorted(configuration.errors, key=lambda error: error.origin.line))
    name, origin = configuration.hostname or (None, Origin(file, 1))
    policy = PolicySet(
        node=name,
        ports=tuple(ports),
        routes=tuple(configuration.routes),
        classes=tuple(rules.classes.values()),
        queueing=tuple(queueing),
        actions=tuple(rules.actions),
        rules=tuple(rules.rules),
    )
    notices = sorted(configuration.notices, key=lambda notice: notice.origin.line)
    return policy.at(Origin(file, 1), {"node": origin}).noting(notices)


def _dialect(text: str, file: str, given: Dialect | None) -> Dialect:
    known = ", ".join(dialect.value for dialect in Dialect)
    said: list[tuple[Dialect, Origin]] = []
    for word, rest, origin in directives(text, file):
        if word != "dialect":
            raise InputError(origin, f"'phb: {word}'", "'phb: dialect DIALECT'")
        if rest not in {dialect.value for dialect in Dialect}:
            raise InputError(origin, f"dialect '{rest}'", f"one of {known}")
        said.append((Dialect(rest), origin))
    for dialect, origin in said:
        wanted = given or said[0][0]
        if dialect is not wanted:
            raise InputError(origin, f"dialect {dialect.value}", f"{wanted.value}, which was said before")
    if said:
        return said[0][0]
    if given is None:
        raise InputError(
            Origin(file, 1),
            "a configuration that doesn't say which IOS is meant",
            f"a line '! phb: dialect DIALECT' or the option --dialect, with one of {known}",
        )
    return given
