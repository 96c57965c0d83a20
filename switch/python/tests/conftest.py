"""A switch with a server and a raw client, with the program `programs/router.p4` where a test wants one."""

from collections.abc import Iterator

import pytest

from phb_switch import P4RuntimeServer, Switch

from .support import DEVICE, Client, new_switch


@pytest.fixture
def switch() -> Switch:
    return new_switch()


@pytest.fixture
def port(switch: Switch) -> Iterator[int]:
    server = P4RuntimeServer(switch, device_id=DEVICE)
    yield server.start()
    server.stop()


@pytest.fixture
def client(port: int) -> Iterator[Client]:
    client = Client(port)
    yield client
    client.close()


@pytest.fixture
def configured(client: Client) -> Client:
    client.primary()
    client.configure()
    return client


@pytest.fixture
def like_bmv2(switch: Switch) -> Iterator[Client]:
    server = P4RuntimeServer(switch, device_id=DEVICE, like_bmv2=True)
    client = Client(server.start())
    yield client
    client.close()
    server.stop()
