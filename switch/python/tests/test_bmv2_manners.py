"""Differences of simple_switch_grpc from the specification that its clients rely on."""

import grpc
import pytest
from finsy.proto import p4r, rpc_code

from .support import DEVICE, NAMES, Client, artifact, connect, delete, errors, insert, p4info

SET = p4r.SetForwardingPipelineConfigRequest


def configuration(config: bytes, election_id: int | None = None) -> p4r.SetForwardingPipelineConfigRequest:
    request = SET(device_id=DEVICE, action=SET.VERIFY_AND_COMMIT)
    request.config.p4info.CopyFrom(p4info())
    request.config.p4_device_config = config
    if election_id is not None:
        request.election_id.low = election_id
    return request


def test_no_config_yet(like_bmv2: Client, client: Client) -> None:
    request = p4r.GetForwardingPipelineConfigRequest(device_id=DEVICE)
    with pytest.raises(grpc.RpcError) as caught:
        like_bmv2.stub.GetForwardingPipelineConfig(request)
    assert caught.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert not client.stub.GetForwardingPipelineConfig(request).HasField("config")


def test_the_next_is_promoted(like_bmv2: Client) -> None:
    first = like_bmv2.primary(9)
    second = like_bmv2.stream()
    second.arbitrate(3)
    answer = second.receive().arbitration
    assert (answer.status.code, answer.status.message) == (rpc_code.ALREADY_EXISTS, "Is backup")
    first.close()
    answer = second.receive().arbitration
    assert (answer.status.code, answer.status.message) == (rpc_code.OK, "Is primary")
    assert answer.election_id.low == 3


def test_without_a_stream(like_bmv2: Client) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        like_bmv2.stub.SetForwardingPipelineConfig(configuration(artifact(), 1))
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.PERMISSION_DENIED, "Not primary")
    like_bmv2.stub.SetForwardingPipelineConfig(configuration(artifact()))
    like_bmv2.stub.Write(p4r.WriteRequest(device_id=DEVICE, updates=[insert(connect(0, 1))]))
    like_bmv2.primary()
    with pytest.raises(grpc.RpcError) as caught:
        like_bmv2.stub.Write(p4r.WriteRequest(device_id=DEVICE, updates=[delete(connect(0, 1))]))
    assert caught.value.details() == "Not primary"


def test_words(like_bmv2: Client) -> None:
    like_bmv2.primary()
    like_bmv2.configure()
    timed = connect(0, 1)
    timed.idle_timeout_ns = 1
    hit = connect(1, 1)
    hit.time_since_last_hit.elapsed_ns = 1
    assert timed.table_id == NAMES.table["cross_connect"]
    with pytest.raises(grpc.RpcError) as caught:
        like_bmv2.write(insert(timed), insert(hit), insert(connect(2, 1)), insert(connect(2, 1)), delete(connect(3, 1)))
    assert errors(caught.value) == [
        (
            rpc_code.INVALID_ARGUMENT,
            "idle_timeout_ns must be set to 0 for tables which do not support idle timeout",
        ),
        (rpc_code.INVALID_ARGUMENT, "has_time_since_last_hit must not be set in WriteRequest"),
        (rpc_code.OK, ""),
        (rpc_code.ALREADY_EXISTS, "Match entry exists, use MODIFY if you wish to change action"),
        (rpc_code.NOT_FOUND, "Cannot find match entry"),
    ]
