from pathlib import Path

import pytest

from phb.formats import read_files
from phb_lab.description import Datagrams, Messages
from phb_lab.experiment import run_test
from phb_lab.networks.isode import STUDY
from phb_lab.networks.isode.tests import EXAMPLES

SOURCE = STUDY.published


def describe(name, **options):
    return STUDY.network(STUDY.find_test(name), seed=1, options=STUDY.defaults() | options)


def leaves(node, path=()):
    """(path, value) of everything published below a node."""
    items = enumerate(node) if isinstance(node, list) else node.items() if isinstance(node, dict) else None
    if items is None:
        yield ".".join(path), node
        return
    for key, value in items:
        yield from leaves(value, (*path, str(key)))


def test_every_published_message_has_a_test_that_sends_it():
    published = {
        path.removesuffix(".s")
        for table in ("round1_unshaped_2mbps", "round2_shaped_512k")
        for path, _ in leaves(SOURCE[table], (table,))
        if path.endswith(".s") or (".parallel_10M_s." in path and not path.endswith(".kbps"))
    }
    sent = {f"{test.published}.{sending.quantity}" for test in STUDY.tests for sending in test.sendings}
    assert len(published) == 5 + 14 + 2 + 2 + 5 + 4
    assert published <= sent


@pytest.mark.parametrize("precedence", ["flash", "immediate", "priority", "routine"])
def test_a_connection_for_each_precedence_as_published(precedence):
    flows = {flow.name: flow for flow in describe("parallel-4").flows}
    flow, published = flows[precedence], SOURCE["connections"][precedence]
    assert flow.server_port == published["port"]
    assert f"CS{flow.tos >> 5}" == published["dscp"]
    assert flow.permanent == (published["connection"] == "permanent")


@pytest.mark.parametrize(
    ("options", "sources"),
    [
        ({}, ["10.10.64.31"]),
        ({"loads": 2}, ["10.10.64.31", "10.10.64.11"]),
        ({"load_class": 2, "loads": 2}, ["10.10.64.40", "10.10.64.40"]),
    ],
)
def test_the_load_is_told_by_its_source(options, sources):
    loads = [flow for flow in describe("one-queue-load-printed", **options).flows if isinstance(flow, Datagrams)]
    assert [flow.client_address for flow in loads] == sources
    assert all(
        flow.payload_bytes * 8 * 10**9 / flow.interval_ns == SOURCE["background"]["offered_bps"] for flow in loads
    )
    assert len({flow.server_port for flow in loads}) == len(loads)


def test_only_the_tests_before_the_single_queue_have_losses():
    losses = {test.name: max(wire.loss_per_million for wire in describe(test.name).wires) for test in STUDY.tests}
    lossless = {"one-queue", "one-queue-load-defaults", "one-queue-load-printed", "aggressive", "answer", "answer-10M"}
    assert {name for name, loss in losses.items() if loss == 0} == lossless
    assert describe("answer", loss_one_queue=7).wires[1].loss_per_million == 7


@pytest.mark.parametrize("test", STUDY.tests, ids=lambda test: test.name)
def test_a_minute_is_enough_for_a_figure(test):
    """A message that fits, or some seconds of load."""
    fits = [sending for sending in test.sendings if sending.at_s + sending.size_bytes * 8 / 300_000 < test.short_s]
    assert fits or (test.load_s is not None and test.load_s + 10 < test.short_s)


def test_messages_of_one_connection_are_submitted_in_order():
    for test in STUDY.tests:
        for flow in describe(test.name).flows:
            if isinstance(flow, Messages):
                times = [at for at, _ in flow.schedule]
                assert times == sorted(times)


def thresholds(*names):
    (queueing,) = read_files([EXAMPLES / name for name in names]).queueing
    early = queueing.early_detection or queueing.schedule.queues[0].early_detection
    rows = {row.dscp: (row.minimum, row.maximum, row.denominator) for row in early.profiles}
    return early.average_weight, rows, queueing.shaper, queueing.hold_queue


def test_the_answer_says_the_same_in_both_formats():
    ios = thresholds("isode/answer.ios", "ios/sar2811-ports.yaml")
    yaml = thresholds("isode/answer.yaml")
    assert ios[0] == yaml[0] == 1
    assert {dscp: ios[1][dscp] for dscp in yaml[1]} == yaml[1]
    assert ios[2:] == yaml[2:]


def test_the_answer_keeps_the_printed_thresholds():
    _, rows, _, _ = thresholds("isode/answer.ios", "ios/sar2811-ports.yaml")
    for dscp, row in SOURCE["wred_dscp"].items():
        assert rows[dscp or None] == tuple(row)


def test_no_two_tests_of_one_table_have_a_figure_of_the_same_name():
    named = [
        (test.published, quantity)
        for test in STUDY.tests
        for quantity in {sending.quantity for sending in test.sendings}
    ]
    assert len(named) == len(set(named))


@pytest.fixture(scope="module")
def measured():
    """Figures of a test by quantity, each test run once."""
    found = {}

    def run(name, duration_s=None, **how):
        key = (name, duration_s, str(how))
        if key not in found:
            found[key] = run_test(STUDY, STUDY.find_test(name), duration_s=duration_s, **how)
        return {figure.quantity: figure for figure in found[key].figures}

    return run


ANSWERS: list[tuple[Path, ...] | None] = [None, (EXAMPLES / "isode" / "answer.yaml",)]


@pytest.mark.parametrize("policies", ANSWERS, ids=["ios", "yaml"])
def test_beside_the_load_cs2_keeps_its_rate_in_one_queue_and_cs0_and_cs1_progress(measured, policies):
    figures = measured("answer", policies=policies and {"sar2811": policies})
    asked = {quantity: figure.met for quantity, figure in figures.items() if figure.met is not None}
    assert asked == dict.fromkeys(
        ["immediate_1M.of_base", "routine_10k.kbps", "priority_10k.kbps", "routine_1M.kbps", "priority_1M.kbps"], True
    )


def test_early_detection_alone_keeps_cs2_s_rate(measured):
    assert measured("aggressive", 60)["immediate_1M.of_base"].met


def test_the_sources_settings_fail(measured):
    blocked = measured("one-queue-load-defaults", 120)["first_settings.kbps"]
    assert blocked.measured < 13  # "Less than 13"
    assert "not delivered within 90 s" in blocked.note
    assert measured("one-queue-load-printed", 120)["standard_wred.of_base"].measured < 0.5


def test_without_losses_a_message_fills_the_shaper_and_with_them_it_does_not(measured):
    lossless = measured("shaped", 30, options={"loss_per_million": 0})["1M.kbps"].measured
    assert 470 < lossless < 512  # 512 kbit/s of frames, whose headers take 3.6 %, and a burst of 64,000 bytes
    assert measured("shaped", 60)["1M.kbps"].measured < 0.9 * lossless


def test_a_message_that_shares_no_reservation_is_slow_and_one_with_half_gets_half(measured):
    figures = measured("queues-load-immediate", 380, options={"loss_per_million": 0})
    assert figures["immediate_1M.kbps"].measured == pytest.approx(0.5 * 494, rel=0.05)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("1k.s", "time of the message of 1 kByte"),
        ("flash", "time of the flash message"),
        ("immediate_1M_alone.kbps", "rate of the immediate message of 1 MByte, alone"),
        ("first_settings.kbps", "rate of the message under Cisco's thresholds"),
        ("answer.background_utilisation_bps", "rate of the load"),
        ("round1_unshaped_2mbps.parallel_10M_s.0", "2 messages of 10 MByte at once, unshaped"),
    ],
)
def test_quantities_and_tests_of_the_source_are_named_in_words(name, words):
    assert STUDY.label(name) == words


def test_every_test_of_the_source_has_words_of_its_own():
    published = {test.published for test in STUDY.tests if test.published}
    assert not [label for label in map(STUDY.label, published) if "_" in label or "." in label]
