"""The server's life: addresses, ends of streams, stopping."""

import socket
import stat
from pathlib import Path

import grpc
import pytest

from phb_switch import P4RuntimeServer

from .support import DEVICE, Client, connect, insert, new_switch


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


def test_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "switch.sock"
    server = P4RuntimeServer(new_switch(), device_id=DEVICE, address=f"unix:{path}")
    assert server.start() == 0
    assert server.address == f"unix:{path}"
    assert stat.S_ISSOCK(path.stat().st_mode)
    client = Client(f"unix:{path}")
    client.primary()
    client.configure()
    client.write(insert(connect(0, 1)))
    # A server listens there, so no other can.
    second = P4RuntimeServer(new_switch(), device_id=DEVICE, address=f"unix:{path}")
    with pytest.raises(OSError, match="can not listen at unix:"):
        second.start()
    client.write(insert(connect(1, 1)))
    client.close()
    server.stop()
    assert not path.exists()


def test_a_unix_socket_that_nobody_listens_at(tmp_path: Path) -> None:
    """A killed server left it behind."""
    path = tmp_path / "switch.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with P4RuntimeServer(new_switch(), device_id=DEVICE, address=f"unix:{path}"):
        client = Client(f"unix:{path}")
        client.primary()
        client.close()


def test_what_is_no_socket_stays(tmp_path: Path) -> None:
    path = tmp_path / "switch.sock"
    path.write_text("mine")
    server = P4RuntimeServer(new_switch(), device_id=DEVICE, address=f"unix:{path}")
    with pytest.raises(OSError, match="can not listen at unix:"):
        server.start()
    assert path.read_text() == "mine"
