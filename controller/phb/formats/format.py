"""The type of a policy format: a reader, and a writer where the format can be written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from phb.errors import InputError
from phb.model import Dialect, Item, PolicySet
from phb.origin import Origin


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Facts that texts leave open.

    Attributes:
        dialect: Of an IOS file that names none.
        attach: Give lists and policy maps of IOS ports of their own where a file has no interface: for questions that
            no switch is asked.
    """

    dialect: Dialect | None = None
    attach: bool = False


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How to write a policy: the dialect of IOS; None takes the one that the policy itself names."""

    dialect: Dialect | None = None


READING = ReadOptions()
WRITING = WriteOptions()


def parse_dialect(name: str | None) -> Dialect | None:
    """Give the dialect that a command's option names; refuse any other name."""
    if name is None:
        return None
    if name in list(Dialect):
        return Dialect(name)
    raise InputError(Origin("--dialect"), f"'{name}'", f"one of {', '.join(Dialect)}")


@dataclass(frozen=True, slots=True)
class Loss:
    """A statement of a policy that a format can't express.

    Attributes:
        origin: The statement's place in the source.
        what: What is left out, in the words of its key or statement: ``'unless' of rule 'voice'``.
        why: What the format lacks, as the end of a sentence: ``Policy Agent rules have no exceptions``.
        item: The item, if it may concern packets.
        key: The item's key.
        kept: Packets are treated as before, whatever the item is.
        packets: Packets that are treated otherwise.
        concerned: What treats them: rules, behaviour aggregates, queues, ports.
    """

    origin: Origin
    what: str
    why: str
    item: Item | None = field(default=None, compare=False, repr=False)
    key: str = field(default="", compare=False)
    kept: bool = field(default=False, compare=False)
    packets: tuple[str, ...] = field(default=(), compare=False)
    concerned: tuple[Item, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.origin}: {self.what} is lost: {self.why}"


@dataclass(frozen=True, slots=True)
class Converted:
    """A policy in another format.

    Attributes:
        losses: In the order of the source.
        ports: New names of ports whose own the format can't say.
    """

    text: str
    losses: tuple[Loss, ...] = ()
    ports: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """A format of policies.

    Attributes:
        name: Its name for `--format` and `--to`.
        read: Turns (text, file name, options) into the model; raises InputError.
        endings: File name endings that mean this format, whatever the content.
        signature: Found in texts of this format, and in no other's.
        write: The inverse of `read`: its text, read back, gives a policy with the same effect, or every difference is
            a loss. None where a format is only read.
        any_octets: Files of this format may have comments and descriptions in Windows-1252.
    """

    name: str
    read: Callable[[str, str, ReadOptions], PolicySet]
    endings: tuple[str, ...]
    signature: re.Pattern[str]
    write: Callable[[PolicySet, WriteOptions], Converted] | None = None
    any_octets: bool = False
