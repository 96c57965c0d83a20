"""The s390 network with objectives for its interactive traffic: FIFO does not achieve them, WFQ does."""

import asyncio
import itertools
import json
import urllib.request
from pathlib import Path

import pytest
from jsonschema import validate
from monitor.snmp.daemons import running, until
from prometheus_client.parser import text_string_to_metric_families

import phb_examples
import phb_lab
from phb.monitor.metrics import serve
from phb.monitor.snmp import SnmpTaker
from phb_lab.cli import app
from phb_lab.errors import UsageError
from phb_lab.experiment import run_test
from phb_lab.levels import Asked
from phb_lab.networks.s390 import STUDY

OBJECTIVES = Path(phb_examples.__file__).parent / "s390" / "c7513-objectives.yaml"
FIFO, WFQ = "diffserv-fifo-cip", "diffserv-wfq-cip"
# SLAPM-MIB (RFC 2758): what a policy rule was to get isn't achieved; the delay of each monitor.
SLAPM = ".1.3.6.1.3.88"
NOT_OKAY = f"OID: {SLAPM}.0.7"
MONITORED_DELAY = f"{SLAPM}.1.2.6.1.21"
MARKS = itertools.count(1)
BOUNDS = {"mean-delay": 0.5, "delay-percentile": 2.0}


class Hopping:
    """Takes observations in the thread of a run, and hands them to takers of an event loop."""

    def __init__(self, loop, *takers):
        self.loop, self.takers = loop, takers

    def take(self, observation):
        for taker in self.takers:
            self.loop.call_soon_threadsafe(taker.take, observation)


@pytest.fixture(scope="module")
def daemons(tmp_path_factory):
    with running(tmp_path_factory.mktemp("snmp")) as found:
        yield found


async def until_now(daemons):
    """Traps that snmptrapd has got from agents of ours, up to one that is sent last."""
    mark = f".1.3.6.1.3.9999.0.{next(MARKS)}"
    place = f"127.0.0.1:{daemons.trap_port}"
    sent = await asyncio.create_subprocess_exec(
        "snmptrap", "-v2c", "-c", "public", place, "", mark, env=daemons.environment
    )
    assert await sent.wait() == 0
    await until(lambda: mark in daemons.traps.read_text(), "the last trap")
    return [line for line in daemons.traps.read_text().splitlines() if f"OID: {SLAPM}." in line]


async def watched(test, daemons):
    """Run a test before a real snmpd and a page of metrics; give the run, traps, delays by SNMP in ms, and the page."""
    before = len(await until_now(daemons))
    agent = SnmpTaker(daemons.socket, {"c7513": "127.0.0.1:9559"}, lambda words: None)
    task = asyncio.create_task(agent.run())
    try:
        await until(lambda: agent.connected, "a session")
        async with serve("127.0.0.1:0", ["c7513"]) as metrics:
            asked = Asked((OBJECTIVES,), (Hopping(asyncio.get_running_loop(), agent, metrics),))
            run = await asyncio.to_thread(run_test, STUDY, STUDY.find_test(test), duration_s=30, levels=asked)
            # snmpd has sent every notification before it answers.
            lines = await daemons.ask("snmpwalk", MONITORED_DELAY)
            traps = await until_now(daemons)
            url = f"http://{metrics.address}/metrics"
            page = await asyncio.to_thread(lambda: urllib.request.urlopen(url, timeout=60).read().decode())
    finally:
        task.cancel()
        await asyncio.wait([task])
    return run, traps[before:], [int(line.rpartition(" ")[2]) for line in lines], page


def samples(page, family):
    """Those of a family, by measure and state."""
    families = {each.name: each for each in text_string_to_metric_families(page)}
    return {(each.labels["measure"], each.labels.get("state")): each for each in families[family].samples}


@pytest.mark.parametrize(("test", "achieved"), [(FIFO, False), (WFQ, True)])
async def test_fifo_does_not_achieve_what_wfq_does(daemons, test, achieved):
    """By the run's own words, by a trap that snmptrapd got and a row that snmpd tells, and by Prometheus' metrics."""
    run, traps, shown_ms, page = await watched(test, daemons)
    assert {str(bound.measure): bound.bound / 1000 for bound in run.levels.bounds} == BOUNDS
    for bound in run.levels.bounds:
        assert (bound.achieved, len(bound.points), bound.kept) == (achieved, 3, 3 if achieved else 0)

    assert [NOT_OKAY in trap for trap in traps] == ([] if achieved else [True])
    (mean_ms,) = [value for each in run.levels.bounds if each.percentile is None for _, value, _ in each.points[-1:]]
    assert shown_ms == [pytest.approx(mean_ms, abs=1)]

    states = samples(page, "phb_objective_state")
    delays = samples(page, "phb_objective_delay_seconds")
    for measure, bound_s in BOUNDS.items():
        assert states[measure, "not-achieved"].value == (not achieved)
        assert states[measure, "okay"].value == achieved
        assert (delays[measure, None].value < bound_s) is achieved
        assert delays[measure, None].labels["name"] == "interactive"


def test_on_the_command_line(tmp_path):
    told = {}
    for name, options in {"with": ["--objectives", str(OBJECTIVES)], "without": []}.items():
        path = tmp_path / f"{name}.json"
        command = ["run", "s390", "--test", FIFO, "--duration", "30", "--no-extra", "--json", str(path)]
        assert app([*command, *options, "--out", str(tmp_path / name)], standalone_mode=False) in (0, None)
        told[name] = json.loads(path.read_text())
    schema = json.loads((Path(phb_lab.__file__).parent / "data" / "run-results.schema.json").read_text())
    validate(told["with"], schema)
    (mean, percentile) = told["with"].pop("levels")[FIFO]
    assert (mean["achieved"], percentile["achieved"], percentile["percentile"]) == (False, False, 95)
    assert (tmp_path / "with" / f"levels-{FIFO}.svg").exists()
    # Objectives change nothing else.
    for each in told.values():
        del each["wall_s"]
        each["tests"][0]["policies"]["c7513"] = each["tests"][0]["policies"]["c7513"][:3]
    assert told["with"] == told["without"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("phb: 1\nclasses: [{name: a}]\n", "found no node, expected a switch of s390/diffserv-fifo-cip: mvs074, "),
        ("phb: 1\nnode: far\n", "found node 'far', expected a switch"),
        ("phb: 1\nnode: c7513\nclasses: [{name: a}]\n", "found no objectives, expected some"),
    ],
)
def test_files_that_ask_for_nothing(tmp_path, text, message):
    path = tmp_path / "o.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        run_test(STUDY, STUDY.find_test(FIFO), duration_s=10, levels=Asked((path,)))


def test_policies_without_objectives():
    with pytest.raises(UsageError, match="s390/diffserv-fifo-cip: found no objectives in its policies"):
        run_test(STUDY, STUDY.find_test(FIFO), duration_s=10, levels=Asked())
