"""Directories that hang, never end, or answer nonsense: one line each, and what was known before still counts."""

import itertools
import re
import socket
import time

import pytest
from directory.hostile import directory, done, entry, reference

from phb.directory import Access, DirectoryError, client, fetch

pytest.importorskip("ldap", reason="python-ldap isn't installed (pip install 'phb[ldap]')")

QUICK = Access(timeout_s=0.3)


def pages_for_ever(connection, number, over):
    connection.sendall(entry(number, f"cn={number},o=x", cn=bytes(1000)) + done(number, b"%d" % number))


def one_page_for_ever(connection, number, over):
    connection.sendall(entry(number, "cn=a,o=x") + done(number, b"again"))


def empty_pages_for_ever(connection, number, over):
    connection.sendall(done(number, b"%d" % number))


def entries_for_ever(connection, number, over):
    for each in itertools.count():
        connection.sendall(entry(number, f"cn={each},o=x", cn=bytes(1000)))


def entries_in_time_for_ever(connection, number, over):
    for each in itertools.count():
        connection.sendall(entry(number, f"cn={each},o=x"))
        over.wait(0.1)


def half_an_entry(connection, number, over):
    connection.sendall(entry(number, "cn=a,o=x", cn=bytes(1000))[:500])
    over.wait()


def octet_by_octet(connection, number, over):
    for octet in entry(number, "cn=a,o=x", cn=bytes(1000)):
        connection.sendall(bytes([octet]))
        over.wait(0.1)


def garbage(connection, number, over):
    connection.sendall(bytes(range(256)) * 10)
    over.wait()


def hanging_up(connection, number, over):
    connection.sendall(entry(number, "cn=a,o=x")[:9])
    connection.shutdown(socket.SHUT_RDWR)


def referring(connection, number, over):
    connection.sendall(reference(number, "ldap://127.0.0.1:1/o=x") + done(number))


def referred(connection, number, over):
    connection.sendall(done(number, code=10, words="elsewhere"))


def forging(connection, number, over):
    connection.sendall(done(number, code=80, words="\x1b[31m\nphb: all is well"))


MANY = r"gives more than 1 MiB: a smaller base, or a filter"
CASES = {
    "pages": (pages_for_ever, MANY),
    "one page": (one_page_for_ever, r"gives cn=a,o=x twice: its pages don't go on"),
    # By the deadline of the whole answer, or of one page where the machine is slow.
    "empty pages": (empty_pages_for_ever, r"no answer within (1\.8|0\.3) s"),
    "entries": (entries_for_ever, MANY),
    "entries in time": (entries_in_time_for_ever, r"no answer within (1\.8|0\.3) s"),
    "half an entry": (half_an_entry, r"no answer within 0\.3 s"),
    "octet by octet": (octet_by_octet, r"no answer within 0\.3 s"),
    "garbage": (garbage, r"can't contact LDAP server"),
    "hanging up": (hanging_up, r"can't contact LDAP server"),
    "a reference": (referring, r"refers to ldap://127\.0\.0\.1:1/o=x: name that directory as a source"),
    "a referral": (referred, r"referral: elsewhere: it refers to another directory"),
    "words": (forging, r"\\x1b\[31m phb: all is well$"),
}


@pytest.mark.parametrize("case", CASES)
def test_one_line_and_an_end(monkeypatch, case):
    monkeypatch.setattr(client, "LARGEST", 1 << 20)
    answer, words = CASES[case]
    with directory(answer) as server, pytest.raises(DirectoryError, match=words) as caught:
        fetch(f"ldap://{server}/o=x", QUICK)
    assert str(caught.value).startswith(f"ldap://{server}/o=x: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["ldap", "ldaps"])
def test_a_server_that_is_silent_in_the_handshake(scheme):
    """libldap waits for ever there; who waits is left behind, once per server."""

    def begin(connection, number, over):
        if scheme == "ldap":
            # ExtendedResponse: success. Then nothing.
            connection.sendall(bytes.fromhex("300c02010178070a010004000400"))
        over.wait()

    with directory(begin) as server:
        url = f"{scheme}://{server}/o=x"
        access = Access(timeout_s=0.2, start_tls=scheme == "ldap")
        with pytest.raises(DirectoryError, match=r"no answer within 1\.2 s"):
            fetch(url, access)
        with pytest.raises(DirectoryError, match="still no answer to what it was asked before"):
            fetch(url, access)


def test_the_same_server_is_asked_again_when_it_has_hung_up():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"ldaps://127.0.0.1:{listener.getsockname()[1]}/o=x"
        with pytest.raises(DirectoryError, match="no answer within"):
            fetch(url, Access(timeout_s=0.1))
        connection, _ = listener.accept()
        connection.close()
        until = time.monotonic() + 60
        while True:
            with pytest.raises(DirectoryError) as caught:
                fetch(url, Access(timeout_s=0.1))
            if "still no answer" not in str(caught.value):
                break
            assert time.monotonic() < until
    assert re.search("no answer within|can't contact", str(caught.value))
