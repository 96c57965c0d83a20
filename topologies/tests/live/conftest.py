from pathlib import Path

import pytest

import phb_lab


@pytest.fixture(scope="session")
def office():
    """A small network of two tests: what ``phb-lab new`` writes."""
    return str(Path(phb_lab.__file__).parent / "template")
