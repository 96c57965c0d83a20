from dataclasses import replace

import pytest

from phb_lab import data_files
from phb_lab.errors import LabError
from phb_lab.experiment import run_test
from phb_lab.networks.osa import STUDY, description, evaluation, islands
from phb_lab.networks.osa.pictures import Bar, bars
from phb_lab.outcome import Outcome

SOURCE = STUDY.published


# Measured by tests that take longer than a test suite should; `phb-lab run osa` shows them.
SLOW = ("mixed_rr_tps_gain", "mixed_response_gain", "mixed_streaming_gain", "pure_streaming_gain_aix")


def describe(name):
    return STUDY.network(STUDY.find_test(name), seed=1, options=STUDY.defaults())


def measured(run):
    return {(figure.test, figure.quantity): figure.measured for figure in run.figures}


@pytest.mark.parametrize("test", STUDY.tests, ids=lambda test: test.name)
def test_wires_join_ports_that_exist_once_and_policy_files_are_there(test):
    network = STUDY.network(test, seed=1, options=STUDY.defaults())
    ports = {(switch.name, port.number) for switch in network.switches for port in switch.ports}
    ports |= {(host.name, 0) for host in network.hosts}
    ports |= {(adapter.name, port) for adapter in network.adapters for port in (0, 1)}
    ends = [end for wire in network.wires for end in (wire.a, wire.b)]
    assert len(ends) == len(set(ends))
    # a distributing stack has no TCP of its own here: nothing is behind its adapter
    assert ports - set(ends) == {(a.name, 0) for a in network.adapters if a.name.endswith("distributor")}
    assert all(path.is_file() for switch in network.switches for path in switch.policy_files)
    addresses = {flow.client_address for flow in network.flows} | {flow.server_address for flow in network.flows}
    assert addresses <= {address for host in network.hosts for address in host.addresses}


def test_the_two_sides_differ_only_in_what_is_compared():
    compared = {
        "lan-idle-rr1": {"lan_idle_ns", "interactive_idle_ns", "streaming_idle_ns", "idle_interval_ns"},
        "iwq-mixed": {"workload_queueing"},
        "iwq-streaming-zos": {"workload_queueing"},
        "outbound-priorities": {"priorities"},
        "accelerator": {"forward_ns"},
    }
    for name, keys in compared.items():
        first, second = [
            adapter.parameters
            for adapter in describe(name).adapters
            if adapter.name.endswith(("near-adapter", "distributor"))
        ]
        assert {key for key in first.keys() | second.keys() if first.get(key) != second.get(key)} == keys


def test_timers_sizes_and_queues_are_the_source_s():
    timers = SOURCE["dynamic_lan_idle"]["timer_us"]
    dynamic = islands.osa("dynamic")
    assert dynamic["interactive_idle_ns"] == timers["interactive"] * 1000
    assert dynamic["streaming_idle_ns"] == timers["streaming"] * 1000
    assert set(description.INBPERF) == set(SOURCE["inbperf"])
    assert SOURCE["dynamic_lan_idle"]["request_bytes"] == islands.REQUEST_BYTES
    assert SOURCE["dynamic_lan_idle"]["reply_bytes"] == islands.REPLY_BYTES


def test_every_published_gain_is_measured_by_some_test():
    run = {
        name: run_test(STUDY, STUDY.find_test(name)) for name in ("lan-idle-rr1", "lan-idle-rr10", "iwq-streaming-zos")
    }
    figures = {key: value for one in run.values() for key, value in measured(one).items()}
    gains = {
        (test, key) for test in evaluation.GAINS for key in SOURCE[test] if key.endswith(("_gain", "_aix", "_zos"))
    }
    others = {("inbound_workload_queueing", key) for key in SLOW}
    assert gains == {key for key in figures if key in gains} | others
    # what was calibrated and what was predicted within ten points stay so
    for name in ("lan-idle-rr1", "lan-idle-rr10"):
        assert all(figure.met for figure in run[name].figures)
    # without input queues of their own, packets of a stream overtake each other; with them, never
    assert figures["iwq-streaming-zos", "iwq.out_of_order"] == 0 < figures["iwq-streaming-zos", "dynamic.out_of_order"]
    assert figures["inbound_workload_queueing", "pure_streaming_gain_zos"] > 0
    missed = [figure for figure in run["iwq-streaming-zos"].figures if figure.met is False]
    assert len(STUDY.conclusions([run["iwq-streaming-zos"]], [])) == len(missed)


def test_priority_queues_protect_the_classes_that_the_policy_names():
    figures = measured(run_test(STUDY, STUDY.find_test("outbound-priorities")))
    of = {quantity: value for (_, quantity), value in figures.items()}
    assert of["mapped.queue1.lost"] == of["mapped.queue2.lost"] == 0 < of["mapped.queue3.lost"]
    assert (
        of["mapped.queue1.delay"] < of["mapped.queue2.delay"] < of["one-queue.queue1.delay"] < of["mapped.queue3.delay"]
    )
    assert of["one-queue.queue1.lost"] == pytest.approx(of["one-queue.queue3.lost"], abs=0.01)


def test_the_accelerator_takes_work_from_the_distributor():
    figures = measured(run_test(STUDY, STUDY.find_test("accelerator")))
    of = {quantity: value for (_, quantity), value in figures.items()}
    saved = of["stack.processor_us_per_packet"] - of["accelerator.processor_us_per_packet"]
    forward = [data_files.adapters()[kind]["forward_ns"] for kind in ("osa", "osa_accelerated")]
    assert saved == pytest.approx((forward[0] - forward[1]) / 1000, rel=0.01)


def test_right_sizing_makes_a_long_path_faster():
    figures = measured(run_test(STUDY, STUDY.find_test("right-sizing")))
    assert figures["right-sizing", "times"] > SOURCE["dynamic_right_sizing"]["throughput_gain"]


def test_a_run_that_completes_nothing_says_so():
    nothing = Outcome((), (), (), {}, {}, {}, 0.0)
    with pytest.raises(LabError, match="static: no transaction"):
        evaluation.asked(nothing, "static")


def test_pictures_have_a_bar_for_each_side(tmp_path):
    found = [Bar("DYNAMIC", "RR", "transactions/s", 1.0), Bar("IWQ", "RR", "transactions/s", 2.0)]
    found.append(replace(found[0], workload="STR", unit="MB/s"))
    first = [path.read_bytes() for path in bars("a title", found, tmp_path / "a")]
    second = [path.read_bytes() for path in bars("a title", found, tmp_path / "b")]
    assert first == second
    assert b"svg" in first[1]
