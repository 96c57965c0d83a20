"""The settings of a switch as a source of policies."""

import json

import grpc
import pytest

from phb.errors import InputError, SwitchError
from phb.openconfig.source import read_tls, wanted_of, written
from phb.sources import open_source, read_documents

from . import settings
from .bench import Bench


@pytest.fixture(scope="module")
def bench():
    found = Bench()
    yield found
    found.close()


def test_settings_are_a_document(bench):
    source = open_source(f"gnmi://{bench.address}")
    before = source.poll()
    assert (before.name, before.format_name) == (f"gnmi://{bench.address}", "openconfig")
    policy = read_documents([before])
    assert [(port.name, port.number) for port in policy.ports] == [("eth1", 1), ("eth2", 2), ("eth3", 3)]
    assert (policy.rules, policy.queueing) == ((), ())
    bench.replace("/qos", settings.traffic_test({"NC1": 1}, {"BE1": 1}))
    bench.replace("/interfaces/interface[name=eth3]/ethernet/config/port-speed", "SPEED_1GB")
    after = source.poll()
    assert wanted_of(after.content) == wanted_of(before.content) + 1
    policy = read_documents([after])
    assert len(policy.rules) == 2 * 2 * 7
    assert policy.find_port("eth3").rate.bits_per_second == 1_000_000_000
    # Nothing has changed, so the octets are the same, whatever is counted meanwhile.
    bench.switch.process(1, bytes(60), 0)
    assert source.poll() == after


def test_what_is_gone_but_in_force_is_no_setting():
    qos = {"queues": {"queue": [{"name": "A", "state": {"name": "A"}}, {"name": "B", "config": {"name": "B"}}]}}
    document = json.loads(written({}, qos, 7))
    assert document["openconfig-qos:qos"] == {"queues": {"queue": [{"name": "B", "config": {"name": "B"}}]}}
    assert wanted_of(json.dumps(document)) == 7


@pytest.mark.parametrize("name", ["gnmi://", "gnmi://host", "gnmi:///"])
def test_addresses_without_a_port(name):
    with pytest.raises(InputError, match="expected one with a port"):
        open_source(name)


def test_a_switch_that_is_not_there():
    with pytest.raises(SwitchError, match=r"^127\.0\.0\.1:1: gNMI: "):
        open_source("gnmi://127.0.0.1:1").poll()


def test_a_server_without_gnmi(start_switch):
    with pytest.raises(SwitchError, match="gNMI: "):
        open_source(f"gnmi://{start_switch().address}").poll()


def test_certificates_are_of_the_environment(tmp_path):
    assert read_tls({}) is None
    assert read_tls({"PHB_GNMI_CA": ""}) is None
    tls = read_tls({"PHB_GNMI_CA": "ca.pem", "PHB_GNMI_SERVER_NAME": "s"})
    assert (str(tls.ca), tls.certificate, tls.server_name) == ("ca.pem", None, "s")
    with pytest.raises(InputError, match=r"ca\.pem"):
        tls.credentials()


def test_a_setting_that_only_the_compiler_refuses_stays_a_setting(bench):
    """The switch knows no classes: what can't be done is for who reads it."""
    qos = settings.traffic_test({"NC1": 1}, {"BE1": 1})
    second = settings.scheduler(5, {"AF1": 1}, 8)
    qos["scheduler-policies"]["scheduler-policy"][0]["schedulers"]["scheduler"].append(second)
    bench.replace("/qos", qos)
    document = open_source(f"gnmi://{bench.address}").poll()
    with pytest.raises(InputError, match="a second scheduler by weights in policy 'out'"):
        read_documents([document])
    with pytest.raises(grpc.RpcError):
        bench.replace("/qos/levitation", {})
