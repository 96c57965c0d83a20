"""simple_switch_CLI's commands for multicast and mirroring as groups and sessions of the switch."""

import pytest

from phb_switch.stf.replication import Replication
from phb_switch.stf.statements import StatementError


class Plane:
    """Changes that can be compared."""

    def multicast_group(self, group, replicas):
        return ("group", group, replicas)

    def clone_session(self, session, replicas):
        return ("session", session, replicas)


@pytest.fixture
def updates():
    made = Replication(Plane())

    def updates(text):
        name, *words = text.split()
        return made.command(name, tuple(words))

    return updates


def test_commands_become_changes_of_groups_and_sessions(updates):
    steps = [
        ("mc_mgrp_create 7", [("group", 7, [])]),
        ("mc_node_create 40 4 5", []),
        ("mc_node_create 50 6", []),
        ("mc_node_associate 7 0", [("group", 7, [(4, 40), (5, 40)])]),
        ("mirroring_add_mc 2 7", [("session", 2, [(4, 40), (5, 40)])]),
        # What is done to a group, is done to the sessions that lead to it.
        (
            "mc_node_associate 7 1",
            [("group", 7, [(4, 40), (5, 40), (6, 50)]), ("session", 2, [(4, 40), (5, 40), (6, 50)])],
        ),
        ("mc_node_update 0 8", [("group", 7, [(8, 40), (6, 50)]), ("session", 2, [(8, 40), (6, 50)])]),
        ("mc_node_dissociate 7 1", [("group", 7, [(8, 40)]), ("session", 2, [(8, 40)])]),
        ("mirroring_add 3 9", [("session", 3, [(9, 0)])]),
        ("mirroring_get 3", []),
        ("mc_node_destroy 0", [("group", 7, []), ("session", 2, [])]),
        ("mirroring_add 2 1", [("session", 2, [(1, 0)])]),
        ("mirroring_delete 2", [("session", 2, None)]),
        ("mc_mgrp_destroy 7", [("group", 7, None)]),
        ("mc_node_create 60", []),
    ]
    assert [(text, updates(text)) for text, _ in steps] == steps


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mirroring_add 32768 1", "found 32768, expected a number from 0 to 2^15 - 1"),
        ("mirroring_add 1 512", "found 512, expected a number from 0 to 2^9 - 1"),
        ("mirroring_get 1", "found session 1, expected one of: there is none"),
        ("mirroring_delete 1", "found session 1, expected one of: there is none"),
        ("mc_mgrp_create x", "found 'x', expected a number"),
        ("mc_node_associate 1 0", "found group 1, expected one of: there is none"),
        ("mc_node_update 0 1", "found node 0, expected one of: there is none"),
        ("mc_node_create 1 2 | 3", "found '|', but link aggregation groups"),
    ],
)
def test_what_does_not_exist_or_fit_is_refused(updates, text, message):
    with pytest.raises(StatementError) as error:
        updates(text)
    assert message in str(error.value)


def test_a_group_is_made_once_and_has_only_its_nodes(updates):
    updates("mc_mgrp_create 1")
    with pytest.raises(StatementError, match="found group 1, which exists already"):
        updates("mc_mgrp_create 1")
    updates("mc_node_create 1 2")
    with pytest.raises(StatementError, match="found node 0, which group 1 doesn't have"):
        updates("mc_node_dissociate 1 0")
