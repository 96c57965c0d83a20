"""All commands, in the order in which ``phb --help`` lists them: importing a module registers its command."""

from __future__ import annotations

from phb.cli import check, convert, lint, plan, push, schema, show
from phb.cli.application import app

__all__ = ["app", "check", "convert", "lint", "plan", "push", "schema", "show"]
