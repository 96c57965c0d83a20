"""Secret keys of a switch: drawn once, kept, undone with what they came with, and shown to nobody."""

import asyncio
from datetime import datetime
from random import Random

import pytest

import phb
from phb.errors import SwitchError

AT = datetime(1999, 3, 1, 12, 0)


def keys(switch):
    policies = [id(entry) for entry in switch.of_policies]
    return {entry.SerializeToString(deterministic=True) for entry in switch.table.values() if id(entry) not in policies}


def push(switch, files, **options):
    return asyncio.run(phb.push(switch.address, files, at=AT, **options))


@pytest.fixture
def files(examples):
    return [examples / "c3640.yaml"]


@pytest.mark.parametrize("atomic", [True, False])
def test_a_push_draws_keys_once(start_switch, files, examples, artifact, atomic):
    switch = start_switch(atomic=atomic)
    push(switch, files)
    drawn = keys(switch)
    assert len(drawn) == 5
    tables = {entry.table_id for entry in switch.table.values()}
    assert tables >= {artifact.table(name).number for name in artifact.key_tables}
    push(switch, [examples / "c7513.yaml", examples / "c7513-routes-cip.yaml", examples / "c7513-wfq.yaml"])
    assert keys(switch) == drawn


def test_every_switch_has_keys_of_its_own(start_switch, files):
    switches = [start_switch(), start_switch()]
    for switch in switches:
        push(switch, files)
    first, second = map(keys, switches)
    assert not first & second


def test_a_seed_gives_the_same_keys(start_switch, files):
    switches = [start_switch(), start_switch()]
    for switch in switches:
        asyncio.run(phb.push(switch.address, files, at=AT, draw=Random(7).getrandbits))
    first, second = map(keys, switches)
    assert first == second


def test_keys_are_no_change_and_no_plan_draws_them(start_switch, files):
    switch = start_switch()
    assert all("_key" not in changed.entry.table for changed in push(switch, files, dry_run=True).changes)
    assert switch.table == {}
    assert all("_key" not in changed.entry.table for changed in push(switch, files).changes)
    assert push(switch, files).changes == ()


def test_a_refused_push_leaves_no_keys(start_switch, files):
    switch = start_switch(atomic=False)
    push(switch, files, draw=None)
    before = dict(switch.table)
    assert keys(switch) == set()
    refused = iter([False] * 3 + [True] + [False] * 99)
    switch.refuse = lambda update: "no room" if next(refused) else None
    with pytest.raises(SwitchError, match="the switch is as it was"):
        push(switch, files)
    assert switch.table == before


def test_what_is_shown_of_a_key_is_that_it_is_one(start_switch, files, artifact):
    switch = start_switch()
    push(switch, files)
    shown = [str(entry) for entry in asyncio.run(phb.read_entries(switch.address, artifact=artifact))]
    secret = [line for line in shown if "_key" in line]
    assert len(secret) == 5
    assert all("key0=secret" in line and "key3=secret" in line for line in secret)
