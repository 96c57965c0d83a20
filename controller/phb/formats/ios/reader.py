"""An IOS configuration -> the policy model."""

from __future__ import annotations

from phb.errors import raise_all
from phb.formats.format import READING, ReadOptions
from phb.formats.ios.building.attachments import attachments
from phb.formats.ios.building.ports import build_ports
from phb.formats.ios.building.queueing import build_queueing
from phb.formats.ios.building.rules import build_rules
from phb.formats.ios.building.subinterfaces import place_subinterfaces
from phb.formats.ios.building.uses import settle
from phb.formats.ios.dialects import dialect
from phb.formats.ios.parse import parse
from phb.model import PolicySet
from phb.origin import Origin


def read(text: str, file: str, options: ReadOptions = READING) -> PolicySet:
    """Read the output of `show running-config`, or parts of it; raise InputErrors for several errors."""
    configuration = parse(text, file, dialect(text, file, options.dialect))
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
