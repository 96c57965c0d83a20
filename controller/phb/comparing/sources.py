"""Where the two policies come from: files, a push in the history, what a switch holds, nodes of inventories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from phb.comparing.comparison import Input
from phb.comparing.telling import Content, Side
from phb.errors import InputError
from phb.formats.format import ReadOptions
from phb.model import PolicySet
from phb.origin import Origin
from phb.sources import Document, poll_all, read_documents
from phb.targets import DEFAULT_TARGET

if TYPE_CHECKING:
    from phb.inventory import Switch
    from phb.state import State

AGAINST: Final = "against"
"""The word between the files of A and those of B."""
PUSH: Final = "push:"
SWITCH: Final = "switch:"
INVENTORY: Final = "inventory:"


def two_sides(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide a command line into what A and what B is.

    Raises:
        InputError: There aren't two.
    """
    if AGAINST in words:
        at = words.index(AGAINST)
        sides = list(words[:at]), list(words[at + 1 :])
    elif len(words) == 2:
        sides = [words[0]], [words[1]]
    else:
        found = f"{len(words)} of two policies" if len(words) < 2 else f"{len(words)} without '{AGAINST}'"
        raise InputError(Origin("diff"), found, f"two, or FILE... {AGAINST} FILE...")
    if not all(sides) or AGAINST in sides[1]:
        raise InputError(Origin(AGAINST), "no file on a side of it", f"FILE... {AGAINST} FILE...")
    return sides


@dataclass(frozen=True)
class Places:
    """How sources other than files are reached.

    Attributes:
        state: Opens the history.
        held: Reads what the switch at an address holds.
    """

    state: Callable[[], State]
    held: Callable[[str], PolicySet]


def read_side(words: Sequence[str], format_name: str | None, options: ReadOptions, places: Places) -> Input:
    """Read one of the two policies.

    Raises:
        PhbError: It is wrong, isn't there, or the switch doesn't answer.
    """
    special = next((word for word in words if word.startswith((PUSH, SWITCH, INVENTORY))), None)
    if special is None:
        return read_files(words, format_name, options)
    if len(words) > 1:
        raise InputError(Origin(special), "other files beside it", f"'{special}' alone")
    if special.startswith(PUSH):
        return _of_push(special.removeprefix(PUSH), places)
    if special.startswith(SWITCH):
        address = special.removeprefix(SWITCH)
        return Input(places.held(address), Side(f"switch {address}"))
    raise InputError(Origin(special), "an inventory on one side only", f"'{INVENTORY}FILE' on both sides")


def read_files(
    names: Sequence[str], format_name: str | None, options: ReadOptions, target: str = DEFAULT_TARGET
) -> Input:
    """Read the files, or the directories, of one node."""
    return _of_documents(" ".join(names), poll_all(names), format_name, options, target)


def _of_documents(
    words: str, documents: Sequence[Document], format_name: str | None, options: ReadOptions, target: str
) -> Input:
    contents = tuple(Content(each.name, sha256(each.content).hexdigest()) for each in documents)
    return Input(read_documents(documents, format_name, options), Side(words, contents), target)


def _of_push(number: str, places: Places) -> Input:
    from phb.model import Dialect
    from phb.state import History

    if not number.isdecimal():
        raise InputError(Origin(f"{PUSH}{number}"), f"'{number}'", "the number of a push, as phb history shows it")
    with places.state() as state:
        history = History(state)
        push = history.push(int(number))
        documents = [Document(file.path, file.content, file.format_name) for file in history.files(push.number)]
    words = f"push {push.number} to {push.name or push.address}, {push.started[:19]}Z: {' '.join(push.files)}"
    options = ReadOptions(Dialect(push.dialect) if push.dialect else None)
    return _of_documents(words, documents, push.format_name, options, push.target or DEFAULT_TARGET)


@dataclass(frozen=True)
class Nodes:
    """Switches of two inventories that are compared, by name, and the names that only one of them has."""

    both: Mapping[str, tuple[Switch, Switch]]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def nodes(a: str, b: str) -> Nodes:
    """Read two inventories, given as ``inventory:FILE``."""
    from phb.inventory import read_inventory

    found = [{switch.name: switch for switch in read_inventory(Path(each.removeprefix(INVENTORY)))} for each in (a, b)]
    return Nodes(
        {name: (switch, found[1][name]) for name, switch in found[0].items() if name in found[1]},
        tuple(name for name in found[0] if name not in found[1]),
        tuple(name for name in found[1] if name not in found[0]),
    )


def of_node(switch: Switch) -> Input:
    """Read the policy of a switch of an inventory."""
    return read_files(switch.policies, switch.format, ReadOptions(switch.dialect), switch.target.value)
