"""The command ``tokbench serve`` and its server: sockets, slow clients, the end, and what is imported."""

import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from conftest import interruptible

from tokbench.cli.main import tokbench as command
from tokbench.serve.app import Playground
from tokbench.serve.catalogue import TokenizerCatalogue
from tokbench.serve.guard import Rules
from tokbench.serve.server import PatientProtocol, listen, server_of

HEAD = b"Host: localhost\r\nAuthorization: Bearer secret"


def test_without_the_extra_the_command_says_what_to_install(monkeypatch):
    for name in [each for each in sys.modules if each.startswith("tokbench.serve")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    outcome = CliRunner().invoke(command, ["serve"])
    assert "install them with: pip install 'tokbench[serve]'" in str(outcome.exception)


def test_wrong_input_is_told_before_anything_is_served(tmp_path):
    def told(*arguments):
        return str(CliRunner().invoke(command, ["serve", *arguments]).exception)

    assert str(tmp_path) in told(str(tmp_path))
    assert "'nobody'" in told("-t", "nobody", "--port", "0")
    assert "much" in told("--memory", "much")
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert f"127.0.0.1:{port}" in told("--port", str(port))
    assert "192.0.2.7:0" in told("--host", "192.0.2.7", "--port", "0")


@pytest.fixture
def serving(monkeypatch):
    """Serve a playground in a thread, with little patience, and give its socket's address."""
    monkeypatch.setattr(PatientProtocol, "header_seconds", 0.3)
    playground = Playground.of(TokenizerCatalogue(), rules=Rules(token="secret", seconds=0.4))
    listening = listen("127.0.0.1", 0)
    server = server_of(playground)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()
    server.should_exit = True
    thread.join(20)
    playground.end()


def answer_to(address, *pieces, pause=0.0):
    """Send pieces to a server, and return what comes back until it hangs up, and after how many seconds."""
    began = time.monotonic()
    with socket.create_connection(address, timeout=60) as line:
        for piece in pieces:
            line.sendall(piece)
            time.sleep(pause)
        received = b""
        try:
            while data := line.recv(65536):
                received += data
        except ConnectionError:
            pass
    return received, time.monotonic() - began


def test_a_client_that_is_slow_is_hung_up_on(serving):
    assert answer_to(serving)[0] == b"", "it says nothing"
    received, seconds = answer_to(serving, b"GET / HT")
    assert (received, seconds < 30) == (b"", True), "its headers do not end"
    received, _ = answer_to(serving, b"GET /api/state HTTP/1.1\r\n" + HEAD + b"\r\n\r\nGET / HT")
    assert received.count(b"HTTP/1.1 200 OK") == 1, "those of its second request do not"
    json = b"Content-Type: application/json\r\nContent-Length: 9"
    head = b"POST /api/segment HTTP/1.1\r\n" + HEAD + b"\r\n" + json + b"\r\n\r\n"
    assert b"408 Request Timeout" in answer_to(serving, head, b"{")[0], "its body does not"
    assert b"400 Bad Request" in answer_to(serving, b"nonsense\r\n\r\n")[0]
    page = httpx.get(f"http://localhost:{serving[1]}/?token=secret", follow_redirects=True)
    assert (page.status_code, page.url.query) == (200, b"")


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
