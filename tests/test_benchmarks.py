"""The limits that `make bench` checks its figures against; the figures are measured there, never here."""

import pytest

from benchmarks import bmv2, lab
from benchmarks.figures import DEMANDS, Demand, Figure, parse, read, write
from benchmarks.instructions import parts
from benchmarks.page import page


@pytest.mark.parametrize(
    ("demand", "values", "measured", "met"),
    [
        (Demand("a", at_least=3), {"a": 3.0}, 3.0, True),
        (Demand("a", at_least=3), {"a": 2.9}, 2.9, False),
        (Demand("a", at_most=3), {"a": 3.1}, 3.1, False),
        (Demand("a", over="b", at_least=6), {"a": 12.0, "b": 2.0}, 6.0, True),
        (Demand("a", over="b", at_most=2), {"a": 5.0, "b": 2.0}, 2.5, False),
    ],
)
def test_a_demand_is_met_or_not(demand, values, measured, met):
    assert demand.measured(values) == measured
    assert demand.met(measured) is met


def test_a_ratio_without_one_of_its_figures_is_not_measured():
    demand = Demand("a", over="b", at_least=6)
    assert demand.measured({"a": 1.0}) is None
    assert demand.measured({"b": 1.0}) is None
    assert demand.measured({"a": 1.0, "b": 0.0}) is None


def test_figures_are_read_as_written(tmp_path):
    figures = [Figure("pifo.1000.ops", 17e6, "1/s"), Figure("veth.bmv2.pps", 2e4, "packets/s", "bmv2 1.15.5")]
    write(tmp_path / "out" / "bench.json", figures)
    assert read(tmp_path / "out" / "bench.json") == figures


@pytest.mark.parametrize("text", ['{"a": 1}', '[{"name": "a"}]', "[1]", "nothing"])
def test_what_is_no_list_of_figures_is_refused(text):
    with pytest.raises(ValueError, match=r"list of name|Expecting"):
        parse(text)


def test_every_demand_names_one_bound():
    assert all((demand.at_least is None) != (demand.at_most is None) for demand in DEMANDS)


@pytest.mark.parametrize(
    ("files", "said", "described"),
    [
        ([b"\x7fELF"], None, "bmv2 1.15.5, without logging, optimisation not known, BMV2_BUILD can say it"),
        ([b"\x7fELF", b"Processing packet received on port {}"], "-O2", "with logging compiled in, built with -O2"),
        ([b"\0GNU C++17 12.2.0 -mtune=generic -g -O3 -std=gnu++17\0"], None, "bmv2 1.15.5, without logging, -O3"),
        ([b"GNU C++17 12.2.0 -g\0-O3"], None, "without logging, optimisation not known, BMV2_BUILD can say it"),
    ],
)
def test_a_build_of_bmv2_is_described_as_far_as_it_is_known(files, said, described):
    assert bmv2.description("1.15.5", files, said).endswith(described)


def test_figures_of_bmv2_alone_name_its_build(monkeypatch):
    monkeypatch.setattr(bmv2, "build", lambda: "bmv2 1.15.5")
    figures = [Figure("veth.phb.pps", 4e5, "packets/s"), Figure("veth.bmv2.pps", 2e4, "packets/s")]
    assert [figure.of for figure in bmv2.name_build(figures)] == ["", "bmv2 1.15.5"]


# As callgrind writes it: names stand once, then only their numbers; line numbers may be relative; the line after
# `calls` is what the call cost, which is the called function's own.
CALLGRIND = """\
positions: line
events: Ir

fl=(1) /tree/switch/crates/pipeline/src/path.rs
fn=(1) Pipeline::process
10 7
fi=(2) /rustc/slice/index.rs
+3 5
fe=(1)
-3 2
cob=(9) ???
cfi=(3) ???
cfn=(2) 0x0000000009027180
calls=1 0
20 1000
fi=(4) /tree/switch/crates/pipeline/src/state/tables/lpm.rs
5 11
fi=(2)
6 13

fn=(3) Pipeline::deparse
40 1
cfi=(3)
cfn=(4) 0x0000000009036100
calls=1 0
* 300

fl=(3)
fn=(2)
0 900

fn=(4)
0 300

fl=(5) ./string/memmove.S
fn=(5) __memcpy_avx_unaligned_erms
* 64

fl=(6) /tree/switch/crates/pipeline/src/state/tables/classifier/mod.rs
fn=(6) Classifier::find
9 120
"""


def test_instructions_are_told_by_part():
    assert parts(CALLGRIND.splitlines(keepends=True)) == {
        "glue": 14,
        "tables": 24,
        "program": 900,
        "deparser": 301,
        "copying": 64,
        "classifier": 120,
    }


def test_the_page_says_what_was_measured_and_what_was_missed():
    figures = [
        Figure("veth.phb.pps", 400_000, "packets/s"),
        Figure("veth.bmv2.pps", 25_000, "packets/s", "bmv2 1.15.5, without logging"),
        Figure("latency.p99.us", 1_600, "us"),
        Figure("veth.phb.loss_free_pps", 200_000, "packets/s"),
        Figure("instructions.qos", 5_682.4, "1/packet"),
        Figure("instructions.qos.tables", 1_541, "1/packet"),
        Figure("before.qos.instructions", 18_899, "1/packet"),
    ]
    assert page(figures, "a machine").splitlines()[2:] == [
        "`make bench` on a machine, in one run. [Performance](../performance.md) says what the figures are.",
        "",
        "| figure | measured | asked |",
        "|---|---|---|",
        "| `veth.phb.pps` / `veth.bmv2.pps` | 400,000 / 25,000 = 16 (bmv2 1.15.5, without logging) | at least 6 |",
        "| `veth.phb.loss_free_pps` / `veth.phb.pps` | 200,000 / 400,000 = 0.5 | at least 0.5 |",
        "| `instructions.qos` | 5,682 1/packet | at most 3,500: **missed** |",
        "| `latency.p99.us` | 1,600 us | at most 300: **missed** |",
        "| `veth.phb.pps` | 400,000 packets/s | |",
        "| `veth.bmv2.pps` | 25,000 packets/s (bmv2 1.15.5, without logging) | |",
        "| `veth.phb.loss_free_pps` | 200,000 packets/s | |",
        "",
        "| `qos`: instructions of a packet | before | native |",
        "|---|---|---|",
        "| all | 18,899 | 5,682 |",
        "| classifier | 0 | 0 |",
        "| tables | 0 | 1,541 |",
        *(
            f"| {part} | 0 | 0 |"
            for part in ("externs", "deparser", "parser", "clearing", "program", "copying", "glue")
        ),
    ]


def test_the_sessions_make_the_transactions_that_the_speed_is_measured_with():
    network = lab.sessions(157)  # a pause of 0.2 s
    network.run(11_000_000_000)
    steady = [end for *_, end in network.transactions() if end >= 1_000_000_000]
    # Two wires of 1 ms beside the pause of 200 ms: 1 % less, and the edges of the ten seconds.
    assert 0.98 * lab.TRANSACTIONS_PER_S < len(steady) / 10 <= lab.TRANSACTIONS_PER_S
    assert network.statistics()["hosts"]["clients"]["connections_failed"] == 0
