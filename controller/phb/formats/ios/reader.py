"""An IOS configuration -> the policy model."""

from __future__ import annotations

from phb.errors import InputError, raise_all
from phb.formats.format import READING, ReadOptions
from phb.formats.ios.building.attachments import attachments
from phb.formats.ios.building.ports import build_ports
from phb.formats.ios.building.queueing import build_queueing
from phb.formats.ios.building.rules import build_rules
from phb.formats.ios.building.subinterfaces import place_subinterfaces
from phb.formats.ios.building.unattached import attach
from phb.formats.ios.building.uses import settle
from phb.formats.ios.dialects import UnsaidError, dialect
from phb.formats.ios.parse import parse
from phb.model import Dialect, PolicySet
from phb.origin import Origin


def read(text: str, file: str, options: ReadOptions = READING) -> PolicySet:
    """Read the output of `show running-config`, or parts of it; raise InputErrors for several errors."""
    try:
        said = dialect(text, file, options.dialect)
    except UnsaidError as unsaid:
        return _alike_in_all(text, file, unsaid, options)
    return _read(text, file, said, options)


def _alike_in_all(text: str, file: str, unsaid: UnsaidError, options: ReadOptions) -> PolicySet:
    """Read a file that says no dialect, where that doesn't matter.

    Raises:
        InputError: It can't be read, or means different things.
    """
    found: list[PolicySet | InputError] = []
    for each in unsaid.dialects:
        try:
            found.append(_read(text, file, each, options))
        except InputError as error:
            # What 11.3 refuses alone came later.
            if each is not Dialect.IOS_11_3:
                found.append(error)
    errors = [each for each in found if isinstance(each, InputError)]
    if len(errors) == len(found):
        raise errors[-1]
    (*others, last) = found
    if isinstance(last, InputError) or any(each != last for each in others):
        raise unsaid
    return last


def _read(text: str, file: str, said: Dialect, options: ReadOptions) -> PolicySet:
    configuration = parse(text, file, said)
    if options.attach:
        attach(configuration)
    place_subinterfaces(configuration)
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
