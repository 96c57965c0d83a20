"""One page of what policies do differently, for a change request: what changes for which packets, and what decides it.

The page is one file and asks for nothing: it has no script, and its content security policy lets nothing run. Names
and texts of policies are shown as text.
"""

from __future__ import annotations

import re
import shlex
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from hashlib import sha256
from math import ceil, log10
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from phb.comparing.telling import Comparison, Content, Document, Example, Place, Region, Side
from phb.visible import visible

_FOLDER: Final = Path(__file__).parent
_SUPERSCRIPTS: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def page(document: Document, who: str = "") -> str:
    """Give the page; `who` is who made the comparison, such as ``user@host``."""
    style = _style()
    digest = b64encode(sha256(style.encode()).digest()).decode()
    compared = [_Shown(comparison, number) for number, comparison in enumerate(document.comparisons, 1)]
    return _template().render(document=document, compared=compared, who=who, style=style, style_hash=f"sha256-{digest}")


@dataclass(frozen=True)
class _Shown:
    """A comparison as the page shows it."""

    told: Comparison
    number: int

    @property
    def weighted(self) -> bool:
        return bool(self.told.capture_bytes)

    @property
    def verdict(self) -> str:
        """Which of the three answers it is; differences count more than questions that are open."""
        return "alike" if self.told.alike else "different" if self.told.regions or self.told.more else "open"

    @property
    def answer(self) -> str:
        count, questions = len(self.told.regions) + self.told.more, len(self.told.open)
        parts = [f"{_counted(count, 'region of packets', 'regions of packets')} treated differently"] if count else []
        parts += [f"{_counted(questions, 'question', 'questions')} left open"] if questions else []
        return ", ".join(parts) or "Every packet is treated alike"

    def size(self, region: Region) -> str:
        if self.weighted and region.capture_bytes is not None:
            return f"{_percent(region.capture_bytes / (self.told.capture_bytes or 1))} of bytes"
        return f"{share_in_words(region.share)} of packets"

    def width(self, region: Region) -> float:
        """Give the length of a region's bar in percent: by bytes, or else by the logarithm of its size."""
        if self.weighted and region.capture_bytes is not None:
            return round(100 * region.capture_bytes / (self.told.capture_bytes or 1), 2)
        smallest = min((each.share for each in self.told.regions if each.share > 0), default=1.0)
        decades = max(3, ceil(-log10(smallest)) + 1)
        return round(100 * (1 + log10(region.share) / decades), 2) if region.share > 0 else 0.0


def share_in_words(share: float) -> str:
    """Give a share of all packets: in percent, or as one in so many."""
    if share >= 0.001 or share <= 0:
        return _percent(share)
    inverse = 1 / share
    if inverse < 1e6:
        return f"1 in {inverse:,.0f}"
    exponent = int(log10(inverse))
    return f"1 in {inverse / 10**exponent:.1f} × 10{str(exponent).translate(_SUPERSCRIPTS)}"


def parted(text: str, other: str) -> Iterator[tuple[str, bool]]:
    """Give a text in parts, and whether each is another one in the other text: words, as people compare them."""
    words, others = (re.findall(r"\s+|[^\s]+", each) for each in (text, other))
    for kind, first, last, _, _ in SequenceMatcher(None, words, others, autojunk=False).get_opcodes():
        if first < last:
            yield "".join(words[first:last]), kind != "equal"


def command(side: Side, example: Example) -> str:
    """Give the `phb explain` that tells about the example; empty of what isn't files."""
    names = [content.name for content in side.contents]
    if not names or not all(name in side.words for name in names):
        return ""
    at = ["--at", example.at] if example.at is not None else []
    return shlex.join(["phb", "explain", *names, "--packet", example.text, *at])


def _parts(region: Region) -> int:
    """Give how many parts there are beside the first."""
    return len(region.packets) - 1 + region.more_parts


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _counted(count: int, one: str, many: str) -> str:
    return f"1 {one} is" if count == 1 else f"{count:,} {many} are"


def _place(place: Place) -> str:
    where = f"{place.file}:{place.line}" if place.file and place.line else place.file
    where += f", line {place.statement_line}: {place.statement}" if place.statement else ""
    return " at ".join(part for part in (place.name, where) if part) or "nothing"


def _digest(content: Content) -> str:
    return " ".join(content.sha256[start : start + 16] for start in range(0, len(content.sha256), 16))


@cache
def _style() -> str:
    return (_FOLDER / "page.css").read_text("utf-8")


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    environment.globals.update(parted=parted, command=command, parts=_parts)
    environment.filters.update(place=_place, digest=_digest)
    return environment.get_template("page.html.j2")
