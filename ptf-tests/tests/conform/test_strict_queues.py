"""Figures of SP-PIFO in docs/inside/scheduling.md are those measured."""

from pathlib import Path

from phb_conform.strict_queues import markdown

DOCUMENT = Path(__file__).parents[3] / "docs" / "inside" / "scheduling.md"


def test_the_tables_in_the_documentation_are_what_is_measured():
    """Orders of service are compared with the model's on the way."""
    assert markdown() in DOCUMENT.read_text(), "paste the output of `python -m phb_conform.strict_queues`"
