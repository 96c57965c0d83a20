"""The tables of docs/inside/scheduling.md are what this tree measures; PHB_RECORD=1 writes them anew."""

import os
from pathlib import Path

from phb_conform import scheduling_tables

DOCUMENT = Path(__file__).parents[4] / "docs" / "inside" / "scheduling.md"


def test_the_tables_are_what_this_tree_measures(device):
    document = DOCUMENT.read_text()
    measured = scheduling_tables.rewrite(document, scheduling_tables.measure(device))
    if os.environ.get("PHB_RECORD"):
        DOCUMENT.write_text(measured)
    assert DOCUMENT.read_text() == measured
