"""TcpImage and SetSubnetPrioTosMask: the stack that is meant, and its adapters' priorities by ToS."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import NoReturn

from phb.formats.policy_agent import attributes as values
from phb.formats.policy_agent.attributes import BITS, Attributes, parse_line
from phb.formats.policy_agent.blocks import Block, StatementLine
from phb.model import Image, PriorityMapping, SubnetPriority
from phb.notice import Notice

_LONGEST_NAME = 64
_IMAGE = "TcpImage NAME [FILE] [FLUSH|NOFLUSH] [PURGE|NOPURGE] [SECONDS]"


def image(head: StatementLine, file: str, notices: list[Notice]) -> Image:
    """Read ``TcpImage``, or ``PEPInstance``, its synonym."""
    words = list(head.words[1:])
    if not words:
        _refuse_image(head)
    name = words.pop(0)
    if len(name) > _LONGEST_NAME:
        head.fail(f"'{name}'", f"a name of at most {_LONGEST_NAME} characters")
    if words and re.search(r"[/.'(]", words[0]):
        other = words.pop(0)
        if PurePosixPath(other.strip("'")).name != PurePosixPath(file).name:
            message = f"the policies of stack '{name}' stand in {other}: name that file on the command line too"
            notices.append(Notice(head.origin, message))
    flush = True
    if words and words[0].lower() in ("flush", "noflush"):
        flush = words.pop(0).lower() == "flush"
    if words and words[0].lower() in ("purge", "nopurge"):
        notices.append(Notice(head.origin, f"{words.pop(0)} has no effect: a switch keeps its policy without phb"))
    if words and words[0].isdigit():
        notices.append(Notice(head.origin, f"{words.pop(0)} s has no effect: phb watch has its own interval"))
    if words:
        _refuse_image(head)
    return Image(name=name, flush=flush).at(head.origin)


def _refuse_image(head: StatementLine) -> NoReturn:
    head.fail(f"'{' '.join(head.words)}'", _IMAGE.replace("TcpImage", head.keyword))


def subnet_priority(block: Block) -> SubnetPriority:
    """Read ``SetSubnetPrioTosMask``."""
    if len(block.head.words) != 1:
        block.head.fail(f"'{' '.join(block.head.words)}'", "SetSubnetPrioTosMask without a name")
    given = Attributes(block, ("SubnetAddr", "SubnetTosMask", "PriorityTosMapping"), repeated=("PriorityTosMapping",))
    mask = given.value("SubnetTosMask", "mask", values.bits(8), BITS)
    if mask is None:
        block.head.fail("no SubnetTosMask", f"SubnetTosMask with {BITS}")
    address = given.value("SubnetAddr", "address", values.unless_all(values.address), values.ADDRESS)
    return SubnetPriority(
        address=address,
        mask=mask,
        mappings=tuple(_priority_mapping(line) for line in given.all("PriorityTosMapping")),
    ).at(block.head.origin, given.origins())


def _priority_mapping(line: StatementLine) -> PriorityMapping:
    def parse(text: str) -> PriorityMapping:
        priority, tos, *user = text.split()
        if not re.fullmatch("[1-8]", priority) or len(user) > 1 or not all(re.fullmatch("[0-7]", one) for one in user):
            raise ValueError
        given = {"user_priority": int(user[0])} if user else {}
        return PriorityMapping(priority=int(priority), tos=values.bits(8)(tos), **given)

    expected = f"a priority from 1 to 8, {BITS}, and maybe a user priority from 0 to 7"
    return parse_line(line, parse, expected).at(line.origin)
