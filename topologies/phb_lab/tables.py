"""Tables for a terminal, without edges."""

from rich import box
from rich.table import Table


def plain(
    words: str, *numbers: str, folds: bool = False, title: str | None = None, caption: str | None = None
) -> Table:
    """Begin a table: a column of words, then columns of numbers to the right.

    Args:
        words: Head of the first column.
        numbers: Heads of the others.
        folds: Words that don't fit go on in the next line.
        title: Above it.
        caption: Below it.
    """
    table = Table(
        title=title,
        title_justify="left",
        caption=caption,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column(words, no_wrap=not folds, overflow="fold" if folds else "ellipsis")
    for number in numbers:
        table.add_column(number, justify="right", no_wrap=True)
    return table
