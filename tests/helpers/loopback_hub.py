"""A hub on the loopback, which speaks the protocol of the Hugging Face hub: lists of files, and files at a commit."""

import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT, OLD = "a" * 40, "b" * 40


class Hub(BaseHTTPRequestHandler):
    """``/org/name/resolve/revision/file`` and lists of files, with the hub's headers and codes of errors."""

    repositories: dict[str, dict[str, dict[str, bytes]]]
    asked: list[tuple[str, str]]

    def log_message(self, *_):
        pass

    def answer(self, status, headers=(), body=b""):
        self.send_response(status)
        for key, value in dict(headers).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_GET(self):  # noqa: C901, PLR0911 - one return for each answer of the hub
        if self.path == "/":
            return self.answer(200)
        self.asked.append((self.command, self.path))
        path = self.path
        if "/moved/" in path:
            return self.answer(307, {"Location": path.replace("/moved/", "/org/")})
        listed, cdn = path.startswith("/api/models/"), path.startswith("/cdn/")
        if "/resolve/" not in path and not listed:  # what else transformers asks
            return self.answer(404)
        rest = path.removeprefix("/cdn").removeprefix("/api/models").partition("?")[0].split("/")[1:]
        org, model, asked, revision, file = (*rest, *("revision", "main", "")[max(len(rest) - 2, 0) :])[:5]
        name = f"{org}/{model}"
        token = self.headers.get("Authorization")
        if model == "gated" and token != "Bearer good":
            return self.answer(403 if token else 401, {"X-Error-Code": "GatedRepo"})
        if model == "failing":
            return self.answer(500)
        if name not in self.repositories:
            return self.answer(404 if token else 401, {"X-Error-Code": "RepoNotFound"})
        commit = {"main": COMMIT, "v1": OLD}.get(revision, revision)
        if commit not in self.repositories[name]:
            return self.answer(404, {"X-Error-Code": "RevisionNotFound"})
        head = {"X-Repo-Commit": commit}
        if listed:
            files = self.repositories[name][commit].items()
            tree = [{"type": "file", "path": file, "size": len(data), "oid": "0" * 40} for file, data in files]
            facts = {"id": name, "sha": commit, "siblings": [{"rfilename": file} for file, _ in files]}
            found = tree if asked == "tree" else facts
            return self.answer(200, {"Content-Type": "application/json"}, json.dumps(found).encode())
        body = self.repositories[name][commit].get(file)
        if body is None:
            return self.answer(404, head | {"X-Error-Code": "EntryNotFound"})
        etag = f'"{hashlib.sha256(body).hexdigest()}"'
        if model == "large" and not cdn:  # as files of Git LFS
            linked = {"X-Linked-ETag": etag, "X-Linked-Size": str(len(body))}
            location = f"http://localhost:{self.server.server_port}/cdn{path}"
            return self.answer(302, head | linked | {"Location": location})
        return self.answer(200, head | {"ETag": etag}, body)

    do_HEAD = do_GET  # noqa: N815 - the name that http.server asks for


@contextmanager
def serving(repositories):
    """Serve files by name of the repository, commit and path; yields the server."""
    handler = type("OneHub", (Hub,), {"repositories": repositories, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
