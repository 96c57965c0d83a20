"""The server's life: addresses, ends of streams, stopping."""

import grpc
import pytest

from phb_switch import P4RuntimeServer

from .support import DEVICE, Client, new_switch


def test_address_in_use() -> None:
    first = P4RuntimeServer(new_switch(), device_id=DEVICE)
    port = first.start()
    second = P4RuntimeServer(new_switch(), device_id=DEVICE, address=f"127.0.0.1:{port}")
    with pytest.raises(OSError, match=f"can not listen at 127.0.0.1:{port}"):
        second.start()
    second.stop()
    first.stop()


def test_stop_ends_streams() -> None:
    server = P4RuntimeServer(new_switch(), device_id=DEVICE)
    client = Client(server.start())
    stream = client.primary()
    server.stop()
    stream.end()
    with pytest.raises(grpc.RpcError):
        client.configure()
    client.close()


def test_as_context_manager() -> None:
    with P4RuntimeServer(new_switch(), device_id=DEVICE):
        pass


def test_many_clients_come_and_go(client: Client) -> None:
    for election_id in range(1, 40):
        stream = client.stream()
        stream.arbitrate(election_id)
        assert stream.receive().arbitration.status.code == 0
        stream.close()
