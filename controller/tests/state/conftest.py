"""A place for a state in each kind of database."""

import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a state may be made."""
    return str(tmp_path / "state.sqlite") if request.param == "sqlite" else request.getfixturevalue("database")
