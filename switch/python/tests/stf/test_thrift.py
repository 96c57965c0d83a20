"""Files do over Thrift what they say, as over P4Runtime; and what of Thrift's answers becomes which refusal."""

from pathlib import Path

import pytest

from phb_switch import PortConfig, Switch, ThriftServer
from phb_switch.stf import thrift
from phb_switch.stf.client import UnreachableError
from phb_switch.stf.compare import rows
from phb_switch.stf.parser import parse
from phb_switch.stf.plane import Entry
from phb_switch.stf.statements import StatementError
from phb_switch.stf.values import KeyMatch

PROGRAMS = Path(__file__).parents[3] / "programs"
FILES = sorted([*PROGRAMS.glob("*.stf"), *PROGRAMS.glob("older/*.stf")])


def artifact(stf: Path) -> str:
    beside = stf.with_suffix(".json")
    return (beside if beside.exists() else PROGRAMS / "build" / beside.name).read_text()


@pytest.mark.parametrize("stf", FILES, ids=lambda path: str(path.relative_to(PROGRAMS)))
def test_a_file_does_the_same_over_thrift(stf):
    outcome = thrift.run(artifact(stf), parse(stf))
    assert not outcome.failures, "\n".join(
        line for each in outcome.failures for line in (f"line {each.line}: {each.message}", *rows(each))
    )
    assert outcome.packets


@pytest.fixture
def plane():
    text = artifact(PROGRAMS / "table_exact.stf")
    switch = Switch("thrift", {1: PortConfig()})
    switch.load(text)
    with thrift.served(switch) as client:
        yield thrift.Thrift(client, text)


def test_what_is_refused_is_told_with_the_method_and_the_code(plane):
    table = next(each for each in plane.tables if each.keys)
    keys = tuple((name, KeyMatch("exact", b"\1")) for name, _, _ in table.keys)
    entry, action = Entry(table.name, keys, 0), next(each for each in table.actions if not each[1])[0]
    with pytest.raises(StatementError, match="has no such entry"):
        plane.write([plane.delete(entry)])
    plane.write([plane.insert(entry, action, [])])
    with pytest.raises(StatementError, match="bm_mt_add_entry is refused with code 17"):
        plane.write([plane.insert(entry, action, [])])
    plane.write([plane.delete(entry), plane.insert(entry, action, [])])


def test_a_server_that_is_gone_refuses_and_starts_once():
    server = ThriftServer(Switch("thrift", {}))
    client = thrift.ThriftClient(server.start())
    with pytest.raises(RuntimeError, match="serves already"):
        server.start()
    text = artifact(PROGRAMS / "counters.stf")
    gone = thrift.Thrift(client, text)
    server.stop()
    with pytest.raises(UnreachableError, match="bm_counter_read is not answered"):
        gone.read_counter(next(iter(gone.counters)), 0)
    client.close()
