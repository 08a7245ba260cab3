"""The command ``tokbench serve`` and its server: sockets, slow clients, the end, and what is imported."""

import contextlib
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from shared_fixtures import interruptible

from tokbench.cli.main import tokbench as command
from tokbench.serve.app import Playground
from tokbench.serve.catalogue import TokenizerCatalogue
from tokbench.serve.guard import Guard, Rules
from tokbench.serve.server import listen, server_of


def test_without_the_extra_the_command_says_what_to_install(monkeypatch):
    for name in [module for module in sys.modules if module.startswith("tokbench.serve")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    outcome = CliRunner().invoke(command, ["serve"])
    assert "install them with: pip install 'tokbench[serve]'" in str(outcome.exception)


def test_wrong_input_is_told_before_anything_is_served():
    def told(*arguments):
        return str(CliRunner().invoke(command, ["serve", *arguments]).exception)

    assert "'nobody'" in told("-t", "nobody", "--port", "0")
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert f"127.0.0.1:{port}" in told("--port", str(port))
    assert "192.0.2.7:0" in told("--host", "192.0.2.7", "--port", "0")


@pytest.fixture
def serving():
    """Serve a playground in a thread, and give its socket's address."""
    playground = Playground(TokenizerCatalogue(), rules=Rules(token="secret"))
    listening = listen("127.0.0.1", 0)
    server = server_of(playground)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()
    server.should_exit = True
    thread.join(20)
    playground.end()


def answer_to(address, content):
    """Send bytes to a server, and return what it answers until it hangs up."""
    with socket.create_connection(address, timeout=60) as line:
        line.sendall(content)
        received = b""
        while data := line.recv(65536):
            received += data
    return received


def test_malformed_requests_are_refused(serving):
    assert b"400 Bad Request" in answer_to(serving, b"nonsense\r\n\r\n")
    page = httpx.get(f"http://localhost:{serving[1]}/?token=secret", follow_redirects=True)
    assert (page.status_code, page.url.query) == (200, b"")


def test_half_a_request_is_cut_and_blocks_nobody(serving, monkeypatch):
    monkeypatch.setitem(server_of.__globals__, "HEAD_SECONDS", 0.5)
    half = [socket.create_connection(serving, timeout=10) for _ in range(150)]
    for line in half:
        line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
    answer = httpx.get(f"http://localhost:{serving[1]}/?token=secret", follow_redirects=True)
    assert answer.status_code == 200
    for line in half:
        with line, contextlib.suppress(ConnectionError):
            assert line.recv(10) == b""


def test_a_body_that_does_not_arrive_is_cut(serving, monkeypatch):
    monkeypatch.setitem(Guard.__call__.__globals__, "BODY_SECONDS", 0.5)
    head = b"POST /api/segment HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n"
    more = b"Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    assert b" 408 " in answer_to(serving, head + more).partition(b"\r\n")[0] + b" "


@pytest.mark.slow
def test_ctrl_c_ends_the_server_and_all_its_processes():
    started = [sys.executable, "-m", "tokbench", "serve", "--port", "0", "-t", "utf8_bytes"]
    options = {"preexec_fn": interruptible, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(started, **options) as process:
        address = httpx.URL(process.stderr.readline().split()[0])
        question = {"json": {"text": "a", "tokenizers": ["utf8_bytes"]}, "timeout": 60}
        assert httpx.post(address.join("/api/segment"), **question).status_code == 403
        with httpx.Client(base_url=address.join("/")) as browser:
            assert "text/html" in browser.get(address, follow_redirects=True).headers["content-type"]
            answer = browser.post("/api/segment", **question)  # the cookie is its token
        assert '"ids":[97]' in answer.text
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        workers = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False).stdout
        process.send_signal(signal.SIGINT)
        code = process.wait(30)
        said = process.stderr.read()
    assert code == 130, said
    assert "Traceback" not in said
    assert workers.split()
    assert not any(Path(f"/proc/{each}").exists() for each in {*workers.split(), *children})
