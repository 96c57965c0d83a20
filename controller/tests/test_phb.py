"""The library's own face: every name is there, and importing it costs nothing."""

import subprocess
import sys

import pytest

import phb


@pytest.mark.parametrize("name", phb.__all__)
def test_every_name_is_where_it_is_looked_for(name):
    assert getattr(phb, name).__name__ == name or name == "Program"
    assert name in dir(phb)


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="module 'phb' has no attribute 'nothing'"):
        phb.nothing  # noqa: B018


def test_help_waits_for_no_heavy_import():
    program = "import sys; from phb.cli import run; run(['--help']); print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = set(result.stdout.splitlines()[-1].split())
    assert "typer" in modules
    assert not modules & {"grpc", "finsy", "pydantic", "yaml", "sqlite3", "sqlalchemy", "asyncio"}
