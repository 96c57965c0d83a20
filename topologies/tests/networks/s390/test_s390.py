import pytest

from phb_lab.errors import UsageError
from phb_lab.networks import s390

STUDY = s390.STUDY
SOURCE = STUDY.published


def describe(name, seed=1):
    return STUDY.network(STUDY.find_test(name), seed=seed, options=STUDY.defaults())


def test_the_eight_tests_are_the_published_ones():
    assert {test.name for test in STUDY.tests} == {test["name"] for test in SOURCE["tests"]}


@pytest.mark.parametrize("test", STUDY.tests, ids=lambda test: test.name)
def test_wires_join_ports_that_exist_and_policy_files_are_there(test):
    network = STUDY.network(test, seed=1, options=STUDY.defaults())
    ports = {(switch.name, port.number) for switch in network.switches for port in switch.ports}
    ports |= {(host.name, 0) for host in network.hosts}
    ports |= {(adapter.name, port) for adapter in network.adapters for port in (0, 1)}
    ends = [end for wire in network.wires for end in (wire.a, wire.b)]
    assert sorted(ends) == sorted(ports)
    for switch in network.switches:
        assert all(path.is_file() for path in switch.policy_files)


def test_traffic_is_that_of_the_chariot_scripts():
    flows = describe("diffserv-fifo-cip").flows
    for group in ("interactive", "ftp"):
        expected = SOURCE["traffic"][group]
        chosen = [flow for flow in flows if flow.group == group]
        assert len(chosen) == expected["connections"]
        assert {(f.request_bytes, f.reply_bytes, f.records_per_connection) for f in chosen} == {
            (expected["request_bytes"], expected["reply_bytes"], expected["records_per_connection"])
        }


def test_the_two_columns_take_two_paths():
    servers = {
        adapter: {f.server_address for f in describe(f"diffserv-fifo-{adapter}").flows if f.group == "ftp"}
        for adapter in ("cip", "osa2")
    }
    assert servers == {"cip": {"133.10.20.1"}, "osa2": {"133.10.30.1"}}


def test_start_times_follow_from_the_seed():
    def starts(seed):
        return [flow.start_ns for flow in describe("diffserv-fifo-cip", seed).flows]

    assert starts(1) == starts(1)
    assert starts(1) != starts(2)


def test_an_unknown_test_names_the_known_ones():
    with pytest.raises(UsageError, match=r"--test nonsense: expected one of: diffserv-fifo-cip, "):
        STUDY.find_test("nonsense")


def test_with_fair_queueing_the_7513_is_programmed_by_its_printed_configuration():
    def files(name):
        return [path.name for path in describe(name).switches[1].policy_files]

    assert files("diffserv-wfq-osa2") == ["c7513.ios", "c7513-ports.yaml", "c7513-routes-osa2.yaml"]
    assert files("diffserv-fifo-osa2") == ["c7513.yaml", "c7513-routes-osa2.yaml", "c7513-fifo.yaml"]
