"""A program's names, which STF files may shorten."""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from phb_switch.stf.statements import StatementError

Thing = TypeVar("Thing")


def find(what: str, name: str, things: Iterable[Thing], name_of: Callable[[Thing], str]) -> Thing:
    """The thing named so, or else the only one that ends in `.name`, or else in `name`."""
    known = {name_of(each): each for each in things}
    for fits in (str.__eq__, lambda full, short: full.endswith(f".{short}"), str.endswith):
        found = [full for full in known if fits(full, name)]
        if len(found) == 1:
            return known[found[0]]
        if found:
            raise StatementError(f"{what} {name} is short for {', '.join(found)}")
    raise StatementError(f"found {what} {name}, expected one of: {', '.join(known) or 'there is none'}")


def find_key(table: str, name: str, keys: Iterable[tuple[str, str, int]]) -> tuple[str, str, int]:
    """The key of a table; `stack$0` is `stack[0]`, `valid` the validity of a header."""
    spelled = re.sub(r"\$(\d+)(?=\.|$)", r"[\1]", name)
    known = list(keys)
    spellings = [spelled, f"{spelled}$", f"{spelled}.$valid$"]
    if spelled.endswith("valid"):
        # With and without the header's name before it.
        spellings.append(f"{spelled.removesuffix('valid')}$valid$")
    if spelled.endswith("$valid"):
        spellings.append(f"{spelled}$")
    for fits in (str.__eq__, lambda full, short: full.endswith(f".{short}")):
        found = [key for key in known if any(fits(key[0], spelling) for spelling in spellings)]
        if len(found) == 1:
            return found[0]
        if found:
            raise StatementError(f"key {name} of {table} is short for {', '.join(key[0] for key in found)}")
    raise StatementError(f"found key {name} of {table}, expected one of: {', '.join(key[0] for key in known)}")
