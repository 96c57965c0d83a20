"""The whole checklist: importing this module registers every check, in the order of the documents in the report."""

from __future__ import annotations

from importlib import import_module

from phb.errors import InputError
from phb.origin import Origin
from phb_conform.check import CHECKS, Check

MODULES = (
    "rfc2474",
    "rfc2475",
    "rfc2983",
    "rfc2597",
    "rfc3246",
    "rfc4594",
    "rfc2697",
    "rfc2698",
    "rfc4115",
    "rfc3168",
    "rfc7567",
    "rfc1812",
    "scheduling",
)
"""One per document: architecture and field first, then PHBs, meters, queues, and what phb promises by itself."""

for module in MODULES:
    import_module(f"phb_conform.{module}")


def select(wanted: list[str]) -> list[Check]:
    """Return checks by name or document; all if nothing is wanted.

    Documents may have a section (``RFC 2698``, ``rfc2698``, ``RFC 2698 3``); case doesn't count.

    Raises:
        InputError: One of them names no check.
    """
    if not wanted:
        return list(CHECKS)
    chosen: set[str] = set()
    for each in wanted:
        found = {check.name for check in CHECKS if _plain(each) in _words(check)}
        if not found:
            documents = ", ".join(dict.fromkeys(check.document for check in CHECKS))
            raise InputError(
                Origin("--only"), f"'{each}'", f"a check's name (phb conform --list), or one of {documents}"
            )
        chosen |= found
    return [check for check in CHECKS if check.name in chosen]


def _words(check: Check) -> set[str]:
    return {_plain(word) for word in (check.name, check.document, f"{check.document} {check.section}")}


def _plain(text: str) -> str:
    return text.lower().replace(" ", "")
