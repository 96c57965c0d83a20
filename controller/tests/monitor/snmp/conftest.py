from contextlib import asynccontextmanager

import pytest

from phb.monitor.snmp import serve

from .daemons import running, until


@pytest.fixture(scope="module")
def daemons(tmp_path_factory):
    with running(tmp_path_factory.mktemp("snmp")) as found:
        yield found


@pytest.fixture
def agent(daemons):
    """Makes agents that are connected with snmpd."""

    @asynccontextmanager
    async def connected(addresses, told=None):
        async with serve(daemons.socket, addresses, (told if told is not None else []).append) as taker:
            await until(lambda: taker.connected, "a session")
            yield taker

    return connected
