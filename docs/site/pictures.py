"""Pictures of the architecture, one for each part: ``python -m docs.site.pictures`` writes them anew.

A picture is rows of boxes (pictures.toml). In pictures of code a row uses those below it; in those of a way, each box
follows the one before it. Tests compare the names with the tree's files and folders.
"""

from __future__ import annotations

import textwrap
import tomllib
from html import escape
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "pictures" / "architecture"
_WIDTH, _LABEL, _LINE = 960, 118, 17
_TINTS = ("#e8eefc", "#e6f4ea", "#fef3dc", "#f6e8f5", "#e4f3f6", "#f1efe9")
_STYLE = (
    "text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#333}"
    "text.name{font-weight:600;font-size:15px;fill:#111}text.label{font-size:12px;fill:#666}"
    "path{stroke:#777;stroke-width:1.5;fill:none;marker-end:url(#end)}rect.box{stroke:#9aa3b5}"
)


PICTURES = tomllib.loads(Path(__file__).with_name("pictures.toml").read_text(encoding="utf-8"))


def draw(picture: dict[str, Any]) -> str:
    """Return a picture as SVG."""
    parts, top = [], 16
    previous: tuple[float, float] | None = None
    gap = 28 if picture["way"] else 14
    for number, row in enumerate(picture["rows"]):
        boxes = row["boxes"]
        width = (_WIDTH - _LABEL - 16 - gap * (len(boxes) - 1)) / len(boxes)
        words = [textwrap.wrap(says, int((width - 20) / 7.0)) for says in boxes.values()]
        height = 34 + _LINE * max(map(len, words))
        parts.append(f'<text class="label" x="16" y="{top + height / 2 + 4:.0f}">{escape(row["label"])}</text>')
        for place, (name, lines) in enumerate(zip(boxes, words, strict=True)):
            left = _LABEL + place * (width + gap)
            parts.append(
                f'<rect class="box" x="{left:.1f}" y="{top}" width="{width:.1f}" height="{height}" rx="7"'
                f' fill="{_TINTS[number % len(_TINTS)]}"/>'
                f'<text class="name" x="{left + 11:.1f}" y="{top + 22}">{escape(name)}</text>'
            )
            for line, text in enumerate(lines):
                parts.append(f'<text x="{left + 11:.1f}" y="{top + 41 + _LINE * line}">{escape(text)}</text>')
            if picture["way"]:
                if place:
                    parts.append(f'<path d="M{left - gap + 2:.1f} {top + height / 2:.1f}H{left - 3:.1f}"/>')
                elif previous:
                    x, y = previous
                    parts.append(f'<path d="M{x:.1f} {y:.1f}V{top - 13}H{left + width / 2:.1f}V{top - 3}"/>')
                previous = (left + width / 2, top + height + 1)
        if not picture["way"] and number:
            parts.append(f'<path d="M{(_LABEL + _WIDTH - 16) / 2:.1f} {top - 23}V{top - 4}"/>')
        top += height + 26
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top - 10}" role="img">\n'
        f"<title>{escape(picture['title'])}</title>\n<style>{_STYLE}</style>\n"
        '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" style="fill:#777;stroke:none;marker-end:none"/></marker></defs>\n'
        f'<rect width="{_WIDTH}" height="{top - 10}" rx="10" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(picture), encoding="utf-8")
