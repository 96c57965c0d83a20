"""Which addresses others can reach, and by which names a server is called."""

import pytest

from phb.web.address import host_of, is_loopback


@pytest.mark.parametrize(
    ("header", "host", "own"),
    [
        ("localhost", "localhost", True),
        ("LOCALHOST:8010", "LOCALHOST", True),
        ("localhost.:1", "localhost.", True),
        ("127.0.0.1:8010", "127.0.0.1", True),
        ("127.9.9.9", "127.9.9.9", True),
        ("[::1]:8010", "::1", True),
        ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1", False),
        ("0.0.0.0:8010", "0.0.0.0", False),
        ("[::]:8010", "::", False),
        ("192.0.2.1", "192.0.2.1", False),
        ("2130706433", "2130706433", False),
        ("localhost.evil.example", "localhost.evil.example", False),
        ("evil.example:80:127.0.0.1", "", False),
        ("127.0.0.1@evil.example", "127.0.0.1@evil.example", False),
        ("", "", False),
    ],
)
def test_names_of_this_machine(header, host, own):
    assert (host_of(header), is_loopback(host_of(header))) == (host, own)
