import importlib.util

import pytest
import trustme
from directory.slapd import EXAMPLES, SLAPD, Slapd

TREE = (EXAMPLES / "mvs074.ldif").read_text()


@pytest.fixture(scope="session")
def authority():
    return trustme.CA()


@pytest.fixture
def make_slapd(tmp_path_factory, authority):
    """Start servers of a test, and stop them after it."""
    if SLAPD is None:
        pytest.skip("slapd isn't installed (Debian: slapd)")
    if importlib.util.find_spec("ldap") is None:
        pytest.skip("python-ldap isn't installed (pip install 'phb[ldap]')")
    servers = []

    def make(tree=TREE, **settings):
        server = Slapd(tmp_path_factory.mktemp("slapd"), tree, **settings)
        servers.append(server)
        server.set_up(authority)
        server.start()
        return server

    yield make
    for server in servers:
        server.stop()


@pytest.fixture
def slapd(make_slapd):
    return make_slapd()
