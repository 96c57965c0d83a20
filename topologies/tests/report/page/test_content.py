from dataclasses import replace

import pytest

from phb_lab import data_files
from phb_lab.description import Adapter, Datagrams, Messages, RequestResponse, Stream
from phb_lab.networks.s390.pictures import draw_test
from phb_lab.report.page import content

ENDS = {"client": "a", "client_address": "10.0.0.1", "server": "b", "server_address": "10.0.0.2", "server_port": 1}


@pytest.mark.parametrize(
    ("flow", "text"),
    [
        (
            RequestResponse(name="f", group="tn", **ENDS, request_bytes=100, reply_bytes=1400, records_per_connection=5,
                            start_ns=0, tos=0xC0),
            "tn, a to b: 100 bytes asked, 1,400 answered, over and over, type of service 0xc0",
        ),
        (
            Messages(name="f", group="flash", **ENDS, permanent=True, schedule=((0, 1000), (5, 1000)), answer_bytes=9),
            "flash, a to b: 2 messages of 1,000 bytes, permanent connection",
        ),
        (
            Messages(name="f", group="routine", **ENDS, permanent=False, schedule=((0, 10), (5, 1000)), answer_bytes=9),
            "routine, a to b: 2 messages of 10 to 1,000 bytes, a connection per message",
        ),
        (Stream(name="f", group="bulk", **ENDS, start_ns=0), "bulk, a to b: TCP, as much as it can"),
        (Stream(name="f", group="bulk", **ENDS, start_ns=0, total_bytes=5000), "bulk, a to b: TCP, 5,000 bytes"),
        (
            Datagrams(name="f", group="load", **ENDS, payload_bytes=1250, interval_ns=10_000_000, start_ns=0),
            "load, a to b: UDP datagrams of 1,250 bytes, 1,000.0 kbit/s periodic",
        ),
    ],
)  # fmt: skip
def test_each_kind_of_flow_is_said_in_words(flow, text):
    assert content.describe_flow(flow) == text


def test_flows_of_a_group_are_counted_and_tests_that_differ_are_named(runs):
    first = runs[0].network
    three = replace(first, flows=tuple(replace(first.flows[0], name=f"i-{number}") for number in range(3)))
    text = "interactive, branch to os390: 100 bytes asked, 1,400 answered, over and over"
    assert content.traffic(runs) == {f"1 × {text}": ["fifo", "wfq"]}
    assert content.traffic([replace(runs[0], network=three), runs[1]]) == {
        f"3 × {text}": ["fifo"],
        f"1 × {text}": ["wfq"],
    }


def test_an_adapters_parameters_name_their_source(runs):
    (parameters,) = content.adapters(runs).values()
    assert [(each.name, each.value) for each in parameters] == [("block_bytes", "4,096"), ("read_buffers", "15")]
    assert "appendix B" in parameters[0].source


def test_adapters_of_one_name_and_other_parameters_are_told_apart_each_with_its_own_source(runs):
    kinds = data_files.adapters()
    line = Adapter("line", "osa2", {"rate_bps": 100_000_000, "latency_ns": 1})
    first = replace(runs[0].network, adapters=(Adapter("cip", "cip", kinds["cip-ip-datagram"]), line))
    second = replace(
        runs[1].network,
        adapters=(*(Adapter(name, "cip", kinds["cip-csna"]) for name in ("cip", "other")), line),
    )
    found = content.adapters([replace(runs[0], network=first), replace(runs[1], network=second)])
    assert list(found) == ["cip: fifo", "line (osa2)", "cip, other (cip): wfq"]
    (cpu,) = [each for each in found["cip, other (cip): wfq"] if each.name == "cpu_ns_per_packet"]
    assert cpu.source.startswith("calibrated: 83 % CPU")
    assert [each.source for each in found["line (osa2)"]] == ["Fast Ethernet", ""]


def test_a_policy_is_shown_once_with_all_who_got_it(runs):
    (policy,) = content.policies(runs)
    assert (policy.name, policy.switches, policy.tests) == ("examples/s390/c3640.yaml", ("c3640",), ("fifo", "wfq"))
    assert "c3640" in policy.text


def test_a_table_for_the_terminal_becomes_plain_text(study, runs):
    table = content.plain_table(study.tables(runs, ())[0])
    assert table.headings == ("test, group", "sent")
    assert table.numeric == (False, True)
    assert table.rows == (("fifo <i>", "477"),)


def test_a_picture_is_called_by_its_title_or_its_file(study, runs, tmp_path):
    drawn = draw_test("some test", (), {"interactive": 1, "ftp": 1}, 10, 300, tmp_path / "drawn")
    (titled,) = content.pictures(drawn)
    assert titled.caption == "some test: response time and throughput, measured"
    (named,) = content.pictures(study.pictures(runs, (), tmp_path))
    assert named.caption == "figure 8"
    assert named.url.startswith("data:image/svg+xml;base64,")
