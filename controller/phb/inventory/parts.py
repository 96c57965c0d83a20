"""What each source of an inventory says: the file itself, other files, folders, commands."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from phb.errors import InputError, each_of
from phb.files import decoded, in_words, read_text
from phb.formats import yaml_format
from phb.inventory import netbox
from phb.inventory.commands import output_of
from phb.inventory.items import Fragment, Inventory, Source
from phb.origin import Origin

VERSION_KEY: Final = "phb-inventory"
SUFFIXES: Final = (".yaml", ".yml", ".json")
READABLE: Final = "a readable inventory"


@dataclass(frozen=True)
class Part:
    """What one file or command says.

    Attributes:
        name: As it is told: a path, or the command.
        folder: What its paths are relative to.
    """

    name: str
    folder: Path
    content: Fragment


def read_main(path: Path) -> Inventory:
    """Read an inventory's file, without its sources; of a folder, an inventory with that as its source."""
    if path.is_dir():
        whole = Source(directory=".").at(Origin(str(path)))
        return Inventory.model_construct(sources=(whole,))
    inventory = yaml_format.read_as(read_text(path, READABLE), str(path), Inventory, VERSION_KEY)
    if not inventory.switches and not inventory.sources:
        raise InputError(Origin(str(path), 1), "no 'switches'", "'switches': a list")
    return inventory


def folder_of(path: Path) -> Path:
    """Give what an inventory's paths are relative to."""
    return path if path.is_dir() else path.parent


def read_source(
    source: Source, folder: Path, started: Callable[[subprocess.Popen[bytes]], None] = lambda process: None
) -> list[Part]:
    """Ask one source of an inventory in this folder; `started` is told of a command's process.

    Raises:
        InputError: It can't be read, or what it says is wrong.
    """
    if source.command is not None:
        printed = output_of(source.command, folder, source.timeout, source.origin("command"), started)
        name = str(source)
        return [Part(name, folder, _content(decoded(printed, name), source, name))]
    if source.file is not None:
        file = folder / source.file
        return [Part(str(file), file.parent, _content(read_text(file, READABLE), source, str(file)))]
    return each_of(partial(_part, file, source) for file in files_of(source, folder))


def files_of(source: Source, folder: Path) -> Sequence[Path]:
    """Give the files of a source: one, none of a command, those of a directory in the order of their names.

    Raises:
        InputError: The directory can't be read.
    """
    if source.command is not None:
        return []
    if source.file is not None:
        return [folder / source.file]
    assert source.directory is not None
    inside = folder / source.directory
    try:
        return sorted(each for each in inside.iterdir() if each.suffix in SUFFIXES and not each.name.startswith("."))
    except OSError as error:
        raise InputError(source.origin("directory"), f"'{inside}': {in_words(error)}", "a readable folder") from None


def _part(file: Path, source: Source) -> Part:
    return Part(str(file), file.parent, _content(read_text(file, READABLE), source, str(file)))


def _content(text: str, source: Source, name: str) -> Fragment:
    if source.format == "netbox":
        return netbox.read(text, source, name)
    return yaml_format.read_as(text, name, Fragment, VERSION_KEY)
