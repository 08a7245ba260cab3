"""The routes of the playground over real processes: columns, failures, files, and many at a time."""

import asyncio
import json
from contextlib import ExitStack, contextmanager

import httpx
import pytest

pytest.importorskip("starlette")

import tokbench
from tokbench.config.model import Limits
from tokbench.serve.app import Playground
from tokbench.serve.catalogue import TokenizerCatalogue

URL = "http://localhost:8420"


def client_of(app, rules):
    """Return a client of an application that has the token."""
    bearer = {"authorization": f"Bearer {rules.token}"}
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=URL, timeout=60, headers=bearer)


def asked(playground, *requests):
    """Return the answers to requests, one after the other: the method, the path and the options of each."""

    async def answers():
        async with client_of(playground.app(), playground.rules) as client:
            return [await client.request(method, path, **options) for method, path, options in requests]

    return asyncio.run(answers())


def columns(playground, text, *names, **options):
    """Return the first line of the answer, and the columns by tokenizer."""
    body = {"text": text, "tokenizers": list(names), **options}
    content = {"content": json.dumps(body), "headers": {"content-type": "application/json"}}
    [answer] = asked(playground, ("POST", "/api/segment", content))
    assert answer.status_code == 200, answer.text
    first, *others = map(json.loads, answer.text.splitlines())
    return first, {other["tokenizer"]: other for other in others}


@contextmanager
def running(*arguments, **options):
    """Give a playground, and end it."""
    playground = Playground(TokenizerCatalogue(), *arguments, **options)
    try:
        yield playground
    finally:
        playground.end()


@pytest.fixture(scope="module")
def playground():
    with running() as playground:
        yield playground


@pytest.fixture
def opened():
    """Give a function that makes a playground with options, which is ended after the test."""
    with ExitStack() as stack:
        yield lambda *arguments, **options: stack.enter_context(running(*arguments, **options))


def test_a_text_is_cut_and_an_unknown_name_costs_its_own_column(playground):
    first, found = columns(playground, "né\ud83d\n", "utf8_bytes", "nobody")
    assert first == {"bytes": 7, "text": None}
    assert found["utf8_bytes"]["ids"] == [*"né\ufffd\n".encode()]
    assert found["utf8_bytes"]["alone"] is None
    assert found["nobody"]["reason"].startswith("unknown tokenizer 'nobody'")
    first, found = columns(playground, "Hi", "utf8_bytes", template="ChatML")
    assert first["text"] == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert found["utf8_bytes"]["missing"] == ["<|im_start|>", "<|im_end|>"]
    assert found["utf8_bytes"]["alone"] == 2
    assert playground.processes.names == ["utf8_bytes"]


@pytest.mark.slow
def test_a_token_and_a_vocabulary_are_looked_up(playground, data):
    [state, token, special, wrong, found] = asked(
        playground,
        ("GET", "/api/state", {}),
        ("POST", "/api/token", {"json": {"tokenizer": "tiktoken:gpt2", "id": 1441, "merges": True}}),
        ("POST", "/api/token", {"json": {"tokenizer": "tiktoken:gpt2", "id": 50256, "merges": True}}),
        ("POST", "/api/token", {"json": {"tokenizer": "tiktoken:gpt2", "id": 50257, "merges": True}}),
        ("POST", "/api/vocabulary", {"json": {"tokenizer": "tiktoken:gpt2", "query": "SolidGold"}}),
    )
    assert ["utf8_bytes", "installed"] in state.json()["offers"]
    assert bytes.fromhex(token.json()["bytes"]) == b" return"
    assert token.json()["steps"][0] == ["20", "72", "65", "74", "75", "72", "6e"]
    assert token.json()["steps"][-1] == [b" return".hex()]
    assert (special.json()["name"], special.json()["steps"]) == ("<|endoftext|>", [])
    assert "give one from 0 to 50256" in wrong.json()["reason"]
    assert [43453, b" SolidGoldMagikarp".hex(), "word start", ""] in found.json()["found"]
    assert found.json()["vocab_size"] == 50257


@pytest.mark.slow
def test_a_broken_tokenizer_costs_its_own_column(faulty, opened):
    playground = opened(limits=Limits(step=1.5))
    broken = ["Hangs", "CrashesInEncode", "OutOfRange", "crashes_to_load"]
    _, found = columns(playground, "abc", "Bytes", *broken)
    assert found["Bytes"]["ids"] == [97, 98, 99]
    reasons = {name: found[name]["reason"] for name in broken}
    parts = {"Hangs": "1.5 s", "CrashesInEncode": "SIGSEGV", "crashes_to_load": "SIGSEGV", "OutOfRange": "300"}
    assert [name for name, part in parts.items() if part not in reasons[name]] == []
    _, again = columns(playground, "xyz", "Bytes", *broken[:2])
    assert set(again) == {"Bytes", *broken[:2]}
    assert all(each["ids"] == [120, 121, 122] for each in again.values())


@pytest.mark.nightly
@pytest.mark.slow
def test_files_are_dropped_in(playground, data, tmp_path):
    trained = tokbench.train("regex_bpe", ["low lower lowest low"], 260)
    trained.save(tmp_path / "own.bpe.json")
    binary = {"headers": {"content-type": "application/octet-stream"}}
    model = next((data / "spm").rglob("*.model"))
    given = {
        "own.bpe.json": (tmp_path / "own.bpe.json").read_bytes(),
        model.name: model.read_bytes(),
        "x.tiktoken": b"".join(b"%s %d\n" % (__import__("base64").b64encode(bytes([k])), k) for k in range(256)),
        "bad.json": b'{"model": 7}',
        "bad.exe": b"MZ",
    }
    answers = asked(
        playground,
        *(("POST", f"/api/files?name={name}", {"content": content, **binary}) for name, content in given.items()),
    )
    assert [answer.status_code for answer in answers] == [200, 200, 200, 400, 400]
    names = [each.json()["tokenizer"] for each in answers[:3]]
    assert names == ["own.bpe.json", model.name, "x.tiktoken"]
    _, found = columns(playground, "lower", *names)
    assert found["own.bpe.json"]["ids"] == trained.encode("lower")
    assert found["x.tiktoken"]["ids"] == [*b"lower"]
    assert found[model.name]["ids"] == tokbench.load("sentencepiece", path=model).encode("lower")
    assert all(each.json()["advice"] for each in answers[3:])
