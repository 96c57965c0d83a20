"""Who may look: the names that a server may be called by, tokens, and the headers that browsers keep to."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from time import monotonic, time
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from phb.visible import visible
from phb.web.address import host_of, is_loopback
from phb.web.server import Answer, Request

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
HEADERS: Final = (
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
"""What every answer tells a browser: nothing from elsewhere, nothing inline, in nobody's frame."""

NOT_STORED: Final = ("Cache-Control", "no-store")

SESSION_S: Final = 12 * 3600.0
"""Seconds after which somebody who logged in has to do it again."""

WRONG_S: Final = 0.5
"""Seconds until a wrong token is answered."""

MOST_WRONG: Final = 8
"""Wrong tokens of one address that wait for their answers; while there are so many no other of it is looked at."""

TOLD_S: Final = 60.0
"""Seconds between two events about wrong tokens."""

PUBLIC: Final = ("/assets/page.css",)
"""What the form needs, too."""

LOGIN_PAGE: Final = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>phb: log in</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/assets/page.css">
<main>
<h1>phb</h1>
<form method="post" action="/login">
<p><input name="user" value="phb" autocomplete="username" hidden>
<label for="token">Token</label> <input id="token" name="token" type="password" required autofocus
autocomplete="current-password"> <button>Log in</button></p>
</form>
%s
</main>
</html>
"""


class Guard:
    """Lets requests in.

    Args:
        host: Where the server listens; only one of loopback is called by names of this machine alone.
        token: Gives the token that is asked for; None asks nobody.
        trouble: Told at most once a minute of wrong tokens.
    """

    def __init__(
        self,
        host: str,
        token: Callable[[], bytes] | None,
        trouble: Callable[[str], None],
        clock: Callable[[], float] = monotonic,
        now: Callable[[], float] = time,
    ) -> None:
        self._host = host
        self._token = token
        self._trouble = trouble
        self._clock = clock
        self._now = now
        self._wrong = 0
        self._waiting: Counter[str] = Counter()
        self._told_at: float | None = None

    async def refusal(self, request: Request) -> Answer | None:
        """Give the answer to who may not come in; None where a request may be answered."""
        if is_loopback(self._host) and not is_loopback(host_of(request.headers.get("host", ""))):
            # A page from elsewhere whose name was made to point to this machine asks by its own name.
            return Answer.words(HTTPStatus.MISDIRECTED_REQUEST, "call this server by localhost or its address")
        if self._token is None or request.path in PUBLIC:
            return None
        if request.path == "/login" and request.method == "POST":
            return await self._login(request)
        if self._has_session(request):
            return None
        kind, _, words = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            refused = await self._checked(words.strip().encode("latin-1"), request)
            return None if refused is None else Answer.words(refused, _WORDS[refused])
        if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            return self._form(HTTPStatus.UNAUTHORIZED, "")
        return Answer.words(HTTPStatus.UNAUTHORIZED, "no token", ("WWW-Authenticate", "Bearer"))

    async def _login(self, request: Request) -> Answer:
        fields = dict(parse_qsl(request.body.decode("latin-1"), max_num_fields=8))
        refused = await self._checked(fields.get("token", "").strip().encode(), request)
        if refused is not None:
            return self._form(refused, _WORDS[refused])
        expires = int(self._now() + SESSION_S)
        secure = "; Secure" if request.encrypted else ""
        cookie = f"{self._cookie(request)}={self._session(expires)}; Path=/; HttpOnly; SameSite=Strict{secure}"
        return Answer.of(HTTPStatus.SEE_OTHER, "text/plain", b"", ("Location", "/"), ("Set-Cookie", cookie), NOT_STORED)

    async def _checked(self, given: bytes, request: Request) -> HTTPStatus | None:
        """Compare a token; give the status of its refusal."""
        assert self._token is not None
        if self._waiting[request.peer] >= MOST_WRONG:
            return HTTPStatus.TOO_MANY_REQUESTS
        # Digests, so that not even the length of the token shows in how long this takes.
        if hmac.compare_digest(hashlib.sha256(given).digest(), hashlib.sha256(self._token()).digest()):
            return None
        self._tell(request.peer)
        self._waiting[request.peer] += 1
        try:
            await asyncio.sleep(WRONG_S)
        finally:
            self._waiting[request.peer] -= 1
            # Addresses that have none waiting are forgotten.
            self._waiting += Counter()
        return HTTPStatus.UNAUTHORIZED

    def _tell(self, peer: str) -> None:
        self._wrong += 1
        now = self._clock()
        if self._told_at is None or now - self._told_at >= TOLD_S:
            times = "once" if self._wrong == 1 else f"{self._wrong} times"
            self._trouble(f"a wrong token was given {times} for the page, the last time from {visible(peer)}")
            self._wrong, self._told_at = 0, now

    def _cookie(self, request: Request) -> str:
        # Cookies don't keep servers of one host apart that have different ports.
        port = "".join(filter(str.isdigit, request.headers.get("host", "").rpartition(":")[2]))
        return f"__Host-phb-{port}" if request.encrypted else f"phb-{port}"

    def _has_session(self, request: Request) -> bool:
        try:
            cookies = SimpleCookie(request.headers.get("cookie", ""))
        except CookieError:
            return False
        found = cookies.get(self._cookie(request))
        expires = "" if found is None else found.value.partition(".")[0]
        if found is None or not (expires.isascii() and expires.isdigit() and len(expires) < 16):
            return False
        return int(expires) > self._now() and hmac.compare_digest(self._session(int(expires)), found.value)

    def _session(self, expires: int) -> str:
        """Give what somebody has who knew the token: another token ends all of these."""
        assert self._token is not None
        mac = hmac.digest(self._token(), b"phb session until %d" % expires, "sha256")
        return f"{expires}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"

    def _form(self, status: HTTPStatus, words: str) -> Answer:
        body = LOGIN_PAGE % (f"<p role=alert>{words}</p>" if words else "").encode()
        return Answer.of(status, "text/html; charset=utf-8", body, NOT_STORED)


_WORDS: Final = {
    HTTPStatus.UNAUTHORIZED: "wrong token",
    HTTPStatus.TOO_MANY_REQUESTS: "too many wrong tokens are waiting: try again in a second",
}


def is_own(request: Request) -> bool:
    """Whether a request that changes something comes from a page of this server, or from no page at all.

    It has the header ``X-Phb``, which no form of another page can send, and no other origin.
    """
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site", "same-origin")
    same = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    return "x-phb" in request.headers and same and site in ("same-origin", "none")
