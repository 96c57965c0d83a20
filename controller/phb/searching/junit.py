"""Verdicts as JUnit XML, as CI systems read it.

There is no one schema. What is written is valid by the strictest that are published, of Ant's reports and of Jenkins'
xUnit plugin, which refuses files that aren't: so suites have no counts, and cases no file, which is a property of their
suite. GitLab shows a case by its `classname` and `name`, which together must be unique, and of a failure its text.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from phb.searching.verify import State, Verdict, reasons
from phb.visible import visible


def junit(node: str, verdicts: Sequence[Verdict], at: datetime) -> str:
    """Write verdicts: what fails is a failure, what couldn't be answered an error.

    Args:
        node: What the policy is called: name of the suite, and class of the cases.
        verdicts: A case each.
        at: When they were found.
    """
    states = [verdict.state for verdict in verdicts]
    suites = Element("testsuites")
    about = {
        "name": visible(node),
        "package": "phb verify",
        "id": "0",
        "hostname": platform.node() or "localhost",
        "timestamp": f"{at:%Y-%m-%dT%H:%M:%S}",
        "tests": str(len(states)),
        "failures": str(states.count(State.FAILS)),
        "errors": str(states.count(State.OPEN)),
        "skipped": "0",
        "time": _seconds(sum(verdict.seconds for verdict in verdicts)),
    }
    suite = SubElement(suites, "testsuite", about)
    properties = SubElement(suite, "properties")
    for file in dict.fromkeys(visible(verdict.expectation.origin().file) for verdict in verdicts):
        SubElement(properties, "property", {"name": "file", "value": file})
    for verdict in verdicts:
        named = {"classname": visible(node), "name": visible(verdict.expectation.name)}
        case = SubElement(suite, "testcase", {**named, "time": _seconds(verdict.seconds)})
        if verdict.state is not State.OK:
            told = [visible(line) for line in reasons(verdict)]
            kind = "failure" if verdict.state is State.FAILS else "error"
            SubElement(case, kind, {"type": verdict.state.value, "message": told[0]}).text = "\n".join(told)
    SubElement(suite, "system-out")
    SubElement(suite, "system-err")
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'


def _seconds(value: float) -> str:
    return f"{value:.3f}"
