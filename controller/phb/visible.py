r"""Text of others for a terminal: names of policies and files, words of switches and directories.

A terminal obeys control characters, a reader believes line breaks, and some characters turn the order of what stands
beside them. All that isn't printable is shown as its escape, such as ``\x1b``; JSON has escapes of its own.
"""

from __future__ import annotations

import re


def visible(text: str) -> str:
    """Give the text as one line that a terminal only shows; text that is so already stays the same.

    Escaped is what Unicode calls other (controls, formats such as those of directions, surrogates, private and
    unassigned characters) or a separator other than the space: `str.isprintable`.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def words(text: str) -> list[str]:
    """Give the words of a name for a format that has only printable ones, and no blanks in them."""
    return re.findall(r"\S+", "".join(letter if letter.isprintable() else " " for letter in text))
