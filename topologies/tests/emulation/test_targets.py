"""bmv2 in place of phb-switch, and what is refused rather than run differently."""

from dataclasses import replace
from statistics import fmean

import pytest

from phb import InputError
from phb_lab.emulation import requirements
from phb_lab.emulation.runner import EmulatedRun
from phb_lab.errors import UnsupportedError
from phb_lab.networks.s390 import STUDY

SECOND = 1_000_000_000
NO_BMV2 = requirements.missing("bmv2")

pytestmark = pytest.mark.mininet


def described(name="diffserv-fifo-cip"):
    return STUDY.network(STUDY.find_test(name), seed=1, options=STUDY.defaults())


@pytest.mark.skipif(NO_BMV2 is not None, reason=NO_BMV2 or "bmv2 is there")
def test_bmv2_passes_what_its_line_can_carry(tmp_path):
    policy = tmp_path / "c7513-fifo.yaml"
    network = described()
    switch = next(switch for switch in network.switches if switch.name == "c7513")
    policy.write_text(
        next(file for file in switch.policy_files if file.name == policy.name)
        .read_text()
        .replace("hold-queue: 150", "hold-queue: 64")
    )
    files = tuple(policy if file.name == policy.name else file for file in switch.policy_files)
    with EmulatedRun(network.with_policies({"c7513": files}), seed=1, target="bmv2") as run:
        run.push_policies()
        outcome = run.run(12 * SECOND, lambda now: None)
    transfers = [each for each in outcome.transactions if each.group == "ftp"]
    # 256 kbit/s carry 3.2 records of 10,000 bytes per second at most.
    assert 5 < len(transfers) <= 12 * 3.2
    assert fmean(each.response_s for each in transfers) > 3


@pytest.mark.skipif(NO_BMV2 is not None, reason=NO_BMV2 or "bmv2 is there")
def test_what_bmv2_can_not_do_is_refused_by_name():
    run = EmulatedRun(described("diffserv-wfq-cip"), seed=1, target="bmv2")
    with run, pytest.raises(InputError, match="on target 'bmv2'"):
        run.push_policies()


def test_wires_delay_and_lose_frames():
    network = described()
    # The branch's own wire: a request and its reply pass it once each.
    *others, last = network.wires
    slow = replace(last, delay_ns=150_000_000)
    one = next(flow for flow in network.flows if flow.group == "interactive")
    with EmulatedRun(replace(network, wires=(*others, slow), flows=(one,)), seed=1) as run:
        run.push_policies()
        outcome = run.run(10 * SECOND, lambda now: None)
    times = [each.response_s for each in outcome.transactions]
    # 50 ms for the line, 2 x 150 ms for the wire.
    assert len(times) > 5
    assert 0.34 < fmean(times) < 0.6


def test_services_that_can_not_be_told_apart_are_refused():
    network = described()
    first, second, *_ = network.flows
    changed = replace(second, server_port=first.server_port, reply_bytes=first.reply_bytes + 1)
    with pytest.raises(UnsupportedError, match="for replies of different lengths"):
        EmulatedRun(replace(network, flows=(first, changed)), seed=1)
