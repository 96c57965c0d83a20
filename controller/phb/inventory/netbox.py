"""Switches from NetBox: devices as its REST API gives them (``/api/dcim/devices/``), put into templates.

A template is text with paths of the device's JSON in braces, such as ``{site.slug}``. A path through a list means each
of its elements: ``{tags.slug}`` as a group is a group for each tag. Pages of a list may follow each other, as JSON
documents or one a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_interface
from itertools import product
from typing import Any, Final

from phb.errors import InputError
from phb.formats import yaml_format
from phb.inventory.items import Fragment, Source, Switch, as_text
from phb.origin import Origin

_PATH: Final = re.compile(r"\{([^{}]*)\}")
_EXPECTED: Final = "JSON as NetBox gives for /api/dcim/devices/"


def read(text: str, source: Source, name: str) -> Fragment:
    """Give the switches of the devices that are meant; `name` is what errors call the text.

    Raises:
        InputError: It is no list of devices, pages of it lack, or a device doesn't fit the templates.
    """
    switches = tuple(_switch(device, source, name) for device in _devices(text, name) if _is_meant(device, source))
    return Fragment.model_construct(switches=switches)


def _devices(text: str, name: str) -> Iterator[dict[str, Any]]:
    decoder, at = json.JSONDecoder(), 0
    counted: int | None = None
    given = 0
    while at := _next(text, at):
        line = text.count("\n", 0, at - 1) + 1
        try:
            page, at = decoder.raw_decode(text, at - 1)
        except json.JSONDecodeError as error:
            raise InputError(Origin(name, error.lineno), f"broken JSON ({error.msg})", _EXPECTED) from None
        except RecursionError:
            raise InputError(Origin(name, line), "lists in lists without end", _EXPECTED) from None
        devices = page.get("results", [page]) if isinstance(page, dict) else page
        if not isinstance(devices, list) or not all(isinstance(each, dict) and "id" in each for each in devices):
            raise InputError(Origin(name, line), "something else", _EXPECTED)
        if isinstance(page, dict) and isinstance(page.get("count"), int):
            counted = page["count"]
        given += len(devices)
        yield from devices
    if counted is not None and given < counted:
        raise InputError(Origin(name), f"{given} of {counted} devices", "all pages (?limit=0, or each page's 'next')")


def _next(text: str, at: int) -> int:
    """Give where the next document begins, from 1; 0 where none does."""
    found = re.compile(r"\S").search(text, at)
    return 0 if found is None else found.start() + 1


def _is_meant(device: Mapping[str, Any], source: Source) -> bool:
    return all(any(value in wanted for value in _values(device, path)) for path, wanted in (source.where or {}).items())


def _values(device: Any, path: str) -> list[str]:
    """Give what stands at a path; nothing where there is nothing."""
    found = [device]
    for step in path.split("."):
        inner = [each.get(step) for each in found if isinstance(each, dict)]
        found = [part for each in inner for part in (each if isinstance(each, list) else [each]) if part is not None]
    return [as_text(each) for each in found if not isinstance(each, dict)]


def _switch(device: Mapping[str, Any], source: Source, name: str) -> Switch:
    about = Origin(f"device '{device.get('name') or device['id']}' of {name}")

    def filled(template: str, *, path: bool = False, address: bool = False) -> list[str]:
        parts = _PATH.split(template)
        choices = [
            [part] if not index % 2 else [_fit(each, about, part, path, address) for each in _values(device, part)]
            for index, part in enumerate(parts)
        ]
        return ["".join(chosen) for chosen in product(*choices)]

    def one(template: str, *, path: bool = False, address: bool = False) -> str:
        found = filled(template, path=path, address=address)
        if len(found) != 1:
            lacking = [each for each in _PATH.findall(template) if not _values(device, each)]
            has = f"nothing at '{lacking[0]}'" if lacking else f"{len(found)} values"
            raise InputError(about, f"{has} for '{template}'", "one value there, or a 'where' that leaves it out")
        return found[0]

    values = {
        "name": one(source.name),
        "address": one(source.address, address=True),
        "policies": [one(each, path=True) for each in source.policies or ()],
        "groups": list(dict.fromkeys(group for each in source.groups for group in filled(each))),
    }
    return yaml_format.item_of(values, about, Switch)


def _fit(value: str, about: Origin, where: str, path: bool, address: bool) -> str:
    """Make a value fit its place: an address without the length of its prefix, a file's name without folders."""
    if path and ("/" in value or "\0" in value):
        raise InputError(about, f"'{value}' at '{where}'", "a part of a file's name, without '/'")
    if "/" in value:
        try:
            at = ip_interface(value).ip
        except ValueError:
            return value
        return f"[{at}]" if address and at.version == 6 else str(at)
    return value
