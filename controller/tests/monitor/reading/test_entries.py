"""Entries are read again as far as they were written, and decoded as far as they are other ones."""

from datetime import datetime

import pytest

from phb.deploying import prepare
from phb.device.labels import labelled
from phb.device.references import VERSION_TABLE, References
from phb.errors import SwitchError
from phb.inventory import Switch as Place
from phb.monitor.reading import entries
from phb.monitor.reading.entries import Entries, OtherProgramError
from phb.monitor.reading.writes import Mark

DEFAULTS = {name: each.get_default() for name, each in Place.model_fields.items() if not each.is_required()}
POLICY = """
phb: 1
ports: [{number: 1, name: wan}]
classes: [{name: gold}]
actions: [{name: gold, class: gold}]
rules:
  - {name: first, match: {source: 10.0.0.0/8, protocol: udp, destination-ports: 5004}, actions: [gold]}
  - {name: second, match: {protocol: tcp, destination-ports: 80}, actions: [gold]}
queueing:
  - port: wan
    schedule: {kind: classes, queues: [{class: gold, level: 0, queue-limit: 30}]}
"""
RULES, QUEUES = "PhbIngress.classify.multi_field_ipv4", "PhbIngress.conversation.class_queue"


class Held:
    """A session with a switch that holds rows; `asked` has the tables of each read."""

    def __init__(self, artifact, rows):
        self.address, self.artifact, self.rows, self.runs = "192.0.2.1:9559", artifact, rows, True
        self.asked, self.also = [], None

    async def runs_artifact(self):
        return self.runs

    async def table_entries(self, defaults, tables):
        self.asked.append({*defaults, *tables})
        for row in self.rows:
            if self.artifact.table_names[row.table] in tables and not row.default:
                yield self.artifact.message(row)
        if self.also is not None:
            yield self.also


@pytest.fixture
def prepared(tmp_path, artifact):
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    place = Place.model_construct(**DEFAULTS, name="edge", address="127.0.0.1:1", policies=(str(path),))
    return prepare(place, artifact, at=datetime(2026, 11, 26, 12))


@pytest.fixture
def held(prepared, artifact):
    rows = [artifact.encode(entry) for entry in prepared.intent.entries]
    return Held(artifact, labelled(rows, prepared.intent, References(artifact)))


def marked(read, instance=1, **of):
    """Give a mark by which these tables were written so often, all others once."""
    names = {"rules": RULES, "queues": QUEUES, "version": VERSION_TABLE}
    ids = {read._session.artifact.table(names[name]).number: count for name, count in of.items()}
    return Mark(instance, tuple(ids.get(table, 1) for table in read.tables))


OLD = Mark(1, (5,))
"""Of a switch that doesn't tell tables apart."""


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {}, None),
        ({}, {"rules": 2}, {RULES}),
        ({}, {"queues": 2, "version": 3}, {QUEUES, VERSION_TABLE}),
        ({}, {"instance": 2}, "all"),
        ({}, OLD, "all"),
        (OLD, OLD, "all"),
        (OLD, {}, "all"),
        ({}, None, "all"),
        (None, {}, "all"),
    ],
)
async def test_tables_that_are_read_again(held, prepared, before, after, expected):
    read = Entries(held)
    marks = [marked(read, **mark) if isinstance(mark, dict) else mark for mark in (before, after)]
    first = await read.read(prepared, marks[0])
    assert {("first", ""), ("second", "")} < set(first.policies)
    assert set(first.queues.values()) == {"gold", "class-default"}
    everything = {held.artifact.table_names[table] for table in read.tables}
    assert held.asked == [everything]
    assert await read.read(prepared, marks[1]) is first
    assert held.asked[1:] == ([] if expected is None else [everything if expected == "all" else expected])


async def test_entries_that_are_other_ones_are_decoded(held, prepared, artifact, monkeypatch):
    decoded = []
    monkeypatch.setattr(entries, "named", lambda row, of, named=entries.named: decoded.append(row) or named(row, of))
    read = Entries(held)
    first = await read.read(prepared, marked(read))
    decoded.clear()
    at, old = next((at, row) for at, row in enumerate(held.rows) if b'"first"' in row.label)
    held.rows[at] = old._replace(label=old.label.replace(b'"first"', b'"other"'))
    assert await read.read(prepared, marked(read)) is first
    other = await read.read(prepared, marked(read, rules=2))
    assert decoded == [held.rows[at]]
    assert (("first", "") in other.policies, ("other", "") in other.policies) == (False, True)
    # One that has gone.
    del held.rows[at]
    gone = await read.read(prepared, marked(read, rules=3))
    assert ("other", "") not in gone.policies
    assert len(decoded) == 1


async def test_files_that_are_other_ones(held, prepared):
    read = Entries(held)
    await read.read(None, marked(read))
    assert (await read.read(prepared, marked(read))).ports == {1: "wan"}
    assert len(held.asked) == 1


async def test_many_entries(held, prepared, monkeypatch):
    monkeypatch.setattr(entries, "MANY", 1)
    assert ("first", "") in (await Entries(held).read(prepared)).policies


async def test_what_makes_no_sense(held, prepared, artifact):
    read = Entries(held)
    held.also = artifact.message(next(row for row in held.rows if row.table not in read._held))
    with pytest.raises(SwitchError, match="makes no sense"):
        await read.read(prepared)
    held.runs = False
    with pytest.raises(OtherProgramError):
        await read.read(prepared)
