"""Commands of other packages, by entry points."""

import sys
from importlib.metadata import EntryPoint

import pytest

from phb.cli import plugins
from phb.cli.application import app


@pytest.fixture
def plug(monkeypatch):
    """Register entry points, as if a package that has them were installed; forget their commands afterwards."""
    before = list(app.registered_commands)

    def load(**points):
        found = [EntryPoint(name, value, plugins.GROUP) for name, value in points.items()]
        monkeypatch.setattr(plugins, "entry_points", lambda group: found if group == plugins.GROUP else [])
        return plugins.load()

    yield load
    app.registered_commands[:] = before


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module that can be imported."""

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


GOOD = """
from phb.cli.application import app

@app.command("greet")
def greet(name: str) -> None:
    "Greet somebody."
    print("hello", name)
"""


def test_a_command_of_another_package(plug, module, phb):
    assert plug(greet=module("greeting", GOOD)) == ("greet",)
    assert phb("greet", "you") == (0, "hello you\n", "")
    assert "Greet somebody." in phb("--help")[1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "ModuleNotFoundError: No module named 'gone'"),
        ("import nothing_such", "ModuleNotFoundError: No module named 'nothing_such'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise RuntimeError('two\\nlines')", "RuntimeError: two"),
    ],
)
def test_a_broken_one_is_one_error_of_its_own(plug, module, phb, text, reason):
    name = module("ill", text) if text else "gone"
    plug(ill=name, greet=module("greeting", GOOD))
    code, out, err = phb("ill", "--frobnicate", "x")
    assert (code, out, err) == (1, "", f"phb: command 'ill' is broken: {name}: {reason}\n")
    assert phb("greet", "you")[0] == 0
    assert phb("--help")[0] == 0


def test_the_installed_ones_are_loaded():
    from phb.cli.commands import PLUGINS

    assert "conform" in PLUGINS
