"""The IOS of a file: what the user says, else the release in the file."""

from __future__ import annotations

import re

from phb.errors import InputError
from phb.formats.ios.language.lines import directives
from phb.model import Dialect
from phb.origin import Origin

# `version 1` and `version 2` are RIP's, in a part of a configuration.
_VERSION = re.compile(r"^version\s+(?![12]\s*$)(?P<release>(?P<major>\d+)(\.(?P<minor>\d+))?\S*)\s*$", re.IGNORECASE)

# The release in `show version`, and in the image that the router boots: c2800nm-ipbasek9-mz.124-24.T4.bin.
_FULL_12_4 = re.compile(r"\b(?:Version 12\.4\(|mz\.124-)(?P<number>\d+)[a-z]?[).](?P<train>[A-Z]*)")

# 12.4(20)T brought HQF ("Hierarchical Queueing Framework", Cisco white paper C11-481499), and `version` prints no more
# than 12.4 before and after it; IOS XE has it in all its releases, 2.x of which call themselves 12.2.
_HQF_IN_12_4T = 20
_RELEASES: dict[str, tuple[Dialect, ...]] = {
    "11": (Dialect.IOS_11_3,),
    "12": (Dialect.IOS_12, Dialect.IOS_HQF),
    "15": (Dialect.IOS_HQF,),
    "16": (Dialect.IOS_HQF,),
    "17": (Dialect.IOS_HQF,),
}
_KNOWN = ", ".join(dialect.value for dialect in Dialect)
_SAYING = f"a line '! phb: dialect DIALECT' or the option --dialect, with one of {_KNOWN}"


class UnsaidError(InputError):
    """A file doesn't say which of several dialects it is in."""

    def __init__(self, origin: Origin, found: str, expected: str, dialects: tuple[Dialect, ...]) -> None:
        super().__init__(origin, found, expected)
        self.dialects = dialects


def dialect(text: str, file: str, given: Dialect | None) -> Dialect:
    """Give the dialect of a file: `given` with the option, or by ``! phb: dialect``, or by its ``version``.

    Raises:
        UnsaidError: None says it.
        InputError: Two of them contradict each other.
    """
    said = given
    for found, origin in _directed(text, file):
        if said not in (None, found):
            raise InputError(origin, f"dialect {found.value}", f"{said.value}, which was said before")
        said = found
    for number, line in enumerate(text.splitlines(), start=1):
        version = _VERSION.match(line.strip())
        if version is not None:
            return _of_version(version, Origin(file, number, line.strip()), said, text)
    if said is None:
        what = "a configuration that doesn't say which IOS is meant, although its queues depend on that"
        raise UnsaidError(Origin(file, 1), what, _SAYING, tuple(Dialect))
    return said


def _directed(text: str, file: str) -> list[tuple[Dialect, Origin]]:
    found = []
    for word, rest, origin in directives(text, file):
        if word != "dialect":
            raise InputError(origin, f"'phb: {word}'", "'phb: dialect DIALECT'")
        if rest not in list(Dialect):
            raise InputError(origin, f"dialect '{rest}'", f"one of {_KNOWN}")
        found.append((Dialect(rest), origin))
    return found


def _of_version(version: re.Match[str], origin: Origin, said: Dialect | None, text: str) -> Dialect:
    release = version["release"]
    allowed = _RELEASES.get(version["major"], ())
    if not allowed:
        raise InputError(origin, f"version {release}", "a release of IOS: 11, 12, 15, 16 or 17")
    if said is not None:
        if said not in allowed:
            names = " or ".join(each.value for each in allowed)
            raise InputError(origin, f"version {release} read as {said.value}", names)
        return said
    if version["major"] != "12" or int(version["minor"] or 0) < 4:
        return allowed[0]
    full = _FULL_12_4.search(text)
    if full is not None and full["train"] in ("", "T"):
        return Dialect.IOS_HQF if full["train"] and int(full["number"]) >= _HQF_IN_12_4T else Dialect.IOS_12
    found = f"version {release}, which is ios-12 before 12.4({_HQF_IN_12_4T})T and without T, and ios-hqf since"
    names = " or ".join(each.value for each in allowed)
    expected = (
        "what `show version` prints, such as 'Version 12.4(24)T4', in a comment of the file; "
        f"else '! phb: dialect DIALECT' or the option --dialect, with {names}"
    )
    raise UnsaidError(origin, found, expected, allowed)
