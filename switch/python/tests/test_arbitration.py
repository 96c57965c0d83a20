"""Client arbitration, rule by rule, over gRPC."""

import grpc
import pytest
from finsy.proto import p4r, rpc_code

from .support import DEVICE, Client, connect, insert


def number(update: p4r.MasterArbitrationUpdate) -> int:
    return update.election_id.high << 64 | update.election_id.low


def test_first_client_becomes_primary(client: Client) -> None:
    stream = client.stream()
    stream.arbitrate(5 << 64 | 3)
    update = stream.receive().arbitration
    assert update.status.code == rpc_code.OK
    assert update.device_id == DEVICE
    assert number(update) == 5 << 64 | 3
    assert not update.HasField("role")


def test_backup_is_told_and_promoted(client: Client) -> None:
    first = client.primary(10)
    second = client.stream()
    second.arbitrate(9)
    told = second.receive().arbitration
    assert (told.status.code, number(told)) == (rpc_code.ALREADY_EXISTS, 10)
    assert first.silent()

    second.arbitrate(11)
    assert first.receive().arbitration.status.code == rpc_code.ALREADY_EXISTS
    assert second.receive().arbitration.status.code == rpc_code.OK


def test_primary_that_leaves_is_not_replaced(client: Client) -> None:
    first = client.primary(10)
    backup = client.stream()
    backup.arbitrate(None)
    assert backup.receive().arbitration.status.code == rpc_code.ALREADY_EXISTS
    first.close()
    told = backup.receive().arbitration
    assert (told.status.code, number(told)) == (rpc_code.NOT_FOUND, 10)

    backup.arbitrate(9)
    assert backup.receive().arbitration.status.code == rpc_code.NOT_FOUND
    backup.arbitrate(10)
    assert backup.receive().arbitration.status.code == rpc_code.OK


def test_primary_can_step_down(client: Client) -> None:
    first = client.primary(10)
    first.arbitrate(3)
    told = first.receive().arbitration
    assert (told.status.code, number(told)) == (rpc_code.NOT_FOUND, 10)


def test_no_primary_yet(client: Client) -> None:
    stream = client.stream()
    stream.arbitrate(None)
    update = stream.receive().arbitration
    assert update.status.code == rpc_code.NOT_FOUND
    assert not update.HasField("election_id")


def test_election_id_in_use(client: Client) -> None:
    client.primary(10)
    second = client.stream()
    second.arbitrate(10)
    error = second.end()
    assert error is not None
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    # finsy recognizes this case by these words.
    assert "election id 10 is already used" in error.details()


def test_unknown_device(client: Client) -> None:
    stream = client.stream()
    stream.arbitrate(1, device_id=DEVICE + 1)
    error = stream.end()
    assert error is not None
    assert error.code() == grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("change", [{"role": "other"}, {"device_id": DEVICE + 1}])
def test_stream_keeps_role_and_device(client: Client, change: dict[str, object]) -> None:
    stream = client.primary()
    stream.arbitrate(2, **change)
    error = stream.end()
    assert error is not None
    assert error.code() == grpc.StatusCode.FAILED_PRECONDITION


def test_role_config_is_refused(client: Client) -> None:
    stream = client.stream()
    request = p4r.StreamMessageRequest()
    request.arbitration.device_id = DEVICE
    request.arbitration.election_id.low = 1
    request.arbitration.role.name = "partial"
    request.arbitration.role.config.type_url = "type.example/unknown"
    stream.send(request)
    error = stream.end()
    assert error is not None
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_roles_have_primaries_of_their_own(configured: Client) -> None:
    stream = configured.stream()
    stream.arbitrate(1, role="monitor")
    update = stream.receive().arbitration
    assert (update.status.code, update.role.name) == (rpc_code.OK, "monitor")
    request = p4r.WriteRequest(device_id=DEVICE, role="monitor", updates=[insert(connect(0, 1))])
    request.election_id.low = 1
    configured.stub.Write(request)


def test_too_many_clients(client: Client) -> None:
    for election_id in range(1, 65):
        stream = client.stream()
        stream.arbitrate(election_id)
        stream.receive()
    one_more = client.stream()
    one_more.arbitrate(65)
    error = one_more.end()
    assert error is not None
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def refused(client: Client, request: p4r.WriteRequest) -> grpc.StatusCode:
    with pytest.raises(grpc.RpcError) as caught:
        client.stub.Write(request)
    return caught.value.code()


def test_who_may_write(client: Client) -> None:
    request = p4r.WriteRequest(device_id=DEVICE, updates=[insert(connect(0, 1))])
    request.election_id.low = 1
    assert refused(client, request) == grpc.StatusCode.PERMISSION_DENIED
    client.primary(1)
    assert refused(client, request) == grpc.StatusCode.FAILED_PRECONDITION
    client.configure()
    client.stub.Write(request)

    request.election_id.low = 2
    assert refused(client, request) == grpc.StatusCode.PERMISSION_DENIED
    request.ClearField("election_id")
    assert refused(client, request) == grpc.StatusCode.PERMISSION_DENIED
    request.role = "nobody"
    assert refused(client, request) == grpc.StatusCode.NOT_FOUND
    request.device_id = DEVICE + 1
    assert refused(client, request) == grpc.StatusCode.NOT_FOUND
