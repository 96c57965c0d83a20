"""No table of the program is there for nothing: each one that can be written is filled by some policy's entries."""

import pytest

from controller.tests.test_golden import INPUTS, compiled
from phb.formats import read_files


@pytest.fixture(scope="module")
def written(artifact):
    """Table and action of every entry of the golden policies."""
    entries = [entry for name, paths in INPUTS.items() for entry in compiled(name, read_files(paths), artifact).entries]
    return {(entry.table, entry.action) for entry in entries}


# What a packet meets where a table has no entry: nobody needs to write it.
WITHOUT_ENTRY = {"NoAction", "no_route", "allow", "transmit", "ask", "forget_lent"}


def test_every_table_is_filled_by_some_policy(artifact, written):
    tables = {name for name, table in artifact.tables.items() if not table.constant and table.fields}
    # Every push fills the keys, and `phb router` its own: they are none of a policy's.
    assert tables - {table for table, _ in written} == {*artifact.key_tables, *artifact.agent_tables}


def test_every_action_of_every_table_is_used_by_some_policy(artifact, written):
    actions = {
        (name, action)
        for name, table in artifact.tables.items()
        if not table.constant and table.fields and name not in (*artifact.agent_tables, *artifact.key_tables)
        for action in table.actions
        if action not in WITHOUT_ENTRY
    }
    assert actions == written
