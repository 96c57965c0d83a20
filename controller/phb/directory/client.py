"""Asks a directory: one search, in pages, over a connection of its own.

python-ldap (libldap) speaks the protocol; it is an optional part of phb, so that phb installs where OpenLDAP's headers
aren't.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from threading import Thread
from types import ModuleType
from typing import Any, TypeAlias

from phb.directory.address import Access, DirectoryAddress
from phb.errors import InputError, PhbError
from phb.files import LARGEST
from phb.origin import Origin

PATIENCE = 6
"""Times the time of one answer, in which the whole tree has to be there."""
ENTRY = 500
"""Bytes that an entry takes beside what it says."""

Entries: TypeAlias = Mapping[str, Mapping[str, Sequence[bytes]]]

_HANGING: dict[str, Thread] = {}
"""By server, who still waits for it."""

_INSTALL = (
    "python-ldap: on Debian `apt install libldap2-dev libsasl2-dev gcc`, then `pip install 'phb[ldap]'`; or give the "
    "tree as a .ldif file"
)


class DirectoryError(PhbError):
    """A directory refused something, or doesn't answer; what it held before still counts."""

    def __init__(self, url: str, message: str) -> None:
        super().__init__(f"{url}: {message}")
        self.url = url
        self.message = message


def search(address: DirectoryAddress, access: Access) -> Entries:
    """Find every entry below the base that the filter lets through, by DN.

    Raises:
        InputError: python-ldap is missing, or a password would travel in clear.
        DirectoryError: The server refused, gave a part only or a referral, or doesn't answer.
    """
    ldap = _library(address)
    bind_dn = access.bind_dn or address.bind_dn
    secured = address.scheme == "ldaps" or access.start_tls
    if address.scheme == "ldaps" and access.start_tls:
        raise InputError(Origin("PHB_LDAP_START_TLS"), "1 for an ldaps:// address", "one of the two")
    if bind_dn is not None and access.password is None and access.certificate is None:
        # RFC 4513 section 5.1.2: a name without a password binds as nobody, and clients shall not do it by accident.
        raise InputError(Origin(address.url), f"no password for {bind_dn}", "PHB_LDAP_PASSWORD_FILE")
    if access.password is not None and not secured and not address.is_local:
        raise InputError(
            Origin(address.url), "a password to be sent in clear", "ldaps://, or PHB_LDAP_START_TLS=1 for ldap://"
        )
    try:
        return _within(PATIENCE * access.timeout_s, address, lambda: _ask(ldap, address, access, bind_dn))
    except ldap.LDAPError as error:
        raise DirectoryError(address.url, _words(ldap, error, address, access)) from None


def _within(seconds: float, address: DirectoryAddress, ask: Callable[[], Entries]) -> Entries:
    """Ask in a thread, and leave it where it hangs.

    libldap keeps its timeouts except in a TLS handshake, where it waits forever for a silent server, and nothing can
    end it. A server that a thread still waits for is not asked by another one.
    """
    if (before := _HANGING.get(address.server)) is not None and before.is_alive():
        raise DirectoryError(address.url, "still no answer to what it was asked before")
    answer: Future[Entries] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:
            answer.set_exception(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        return answer.result(seconds)
    except TimeoutError:
        _HANGING[address.server] = thread
        raise DirectoryError(address.url, f"no answer within {seconds:g} s") from None


def _ask(ldap: Any, address: DirectoryAddress, access: Access, bind_dn: str | None) -> Entries:
    connection = ldap.initialize(address.server)
    _prepare(ldap, connection, address, access)
    try:
        if access.start_tls:
            connection.start_tls_s()
        if bind_dn is not None and access.password is not None:
            connection.simple_bind_s(bind_dn, access.password)
        elif access.certificate is not None:
            connection.sasl_external_bind_s()
        return _pages(ldap, connection, address, access)
    finally:
        connection.unbind_s()


def _library(address: DirectoryAddress) -> ModuleType:
    try:
        import ldap
        import ldap.controls.libldap
    except ImportError:
        raise InputError(Origin(address.url), "a directory, but no library to ask it with", _INSTALL) from None
    module: ModuleType = ldap
    return module


def _prepare(ldap: Any, connection: Any, address: DirectoryAddress, access: Access) -> None:
    connection.protocol_version = 3
    # A referral would send our name and password wherever the server says.
    connection.set_option(ldap.OPT_REFERRALS, 0)
    connection.set_option(ldap.OPT_NETWORK_TIMEOUT, access.timeout_s)
    connection.set_option(ldap.OPT_TIMEOUT, access.timeout_s)
    if address.scheme != "ldaps" and not access.start_tls:
        return
    connection.set_option(ldap.OPT_X_TLS_REQUIRE_CERT, ldap.OPT_X_TLS_DEMAND)
    files = {
        ldap.OPT_X_TLS_CACERTFILE: access.ca_file,
        ldap.OPT_X_TLS_CERTFILE: access.certificate,
        ldap.OPT_X_TLS_KEYFILE: access.key,
    }
    for option, path in files.items():
        if path is not None:
            connection.set_option(option, str(path))
    connection.set_option(ldap.OPT_X_TLS_NEWCTX, 0)


def _pages(ldap: Any, connection: Any, address: DirectoryAddress, access: Access) -> Entries:
    scope = {"base": ldap.SCOPE_BASE, "one": ldap.SCOPE_ONELEVEL, "sub": ldap.SCOPE_SUBTREE}[address.scope]
    control = ldap.controls.libldap.SimplePagedResultsControl(True, size=access.page_size, cookie="")
    found: dict[str, Mapping[str, Sequence[bytes]]] = {}
    size = 0
    # The time after which `_within` has given up.
    until = time.monotonic() + PATIENCE * access.timeout_s
    while time.monotonic() < until:
        number = connection.search_ext(
            address.base, scope, address.search_filter, serverctrls=[control], timeout=access.timeout_s
        )
        results: Any = [None]
        # Entry by entry, to stop at a limit: all at once could be any number.
        while results and time.monotonic() < until:
            _, results, _, answered = connection.result3(number, all=ldap.MSG_ONE, timeout=access.timeout_s)
            for dn, attributes in results:
                if dn is None:
                    words = f"refers to {', '.join(attributes)}: name that directory as a source"
                    raise DirectoryError(address.url, words)
                if dn in found:
                    raise DirectoryError(address.url, f"gives {dn} twice: its pages don't go on")
                found[dn] = attributes
                size += ENTRY + len(dn) + sum(len(name) + sum(map(len, values)) for name, values in attributes.items())
                if size > LARGEST:
                    raise DirectoryError(
                        address.url, f"gives more than {LARGEST >> 20} MiB: a smaller base, or a filter"
                    )
        page = next((each for each in answered if each.controlType == control.controlType), None)
        if page is None or not page.cookie:
            return found
        # Servers may keep one cookie for all pages: endless pages show by repeated entries and by the time.
        control.cookie = page.cookie
    raise ldap.TIMEOUT


def _words(ldap: Any, error: Exception, address: DirectoryAddress, access: Access) -> str:
    """Give libldap's description, with what a person can do about it."""
    details = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
    what = " ".join(str(details.get("desc") or error).split())
    more = " ".join(str(details.get("info") or "").split())
    hints = {
        ldap.NO_SUCH_OBJECT: f"there is no entry {address.base}",
        ldap.SIZELIMIT_EXCEEDED: "the server gives fewer entries than the policy has: raise its limit "
        "(OpenLDAP: olcSizeLimit size.prtotal=unlimited)",
        ldap.INVALID_CREDENTIALS: "name or password is wrong",
        ldap.TIMEOUT: f"no answer within {access.timeout_s:g} s",
        ldap.SERVER_DOWN: "is it running, and does its certificate say its name?",
        ldap.REFERRAL: "it refers to another directory: name that one as a source",
    }
    hint = next((words for kind, words in hints.items() if isinstance(error, kind)), "")
    return ": ".join(part for part in (what[:1].lower() + what[1:], more, hint) if part)
