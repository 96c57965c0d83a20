"""Requests as clients make them: pygnmi's as it sent them, gnmic's as its own package for messages (api) makes them.

Recorded with the settings that the tests of featureprofiles set, so that neither client needs to be here.
"""

import json
from base64 import b64decode
from itertools import islice
from pathlib import Path
from typing import Any

import grpc
import pytest
from finsy.proto import gnmi

from phb_switch import P4RuntimeServer, PortConfig, Switch

RECORDED = json.loads((Path(__file__).parent / "recorded_clients.json").read_text())
ANSWERS = {
    "Capabilities": gnmi.CapabilityResponse,
    "Set": gnmi.SetResponse,
    "Get": gnmi.GetResponse,
    "Subscribe": gnmi.SubscribeResponse,
}


def _ask(channel: grpc.Channel, method: str, request: bytes) -> list[Any]:
    name = f"/gnmi.gNMI/{method}"
    if method != "Subscribe":
        return [channel.unary_unary(name, None, ANSWERS[method].FromString)(request)]
    answers = channel.stream_stream(name, None, ANSWERS[method].FromString)(iter([request]))
    # A stream goes on; the present values, the end of these and one sample are enough.
    return list(islice(answers, 3))


@pytest.mark.parametrize("client", RECORDED)
def test_requests_are_answered_as_they_are(client: str) -> None:
    switch = Switch("test", {port: PortConfig() for port in (1, 2, 3)})
    server = P4RuntimeServer(switch, device_id=1, names={port: f"eth{port}" for port in (1, 2, 3)})
    calls = RECORDED[client]
    with grpc.insecure_channel(f"127.0.0.1:{server.start()}") as channel:
        told = [_ask(channel, each["method"], b64decode(each["request"])) for each in calls]
        dscps = _ask(channel, "Get", gnmi.GetRequest(path=[_dscp_set()], encoding=gnmi.PROTO).SerializeToString())
    server.stop()
    for each, answers in zip(calls, told, strict=True):
        assert answers, each["call"]
        if each["method"] == "Get":
            assert all(notification.update for notification in answers[0].notification), each["call"]
        if each["method"] == "Subscribe":
            assert answers[0].update.update, each["call"]
            assert any(answer.sync_response for answer in answers), each["call"]
    # The last Set of the DSCPs counts.
    elements = dscps[0].notification[0].update[0].val.leaflist_val.element
    assert [element.uint_val for element in elements] == [48, 49]


def _dscp_set() -> gnmi.Path:
    path = gnmi.Path()
    for name, key in (
        ("qos", {}),
        ("classifiers", {}),
        ("classifier", {"name": "dscp-IPV4"}),
        ("terms", {}),
        ("term", {"id": "0"}),
        ("conditions", {}),
        ("ipv4", {}),
        ("config", {}),
        ("dscp-set", {}),
    ):
        path.elem.add(name=name, key=key)
    return path
