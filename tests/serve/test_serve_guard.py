"""The guard of the playground: foreign hosts and pages, sizes, rates, times and the token."""

import asyncio

import httpx
import pytest

pytest.importorskip("starlette")

from tokbench.serve.app import MOST_TOKENIZERS, Playground
from tokbench.serve.catalogue import TokenizerCatalogue
from tokbench.serve.guard import POLICY, Guard, Rules

URL = "http://localhost:8420"
TOKEN = "a secret of the tests"
BEARER = ("authorization", f"Bearer {TOKEN}")
QUESTION = {"text": "a", "tokenizers": ["utf8_bytes"]}


@pytest.fixture(scope="module")
def playground():
    playground = Playground(TokenizerCatalogue(), rules=Rules(token=TOKEN))
    yield playground
    playground.end()


def send(app, method, path, **options):
    """Return the answer to one request with the token, through ASGI."""
    headers = options.pop("headers", {})
    options["headers"] = [BEARER, *(headers.items() if isinstance(headers, dict) else headers)]
    return send_without_token(app, method, path, **options)


def send_without_token(app, method, path, **options):
    """Return the answer to one request, through ASGI."""

    async def sent():
        transport = httpx.ASGITransport(app, client=options.pop("client", ("127.0.0.1", 1)))
        async with httpx.AsyncClient(transport=transport, base_url=options.pop("url", URL)) as client:
            return await client.request(method, path, **options)

    return asyncio.run(sent())


def refused(answer, status):
    """Check that an answer is a refusal with advice, and return its message."""
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error", "advice"}
    assert answer.json()["advice"]
    assert answer.headers["content-security-policy"] == POLICY
    return answer.json()["error"]


def test_only_this_machine_is_served(playground):
    app = playground.app()
    for host in ("localhost", "localhost:8420", "127.0.0.1:9000", "[::1]:8420"):
        assert send(app, "GET", "/api/state", headers={"host": host}).status_code == 200, host
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::1", "0.0.0.0"):
        refused(send(app, "GET", "/api/state", headers={"host": host}), 421)
    for path in ("/", "/page.js"):
        refused(send(app, "GET", path, headers=[("host", "localhost"), ("host", "evil.example")]), 421)


def test_only_the_own_page_and_links_can_ask(playground):
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},
        {"origin": "https://localhost:8420"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ):
        refused(send(playground.app(), "POST", "/api/segment", json=QUESTION, headers=headers), 403)
    own = {"origin": URL, "sec-fetch-site": "same-origin"}
    assert send(playground.app(), "GET", "/api/state", headers=own).status_code == 200
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert send(playground.app(), "GET", "/", headers=link).status_code == 200
    refused(send(playground.app(), "GET", "/api/state", headers={"sec-fetch-site": "cross-site"}), 403)


def test_a_malformed_question_is_refused(playground):
    for content, part in (
        (b"{", "JSON"),
        (b"\xff", "JSON"),
        (b"[" * 100_000, "JSON"),
        (b"[]", "JSON object"),
        (b"{}", "'text'"),
        (b'{"text": "a", "tokenizers": []}', "tokenizers"),
        (b'{"text": 1, "tokenizers": ["a"]}', "text"),
        (b'{"text": "a", "tokenizers": ["a"], "specal": true}', "'special'"),
        (b'{"text": "a", "tokenizers": ["a"], "template": "ChatNL"}', "'ChatML'"),
    ):
        headers = {"content-type": "application/json"}
        answer = send(playground.app(), "POST", "/api/segment", content=content, headers=headers)
        assert part in refused(answer, 400)


def test_sizes_are_limited(playground):
    app = playground.app()
    many = {"text": "a", "tokenizers": [f"t{k}" for k in range(MOST_TOKENIZERS + 1)]}
    assert "at most 12" in refused(send(app, "POST", "/api/segment", json=many), 400)
    long = {"text": "a" * 1_000_001, "tokenizers": ["utf8_bytes"]}
    assert "1,000,001" in refused(send(app, "POST", "/api/segment", json=long), 413)
    assert "2.00 MB" in refused(send(app, "POST", "/api/segment", json={"text": "a" * 2_000_000}), 413)

    async def endless():
        for _ in range(10**6):
            yield b"a" * 10**6

    binary = {"content-type": "application/octet-stream"}
    refused(send(app, "POST", "/api/files?name=a.json", content=endless(), headers=binary), 411)
    large = binary | {"content-length": "64000001"}
    assert "64.0 MB" in refused(send(app, "POST", "/api/files?name=a.json", content=b"", headers=large), 413)


def test_another_content_type_is_refused(playground):
    plain = {"content-type": "text/plain"}
    for path in ("/api/segment", "/api/token", "/api/vocabulary", "/api/files?name=x.json"):
        refused(send(playground.app(), "POST", path, content=b"{}", headers=plain), 415)


def test_other_addresses_and_methods_are_refused(playground):
    for path in ("/../pyproject.toml", "/%2e%2e/app.py", "/page/index.html", "/runs/0"):
        refused(send(playground.app(), "GET", path), 404)
    refused(send(playground.app(), "GET", "/api/segment"), 405)


@pytest.mark.parametrize("url", [URL, "http://192.0.2.7:8420"])
def test_nothing_is_served_without_the_token(playground, url):
    rules = Rules(host="192.0.2.7")
    assert len(rules.token) > 30
    assert rules.token != Rules().token, "each server has its own"
    guard = Guard(playground.app()._app, rules, "/api/files")
    for path in ("/", "/page.js", "/api/state", "/?token=", "/?token=wrong", "/?token=%ff"):
        refused(send_without_token(guard, "GET", path, url=url), 403)
    refused(send_without_token(guard, "POST", f"/api/segment?token={rules.token}", json=QUESTION, url=url), 403)
    refused(send_without_token(guard, "GET", "/", url=url, headers={"cookie": "tokbench_token_8420=wrong"}), 403)
    away = send_without_token(guard, "GET", f"{url}//evil.example/?token={rules.token}", url=url)
    assert (away.status_code, away.headers["location"]) == (303, "/evil.example/"), "no other host"
    moved = send_without_token(guard, "GET", f"/?token={rules.token}", url=url)
    assert (moved.status_code, moved.headers["location"]) == (303, "/"), "the address bar keeps no token"
    cookie = moved.headers["set-cookie"]
    assert cookie.startswith("tokbench_token_8420="), "browsers send cookies to every port of a host"
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    others = {"cookie": f"bad[name]=1; {cookie.partition(';')[0]}; x=y"}
    assert send_without_token(guard, "GET", "/api/state", url=url, headers=others).status_code == 200
    question = send_without_token(guard, "POST", "/api/segment", json=QUESTION, url=url, headers=others)
    assert '"ids":[97]' in question.text
    bearer = {"authorization": f"Bearer {rules.token}"}
    assert send_without_token(guard, "GET", "/api/state", url=url, headers=bearer).status_code == 200
    refused(send_without_token(guard, "GET", "/api/state", url="http://evil.example", headers=bearer), 421)


def test_the_page_brings_all_that_it_needs_and_nothing_inline(playground):
    page = send(playground.app(), "GET", "/")
    assert page.headers["content-security-policy"] == POLICY
    assert "'unsafe" not in POLICY
    for name in ("page.css", "page.js", "tokens.js", "token_text.js", "panels.js", "icon.svg"):
        answer = send(playground.app(), "GET", f"/{name}")
        assert answer.status_code == 200
        assert answer.headers["x-content-type-options"] == "nosniff"
        text = answer.text.replace("http://www.w3.org/", "")
        assert "://" not in text, "no outside address"
        assert "innerHTML" not in text
    assert "://" not in page.text
    assert " style=" not in page.text
    assert "<script>" not in page.text
