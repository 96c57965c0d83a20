"""Pushing: only differences are written, and a refusal leaves the switch as it was."""

import asyncio
from datetime import datetime

import grpc
import pytest
from finsy.proto import p4r

import phb
from phb import Change, SwitchError, Target
from phb.pipeline_names import REASONS_PER_POLICY

AT = datetime(1999, 3, 1, 12, 0)


@pytest.fixture
def wfq(examples):
    return [examples / name for name in ("c7513.yaml", "c7513-routes-cip.yaml", "c7513-wfq.yaml")]


@pytest.fixture
def fifo(examples):
    return [examples / name for name in ("c7513.yaml", "c7513-routes-osa2.yaml", "c7513-fifo.yaml")]


def push(switch, files, **options):
    return asyncio.run(phb.push(switch.address, files, at=AT, **options))


def wanted_keys(files, artifact):
    intent = phb.load_intent(files, artifact, at=AT)
    return {artifact.message(artifact.encode(entry)).SerializeToString(deterministic=True) for entry in intent.entries}


def held(switch):
    return {entry.SerializeToString(deterministic=True) for entry in switch.of_policies}


def changes(report):
    return {change.value: report.count(change) for change in Change}


def test_first_push_loads_program_and_entries(start_switch, wfq, artifact):
    switch = start_switch()
    report = push(switch, wfq)
    assert report.pipeline_replaced
    assert changes(report) == {"insert": 14, "modify": 0, "delete": 0}
    assert switch.config.cookie.cookie == artifact.cookie
    assert held(switch) == wanted_keys(wfq, artifact)
    assert [write.atomicity for write in switch.writes] == [p4r.WriteRequest.DATAPLANE_ATOMIC]


def test_second_push_writes_nothing(start_switch, wfq):
    switch = start_switch()
    push(switch, wfq)
    report = push(switch, wfq)
    assert not report.pipeline_replaced
    assert report.changes == ()
    assert report.unchanged == 14
    assert len(switch.writes) == 1


def test_only_the_difference_is_written(start_switch, wfq, fifo, artifact):
    switch = start_switch()
    push(switch, wfq)
    report = push(switch, fifo)
    # The route to the VIPA, the scheduler and its limits change; the eight weights go.
    assert changes(report) == {"insert": 0, "modify": 3, "delete": 8}
    assert held(switch) == wanted_keys(fifo, artifact)
    origins = {changed.origin.file.rpartition("/")[2] for changed in report.changes if changed.change is Change.MODIFY}
    assert origins == {"c7513-routes-osa2.yaml", "c7513-fifo.yaml"}


def test_padded_byte_strings_are_no_difference(start_switch, wfq):
    switch = start_switch(padded=True)
    push(switch, wfq)
    assert push(switch, wfq).changes == ()


def test_program_is_compared_by_content_without_a_cookie(start_switch, wfq):
    switch = start_switch(keeps_cookie=False)
    push(switch, wfq)
    assert not push(switch, wfq).pipeline_replaced


def test_dry_run_writes_nothing(start_switch, wfq):
    switch = start_switch(primary=False)
    report = push(switch, wfq, dry_run=True)
    assert report.dry_run
    assert report.pipeline_replaced
    assert report.count(Change.INSERT) == 14
    assert switch.config is None
    assert switch.writes == []


def refuse_limit(update):
    # buffer.port_limit, wherever in the batch it stands.
    is_limit = update.entity.table_entry.table_id == 43620323
    return "table is full, says the switch" if is_limit and update.type != p4r.Update.DELETE else None


@pytest.mark.parametrize(
    ("atomic", "refused"),
    [(True, "modify buffer.port_limit profile=1"), (False, "insert buffer.port_limit profile=2")],
)
def test_refused_entry_leaves_the_switch_as_it_was(start_switch, wfq, fifo, atomic, refused):
    switch = start_switch(atomic=atomic)
    push(switch, wfq)
    before = held(switch)
    switch.refuse = refuse_limit
    with pytest.raises(SwitchError) as caught:
        push(switch, fifo)
    assert held(switch) == before
    assert caught.value.refusals == (
        f"{refused} -> set_limits(hold_queue_packets=150, conversation_packets=0): "
        "RESOURCE_EXHAUSTED: table is full, says the switch",
    )
    assert str(caught.value).startswith(f"{switch.address}: the switch refused: UNKNOWN: some updates failed")
    assert "the switch is as it was" in str(caught.value)


@pytest.mark.parametrize("atomic", [True, False])
def test_refused_entry_brings_the_old_program_back(start_switch, wfq, atomic):
    switch = start_switch(atomic=atomic)
    push(switch, wfq)
    old = p4r.ForwardingPipelineConfig()
    old.CopyFrom(switch.config)
    old.p4_device_config += b" "
    old.cookie.cookie += 1
    switch.config = old
    before = held(switch)
    inserts = iter(range(100))
    switch.refuse = lambda update: "no" if next(inserts) == 5 else None
    with pytest.raises(SwitchError, match="the switch is as it was"):
        push(switch, wfq)
    assert switch.config == old
    assert held(switch) == before


def test_refusal_on_a_switch_without_program_leaves_no_entries(start_switch, wfq):
    switch = start_switch(atomic=False)
    inserts = iter(range(100))
    switch.refuse = lambda update: "no" if next(inserts) == 5 else None
    with pytest.raises(SwitchError, match="ran no program before and now runs ours, without entries"):
        push(switch, wfq)
    assert switch.table == {}


def test_refused_program_changes_nothing(start_switch, wfq):
    switch = start_switch(refuse_config="I don't know this architecture")
    with pytest.raises(SwitchError, match="I don't know this architecture; the switch runs no program, as before"):
        push(switch, wfq)
    assert switch.config is None


def test_undo_that_is_refused_is_told(start_switch, wfq, fifo):
    switch = start_switch(atomic=False)
    push(switch, wfq)
    updates = iter(range(1000))
    switch.refuse = lambda update: "no" if next(updates) >= 2 else None
    with pytest.raises(SwitchError, match="what was already written could not be undone"):
        push(switch, fifo)


def test_entries_that_read_back_differently_are_undone(start_switch, wfq, fifo):
    switch = start_switch()
    push(switch, fifo)
    before = held(switch)
    switch.forget = lambda entry: entry.table_id == 41968729  # schedule.weight
    with pytest.raises(SwitchError, match="accepted every entry, but 8 read back differently") as caught:
        push(switch, wfq)
    assert held(switch) == before
    assert caught.value.refusals[0].startswith("insert would be needed: schedule.weight profile=1 precedence=0")


def test_backup_controller_may_not_push(start_switch, wfq):
    switch = start_switch(primary=False)
    message = r"election id 99, ours is 1 \(You are backup\): stop it, or take over with election id 100"
    with pytest.raises(SwitchError, match=message):
        push(switch, wfq)


def test_switch_that_says_nothing(start_switch, wfq, monkeypatch):
    monkeypatch.setattr("phb.device.stream.ARBITRATION_TIMEOUT", 0.1)
    switch = start_switch(silent=True)
    with pytest.raises(SwitchError, match=r"no answer to arbitration within 0\.1 s"):
        push(switch, wfq)


def test_switch_that_is_not_there():
    with pytest.raises(SwitchError, match=r"127\.0\.0\.1:1: the switch can't be reached"):
        asyncio.run(phb.read_entries("127.0.0.1:1"))


def test_several_switches_at_once(start_switch, examples, wfq):
    switches = [start_switch() for _ in range(3)]
    files = [wfq, [examples / "c3640.yaml"], wfq]
    reports = asyncio.run(
        phb.push_all([Target(switch.address, policy) for switch, policy in zip(switches, files, strict=True)], at=AT)
    )
    assert [report.node for report in reports] == ["c7513", "c3640", "c7513"]
    assert [len(switch.of_policies) for switch in switches] == [14, 6, 14]


def test_one_failing_switch_does_not_stop_the_others(start_switch, wfq):
    good, bad = start_switch(), start_switch(refuse_config="no")
    with pytest.raises(SwitchError, match=bad.address):
        asyncio.run(phb.push_all([Target(bad.address, wfq), Target(good.address, wfq)], at=AT))
    assert len(good.of_policies) == 14


def test_wrong_file_changes_no_switch(start_switch, wfq, write_file):
    switch = start_switch()
    wrong = write_file("wrong.yaml", "phb: 1\nroutez: []\n")
    with pytest.raises(phb.InputError):
        asyncio.run(phb.push_all([Target(switch.address, wfq), Target(switch.address, [wrong])], at=AT))
    assert switch.config is None


def test_counters(start_switch, artifact):
    number = artifact.counter("policy_traffic").number
    switch = start_switch(counters={number: {4: (3, 4362), 0: (1, 60), 8: (0, 0)}})
    switch.hold_policy(artifact, 1)
    counters = asyncio.run(phb.read_counters(switch.address, ["policy_traffic", "policy_drops"]))
    assert counters == {
        "policy_traffic": {0: phb.CounterValue(1, 60), 4: phb.CounterValue(3, 4362)},
        "policy_drops": {},
    }


def test_entries_of_another_program(start_switch):
    switch = start_switch()
    with pytest.raises(SwitchError, match="runs another program than the artifact, or none"):
        asyncio.run(phb.read_entries(switch.address))


def test_lost_switch_is_one_error(start_switch, wfq):
    switch = start_switch()

    def crash(update):
        raise grpc.RpcError

    switch.refuse = crash
    with pytest.raises(SwitchError, match="the switch refused: UNKNOWN"):
        push(switch, wfq)


@pytest.mark.parametrize("atomic", [True, False])
def test_a_number_that_a_new_rule_gets_counts_from_zero(start_switch, examples, artifact, atomic):
    traffic, drops = (artifact.counter(name).number for name in ("policy_traffic", "policy_drops"))
    switch = start_switch(atomic=atomic)
    push(switch, [examples / "c3640.yaml"])
    # Policy 1 has counted for a rule that is gone; policy 0 stands for packets that no rule takes.
    switch.counters = {
        traffic: {0: (9, 900), 4: (3, 300), 5: (2, 200)},
        drops: {REASONS_PER_POLICY + 8: (1, 100), 8: (1, 100)},
    }
    push(switch, [examples / name for name in ("mvs074.yaml", "mvs074-osa2.yaml", "policy-agent-diffserv-osa2.conf")])
    assert switch.counters == {traffic: {0: (9, 900)}, drops: {8: (1, 100)}}


def test_progress_is_told(start_switch, wfq, fifo):
    switch = start_switch(atomic=False)
    push(switch, wfq)
    told = []

    async def again():
        intent = phb.load_intent(fifo, artifact := phb.Artifact.load(), at=AT)
        return await phb.push_intent(switch.address, intent, artifact, watcher=told.append)

    report = asyncio.run(again())
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)
    assert told[-1].done == told[-1].total == report.written
    assert [progress.phase for progress in told if progress.phase == "flip"] == ["flip"]
