"""No table of the program is there for nothing: each one that can be written is filled by some policy's entries."""

from datetime import datetime

import pytest

from controller.tests.test_golden import INPUTS
from phb.compiler import compile_policy
from phb.formats import read_files
from phb.references import VERSION_TABLE

AT = datetime(1999, 3, 1, 12, 0)


@pytest.fixture(scope="module")
def written(artifact):
    """Table and action of every entry of the golden policies."""
    entries = [entry for paths in INPUTS.values() for entry in compile_policy(read_files(paths), artifact, at=AT).entries]
    return {(entry.table, entry.action) for entry in entries}


def test_every_table_is_filled(artifact, written):
    tables = {name for name, table in artifact.tables.items() if not table.constant and table.fields}
    # The version is the push's: it is written with every one.
    assert tables - {VERSION_TABLE} - {table for table, _ in written} == set()


def test_every_action_is_used(artifact, written):
    """But for those that say what is done anyway, where a table has no entry."""
    tables = {name: table for name, table in artifact.tables.items() if not table.constant and table.fields}
    actions = {(name, action) for name, table in tables.items() for action in table.actions}
    defaults = {action.preamble.id: action.preamble.name.rpartition(".")[2] for action in artifact.p4info.actions}
    idle = {
        (table.preamble.name, defaults[table.initial_default_action.action_id or table.const_default_action_id])
        for table in artifact.p4info.tables
        if table.initial_default_action.action_id or table.const_default_action_id
    }
    missing = {each for each in actions - written - idle if each[1] != "NoAction"}
    assert missing == set()
