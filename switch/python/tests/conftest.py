"""A switch with a server and a raw client, with the program `programs/router.p4` where a test wants one."""

from collections.abc import Callable, Iterator

import pytest

from phb_switch import Binding, P4RuntimeServer, Switch

from .certificates import Certificates
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


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def named(switch: Switch, certificates: Certificates) -> Iterator[Callable[[str | None], Client]]:
    """Makes clients, with a certificate for a name or without one, of a server that knows three names."""
    bindings = [
        Binding("operator"),
        Binding("monitor", read_only=True, device_ids={DEVICE}),
        Binding("elsewhere", device_ids={DEVICE + 1}),
    ]
    clients: list[Client] = []
    with P4RuntimeServer(switch, device_id=DEVICE, tls=certificates.tls("optional"), bindings=bindings) as server:
        port = server.address.rpartition(":")[2]

        def client(name: str | None) -> Client:
            clients.append(Client(f"localhost:{port}", certificates.client(name)))
            return clients[-1]

        yield client
        for each in clients:
            each.close()
