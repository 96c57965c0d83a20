"""A controller that dies at any write leaves the old policy or the new one, and the next push cleans up."""

import asyncio
import itertools
import os
import signal
import subprocess
import sys
from datetime import datetime

import pytest
from targets import TARGETS, Proxy, running

import phb
from phb.device.references import References
from phb.device.session import Session
from phb.pushing.phases import Held
from phb.pushing.renumbering import renumber
from phb.pushing.transition import read

AT = datetime(2026, 1, 1, 12, 0)

COMMON = """
phb: 1
node: n
ports: [{name: one, number: 1}, {name: two, number: 2}]
cross-connects: [{between: [one, two]}]
"""
# Every rule, every mark and the queue differ, and one rule stays.
OLD = """
actions: [{name: a, set-tos: 4}, {name: b, set-tos: 8}]
rules:
  - {name: first, actions: [a], match: [{source-ports: 1000-1999}]}
  - {name: stays, actions: [b], match: [{source-ports: 5000}]}
  - {name: second, actions: [b], match: [{source-ports: 2000-2999}]}
"""
NEW = """
actions: [{name: a, set-tos: 128}, {name: b, set-tos: 8}, {name: c, set-tos: 132}]
rules:
  - {name: second, actions: [a], match: [{source-ports: 2000-2999}]}
  - {name: stays, actions: [b], match: [{source-ports: 5000}]}
  - {name: first, actions: [c], match: [{source-ports: 1000-1999}]}
  - {name: third, permission: blocked, match: [{source-ports: 7000}]}
"""


@pytest.fixture
def files(write_file):
    return write_file("old.yaml", COMMON + OLD), write_file("new.yaml", COMMON + NEW)


async def _held(address, artifact) -> Held:
    async with Session(address, 1, artifact) as session:
        return await read(session, References(artifact))


def held(address, artifact):
    return asyncio.run(_held(address, artifact))


def numberless(rows, artifact):
    """What packets meet, in the numbers of a fresh switch, so that two of them can be compared."""
    references = References(artifact)
    ordered = sorted(references.visible(rows.rows, rows.version), key=lambda row: (row.table, -row.priority, row.match))
    fresh = renumber(ordered, (), references, in_place=True)
    policies = {}
    for row in ordered:
        for space, number in references.given([row]):
            if space == "policy":
                policies.setdefault(number, len(policies) + 1)
    meanings = set()
    for row in fresh.rows:
        owner = references.owner(row)
        parameters = () if row.table in references.referring else row.parameters
        number = policies[owner[1]] if owner is not None and owner[0] == "policy" else row.match
        meanings.add((row.table, number, row.action, parameters))
    order = [(row.table, row.match) for row in ordered if row.table in references.referring]
    return meanings, order


def push_process(address, file, election_id):
    command = [sys.executable, "-m", "phb", "push", "--address", address, "--election-id", str(election_id)]
    command += ["--at", AT.isoformat(), file]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_at_every_write(target, moment, files, artifact):
    old, new = files
    elections = itertools.count(1)
    with running(target) as address:
        asyncio.run(phb.push(address, [new], at=AT, election_id=next(elections)))
        after = numberless(held(address, artifact), artifact)
        asyncio.run(phb.push(address, [old], at=AT, election_id=next(elections)))
        before = numberless(held(address, artifact), artifact)
        assert before != after
        for number in itertools.count(1):
            processes = []

            def kill(write, number=number, processes=processes):
                if write == number:
                    os.kill(processes[0].pid, signal.SIGKILL)

            with Proxy(address, **{moment: kill}) as proxy:
                processes.append(push_process(proxy.address, new, next(elections)))
                output, _ = processes[0].communicate(timeout=60)
            if processes[0].returncode != -signal.SIGKILL:
                break
            left = held(address, artifact)
            assert numberless(left, artifact) in (before, after)
            # Now that or the other policy, in turn.
            wanted, meant = (new, after) if number % 2 else (old, before)
            asyncio.run(phb.push(address, [wanted], at=AT, election_id=next(elections)))
            clean = held(address, artifact)
            assert numberless(clean, artifact) == meant
            assert set(clean.rows) == set(clean.visible(References(artifact)))
            asyncio.run(phb.push(address, [old], at=AT, election_id=next(elections)))
        assert processes[0].returncode == 0, output
        assert number > (2 if target == "phb-switch" else 5) - 1
        assert numberless(held(address, artifact), artifact) == after


@pytest.mark.parametrize("target", TARGETS)
def test_interrupted_at_every_write(target, files, artifact):
    """Ctrl-C: undone or completed, and which of the two is said."""
    old, new = files
    elections = itertools.count(1)
    said = set()
    with running(target) as address:
        asyncio.run(phb.push(address, [new], at=AT, election_id=next(elections)))
        after = numberless(held(address, artifact), artifact)
        for number in itertools.count(1):
            asyncio.run(phb.push(address, [old], at=AT, election_id=next(elections)))
            before = numberless(held(address, artifact), artifact)
            processes = []

            def interrupt(write, number=number, processes=processes):
                if write == number:
                    os.kill(processes[0].pid, signal.SIGINT)

            with Proxy(address, before=interrupt) as proxy:
                processes.append(push_process(proxy.address, new, next(elections)))
                output, _ = processes[0].communicate(timeout=60)
            if processes[0].returncode == 0:
                break
            assert processes[0].returncode == 130, output
            clean = held(address, artifact)
            assert set(clean.rows) == set(clean.visible(References(artifact)))
            if "the push was completed" in output:
                assert numberless(clean, artifact) == after
                said.add("completed")
            else:
                assert "interrupted; the switch is as it was" in output
                assert numberless(clean, artifact) == before
                said.add("undone")
    assert said == {"completed"} if target == "phb-switch" else {"completed", "undone"}
