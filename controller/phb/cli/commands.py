"""All commands in the order of ``phb --help``, other packages' last; importing a module registers its command."""

from __future__ import annotations

from importlib import import_module

from phb.cli import plugins
from phb.cli.application import app

COMMANDS = (
    "check",
    "lint",
    "explain",
    "diff",
    "search",
    "verify",
    "plan",
    "push",
    "watch",
    "monitor",
    "top",
    "router",
    "inventory",
    "rollback",
    "history",
    "rollouts",
    "locks",
    "state",
    "show",
    "trace",
    "clear",
    "stamp",
    "accounting",
    "convert",
    "schema",
)

for command in COMMANDS:
    import_module(f"phb.cli.{command}")

PLUGINS = plugins.load()

__all__ = ["COMMANDS", "PLUGINS", "app"]
