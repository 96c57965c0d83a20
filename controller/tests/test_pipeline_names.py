"""The controller's copies of the pipeline's numbers are the pipeline's numbers."""

import re
from pathlib import Path

import pytest

import phb_p4
from phb.cli.show.counters import meaning
from phb.compiler.queueing.slots import CONVERSATION_SLOTS
from phb.model import LAST_PORT
from phb.pipeline_names import (
    BUCKETS_PER_CLASS,
    COLOURS,
    COLOURS_PER_POLICY,
    REASONS_PER_CLASS,
    REASONS_PER_POLICY,
    DropReason,
    drop_cells,
    traffic_cells,
)

HEADERS = (Path(phb_p4.__file__).parent / "headers.p4").read_text()
MAIN = "".join((Path(phb_p4.__file__).parent / name).read_text() for name in ("phb.p4", "input.p4"))


def members(enum):
    body = re.search(rf"enum bit<\d+> {enum} \{{(.*?)\}}", HEADERS, re.DOTALL)[1]
    return {name: int(number) for name, number in re.findall(r"(\w+)\s*=\s*(\d+)", body)}


def test_drop_reasons():
    assert {reason.name: reason.value for reason in DropReason} == members("DropReason")
    assert (
        int(re.search(r"enum bit<(\d+)> DropReason", HEADERS)[1])
        == REASONS_PER_POLICY.bit_length() - 1
        == REASONS_PER_CLASS.bit_length() - 1
    )


def test_colours():
    assert {name.upper(): number for number, name in COLOURS.items()} == members("Colour")
    assert int(re.search(r"enum bit<(\d+)> Colour", HEADERS)[1]) == COLOURS_PER_POLICY.bit_length() - 1


def test_ports_below_the_controllers():
    assert int(re.search(r"CPU_PORT = (\d+)", HEADERS)[1]) == LAST_PORT + 1


def test_conversation_slots():
    assert int(re.search(r"#define CONVERSATION_SLOTS (\d+)", HEADERS)[1]) == CONVERSATION_SLOTS


def test_counters_are_indexed_as_displayed():
    assert "policy_traffic.count((bit<32>)(meta.verdict.policy ++ meta.verdict.colour))" in MAIN
    assert "policy_drops.count((bit<32>)(meta.verdict.policy ++ meta.verdict.drop_reason))" in MAIN
    assert "class_drops.count((bit<32>)(meta.verdict.traffic_class ++ meta.verdict.drop_reason))" in MAIN
    assert "drops.count((bit<32>)(bit<5>)meta.verdict.drop_reason)" in MAIN


def test_buckets_of_a_class():
    egress = (Path(phb_p4.__file__).parent / "egress.p4").read_text()
    assert f"counter(CLASSES * {BUCKETS_PER_CLASS}, CounterType.packets_and_bytes) class_delay" in egress


def test_cells_of_a_policy_are_those_that_counters_show():
    assert [meaning("policy_traffic", cell) for cell in traffic_cells(7)] == [
        "policy 7, green",
        "policy 7, yellow",
        "policy 7, red",
    ]
    assert len(drop_cells(7)) == len(DropReason) - 1
    assert all(meaning("policy_drops", cell).startswith("policy 7, ") for cell in drop_cells(7))
    assert meaning("policy_drops", drop_cells(7)[-1]) == "policy 7, no neighbour"


@pytest.mark.parametrize(
    ("counter", "cell", "words"),
    [
        ("stream_traffic", 6, "stream 1, red"),
        ("conversation_tail_drops", 17, "slot 17"),
        ("conversation_enqueued", 65537, "port 1"),
        ("shared_conversation", 2, "port 2"),
        ("untracked_connections", 0, ""),
    ],
)
def test_cells_in_words(counter, cell, words):
    assert meaning(counter, cell) == words
