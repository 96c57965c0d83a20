"""The operations page: its document, style and scripts, which work offline and without a build.

Scripts are modules, each a file. A page with a recording in it has them in one script, after each other: so names are
exported once in all of them, and imports stand on lines of their own.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Final

__all__ = ["assets", "page_of"]

_FOLDER: Final = Path(__file__).parent
_SCRIPTS: Final = (
    "words.js", "store.js", "source.js", "chart.js", "figures.js", "layout.js", "network.js", "asked.js", "main.js",
)  # fmt: skip
_POLICY: Final = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; base-uri 'none'; form-action 'none'"
)


@cache
def assets() -> Mapping[str, tuple[str, bytes]]:
    """Give what a server answers with: by path, its type and bytes. ``/`` is the document."""
    document = _document(
        '<link rel="stylesheet" href="assets/page.css">', '<script type="module" src="assets/main.js"></script>'
    )
    found = {
        "/": ("text/html; charset=utf-8", document.encode()),
        "/assets/page.css": ("text/css; charset=utf-8", _read("page.css").encode()),
    }
    for name in _SCRIPTS:
        found[f"/assets/{name}"] = ("text/javascript; charset=utf-8", _read(name).encode())
    return MappingProxyType(found)


def page_of(recording: Iterable[str]) -> str:
    """Give one page that holds a recording and asks for nothing: it works from a file.

    Args:
        recording: lines of messages; the first is a `Hello` that has the recording's time.
    """
    packing = zlib.compressobj(6)
    packed = b"".join(packing.compress(f"{line.strip()}\n".encode()) for line in recording) + packing.flush()
    style, script = _read("page.css"), _script()
    policy = _POLICY.format(script=_hash(script), style=_hash(style))
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>'
    data = f'<script type="application/octet-stream" id="data">{b64encode(packed).decode()}</script>'
    return _document(head, f'{data}\n<script type="module">{script}</script>')


def _document(head: str, scripts: str) -> str:
    return Template(_read("page.html")).substitute(head=head, scripts=scripts)


def _script() -> str:
    # Modules can't import each other inside a page.
    whole = "".join(_read(name) for name in _SCRIPTS)
    return re.sub(r"^(?:import .*\n|export (?:default )?)", "", whole, flags=re.MULTILINE)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
