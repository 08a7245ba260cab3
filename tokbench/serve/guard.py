"""The guard of the playground: whom it serves, how much it reads, and how long it waits."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import secrets
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tokbench.foundation.errors import TokbenchError
from tokbench.report.number_format import byte_size

_COOKIE: Final = "tokbench_token_{port}"
"""With the port, because browsers send cookies to every port of a host."""

_FORBIDDEN_PAGE: Final = """\
<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>tokbench: a token is needed</title>
<h1>A token is needed</h1>
<p>Open the whole address that <code>tokbench serve</code> printed where it was started. It ends in
<code>?token=</code> and the token.</p>
"""

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
"""The Content-Security-Policy of the page: its own files, and nothing inline."""

_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}

BODY_SECONDS: Final = 30.0
"""In which the body of a request arrives."""

_CLOSE: Final = {"Connection": "close"}

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Refusal(TokbenchError):  # noqa: N818 - an answer, not a fault
    """A refused request: HTTP status, what is wrong, and advice."""

    def __init__(self, status: int, message: str, advice: str) -> None:
        super().__init__(f"{message}; {advice}")
        self.status, self.message, self.advice = status, message, advice

    def response(self) -> Response:
        """The connection is closed, since the rest of the request may never come."""
        content = {"error": self.message, "advice": self.advice}
        return JSONResponse(content, self.status, headers=_CLOSE)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The limits of the guard."""

    host: str = "127.0.0.1"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """Of each request, at loopback as well: every user of the machine can connect."""
    body: int = 2_000_000
    file: int = 64_000_000


def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Refuses with JSON the requests that break the rules; ``file_path`` accepts larger bodies."""

    def __init__(self, app: ASGIApp, rules: Rules, file_path: str) -> None:
        self._app, self._rules, self._file_path = app, rules, file_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        until, whole = asyncio.get_running_loop().time() + BODY_SECONDS, False

        async def arriving() -> Message:
            nonlocal whole
            try:
                async with asyncio.timeout_at(None if whole else until):
                    message = await receive()
            except TimeoutError:
                advice = f"send it within {BODY_SECONDS:g} seconds"
                raise Refusal(408, "the body of the request did not arrive", advice) from None
            whole = not message.get("more_body", False)
            return message

        try:
            response = self._admit(scope) or self._app
        except Refusal as refusal:
            response = refusal.response()
        await response(scope, arriving, answer)

    def _admit(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        self._check_host(headers)
        self._check_origin(scope, headers)
        response = self._check_token(scope, headers)
        length = headers.get("content-length", "0" if scope["method"] == "GET" else "")
        if not length.isdigit():
            raise Refusal(411, "the length of the request is not known", "send it with a Content-Length")
        largest = self._rules.file if scope["path"] == self._file_path else self._rules.body
        if int(length) > largest:
            size = byte_size(largest)
            raise Refusal(413, f"the request is larger than {size}", f"send at most {size}")
        return response

    def _check_host(self, headers: Headers) -> None:
        """A page elsewhere may let its own name point at this machine (DNS rebinding)."""
        given = headers.getlist("host")
        try:
            host = urlsplit(f"//{given[0]}").hostname or "" if len(given) == 1 else ""
        except ValueError:
            host = ""
        if host in _LOOPBACK or host == self._rules.host:
            return
        if not is_loopback(self._rules.host) and _is_address(host):
            return  # a name can be made to point here, an address cannot
        allowed = "localhost or 127.0.0.1" if is_loopback(self._rules.host) else "the machine's address"
        raise Refusal(421, "this host name is not served", f"open the page by {allowed}")

    @staticmethod
    def _check_origin(scope: Scope, headers: Headers) -> None:
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
        own = origin is None or origin == f"{scope.get('scheme', 'http')}://{headers['host']}"
        if not own or (site not in {"none", "same-origin"} and not (link and origin is None)):
            raise Refusal(403, "the request comes from another page", "open the playground itself, and use it there")

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Redirect with a cookie if the address has the token, or return a page if there is none."""
        cookie = _COOKIE.format(port=(scope.get("server") or ("", 0))[1])
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] == "GET" and self._is_token(given):
            # A path that begins with two slashes would name another host.
            redirect = RedirectResponse("/" + scope["path"].lstrip("/"), 303)
            redirect.set_cookie(cookie, self._rules.token, httponly=True, samesite="strict")
            return redirect
        if self._is_token(cookie_parser(headers.get("cookie", "")).get(cookie, "")):
            return None
        if self._is_token(headers.get("authorization", "").removeprefix("Bearer ")):
            return None
        if "text/html" in headers.get("accept", ""):
            return HTMLResponse(_FORBIDDEN_PAGE, 403, headers=_CLOSE)
        raise Refusal(403, "the token is missing or wrong", "open the whole address that 'tokbench serve' printed")

    def _is_token(self, given: str) -> bool:
        """Compare in constant time."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._rules.token.encode())


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
