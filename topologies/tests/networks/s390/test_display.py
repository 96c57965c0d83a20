from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from phb_lab.experiment import run_test
from phb_lab.networks.s390 import STUDY, display
from phb_lab.networks.s390.study import DISPLAYS

DISPLAY = """\
Serial5/0/0: queueing strategy weighted fair
  Output queue: 6/150/3 (size/max total/drops)
    Conversations 3/36/4096 (active/seen/total)
    (depth/weight/discards/tail drops/interleaves) 4/4096/2/1/0, early drops 3
    Conversation 133, linktype: ip, length: 1504
    source: 133.10.30.1, destination: 133.10.50.2,
    TOS: 0 prot: 6, source port 5001, destination port 1190
    (depth/weight/discards/tail drops/interleaves) 1/585/0/0/0
    Conversation 585, linktype: ip, length: 1444
    source: 135.1.1.1, destination: 133.10.50.2,
    TOS: 192 prot: 6, source port 701, destination port 1195
    (depth/weight/discards/tail drops/interleaves) 1/4096/0/0/0
    Conversation 640
"""


def test_a_display_is_read_conversation_by_conversation():
    transfer, marked = display.conversations(DISPLAY)
    assert transfer == display.Conversation(4, 4096, 2, 1, 0, 1504, 0, "133.10.30.1", 5001)
    assert marked == display.Conversation(1, 585, 0, 0, 0, 1444, 192, "135.1.1.1", 701)
    assert display.interactive([DISPLAY, DISPLAY]) == [marked, marked]


def test_the_weight_that_is_furthest_off_counts_and_the_length_of_most():
    good = {figure.quantity: figure for figure in display.figures("ipprec-wfq-cip", {"a": DISPLAY})}
    assert {name.removeprefix("show_queue."): figure.measured for name, figure in good.items()} == {
        "weight": 585,
        "tos": 192,
        "length": 1444,
    }
    assert all(figure.met for figure in good.values())
    snapshots = {"a": DISPLAY, "b": DISPLAY.replace("1/585/0", "1/512/0")}
    wrong = display.figures("ipprec-wfq-cip", snapshots)[0]
    assert (wrong.measured, wrong.published, wrong.met) == (512, 585, False)
    pieces = {"a": DISPLAY, "b": DISPLAY, "c": DISPLAY.replace("length: 1444", "length: 977")}
    assert display.figures("ipprec-wfq-cip", pieces)[2].measured == 1444
    assert display.figures("ipprec-wfq-cip", {"a": "nothing waits"}) == []


@pytest.mark.parametrize(("name", "marking"), [("diffserv-wfq-cip", "diffserv"), ("ipprec-wfq-osa2", "ipprec")])
def test_during_the_wfq_tests_the_router_says_what_the_source_prints(name, marking):
    run = run_test(STUDY, STUDY.find_test(name), duration_s=60)
    assert len(run.outcome.snapshots) == DISPLAYS
    shown = display.interactive(run.outcome.snapshots.values())
    printed = {(each.weight, each.tos, each.source_port) for each in display.PRINTED[marking]}
    assert {(each.weight, each.tos, each.source_port) for each in shown} == printed
    assert all(run.figure(f"show_queue.{quantity}").met for quantity in ("weight", "tos", "length"))
    printed_out = StringIO()
    table = display.display_table([run, replace(run, outcome=replace(run.outcome, snapshots={}))])
    Console(width=120, file=printed_out).print(table)
    text = printed_out.getvalue()
    assert text.count(name) == 1
    assert f"appendix E, {marking}" in text


def test_without_fair_queueing_nobody_looks():
    test = STUDY.find_test("diffserv-fifo-cip")
    network = STUDY.network(test, seed=1, options=STUDY.defaults())
    assert STUDY.snapshots(test, network, 300) == ()
