"""The routes of the playground."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
from pydantic import Field
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tokbench.config.model import Limits
from tokbench.config.validate import validate_options
from tokbench.foundation.errors import InputError, TokbenchError
from tokbench.foundation.failures import Failure
from tokbench.segmentation.chat_templates import CHAT_TEMPLATES, PromptPart, prompt
from tokbench.serve.catalogue import TokenizerCatalogue
from tokbench.serve.guard import Guard, Refusal, Rules
from tokbench.serve.jobs import CutPrompt, DescribeToken, PageJob, SearchBy, SearchVocabulary, as_json
from tokbench.serve.processes import TokenizerProcesses
from tokbench.tokenizers.batch import valid_unicode
from tokbench.tokenizers.options import Options

T = TypeVar("T", bound=Options)

MOST_TOKENIZERS: Final = 12
"""The most tokenizers of one request, and processes."""

LONGEST_TEXT: Final = 1_000_000

_MOST_LOOKUPS: Final = 3
_PATIENCE: Final = 60.0

_FILES: Final = "/api/files"
_JSON: Final = "application/json"
_LINES: Final = "application/x-ndjson"
_BINARY: Final = "application/octet-stream"

_PAGE: Final = {
    "": ("serve/page/index.html", "text/html; charset=utf-8"),
    "page.css": ("serve/page/page.css", "text/css; charset=utf-8"),
    "page.js": ("serve/page/page.js", "text/javascript; charset=utf-8"),
    "compare.js": ("serve/page/compare.js", "text/javascript; charset=utf-8"),
    "tokens.js": ("serve/page/tokens.js", "text/javascript; charset=utf-8"),
    "token_text.js": ("report/templates/token_text.js", "text/javascript; charset=utf-8"),
    "panels.js": ("serve/page/panels.js", "text/javascript; charset=utf-8"),
    "icon.svg": ("serve/page/icon.svg", "image/svg+xml"),
}


class SegmentRequest(Options):
    """A text, and the tokenizers to cut it."""

    text: str = Field(description="the text")
    tokenizers: tuple[str, ...] = Field(min_length=1, max_length=MOST_TOKENIZERS, description="names of tokenizers")
    special: bool = Field(default=False, description="recognise special tokens in the text")
    template: str = Field(default="", description="the chat template around the text; empty for none")
    system: str = Field(default="", description="the system message in the template; empty for none")


class TokenRequest(Options):
    """An id of a tokenizer."""

    tokenizer: str = Field(description="the name of the tokenizer")
    id: int = Field(ge=0, description="the id")
    merges: bool = Field(default=False, description="show the merges that build it; takes seconds at first")


class SearchRequest(Options):
    """A search in a vocabulary."""

    tokenizer: str = Field(description="the name of the tokenizer")
    query: str = Field(max_length=1000, description="text, hexadecimal digits or a number")
    by: SearchBy = Field(default="text", description="what the query is")


class Playground:
    """The state of all routes."""

    def __init__(
        self,
        catalogue: TokenizerCatalogue,
        *,
        rules: Rules | None = None,
        limits: Limits | None = None,
    ) -> None:
        limits = limits or Limits(step=10)
        patient = limits.model_copy(update={"step": max(_PATIENCE, limits.step)})
        self.catalogue, self.rules = catalogue, rules or Rules()
        self.processes = TokenizerProcesses(limits, MOST_TOKENIZERS)
        self.lookups = TokenizerProcesses(patient, _MOST_LOOKUPS)  # for slow requests, such as recovering merges

    def end(self) -> None:
        self.processes.end()
        self.lookups.end()
        self.catalogue.close()

    def app(self) -> Guard:
        names = ("state", "segment", "token", "vocabulary", "files")
        routes = [
            Route("/api/state", self.state),
            Route("/api/segment", self.segment, methods=["POST"]),
            Route("/api/token", self.token, methods=["POST"]),
            Route("/api/vocabulary", self.vocabulary, methods=["POST"]),
            Route(_FILES, self.drop, methods=["POST"]),
            *(Route(f"/{name}", page_file) for name in _PAGE),
        ]

        async def failed(_: Request, error: Exception) -> Response:
            return _refused(error, names)

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            yield
            self.end()

        handlers: dict[Any, Any] = {TokbenchError: failed, HTTPException: failed}
        return Guard(Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan), self.rules, _FILES)

    async def state(self, _: Request) -> Response:
        return Response(
            as_json(
                {
                    "first": self.catalogue.first,
                    "offers": [list(offer) for offer in self.catalogue.offers],
                    "templates": list(CHAT_TEMPLATES),
                    "most": MOST_TOKENIZERS,
                    "longest": LONGEST_TEXT,
                    "largest_file": self.rules.file,
                }
            ),
            media_type=_JSON,
        )

    async def segment(self, request: Request) -> Response:
        """Cut a text: a line of JSON about it, then one for each tokenizer when ready."""
        asked = await _asked(request, SegmentRequest)
        parts = tuple(prompt(asked.template, asked.text, asked.system))
        whole = "".join(part.text for part in parts)
        if (size := len(whole.encode())) > LONGEST_TEXT:
            advice = f"give at most {LONGEST_TEXT:,}; measure more with tokbench run"
            raise Refusal(413, f"the text has {size:,} bytes", advice)
        names = list(dict.fromkeys(asked.tokenizers))
        message = asked.text if asked.template else None

        async def lines() -> AsyncIterator[bytes]:
            yield as_json({"bytes": size, "text": whole if asked.template else None}) + b"\n"
            jobs = [self._column(self.processes, CutPrompt(name, parts, asked.special, message)) for name in names]
            tasks = [asyncio.create_task(job) for job in jobs]
            try:
                for done in asyncio.as_completed(tasks):
                    yield await done + b"\n"
            finally:
                for task in tasks:
                    task.cancel()

        return StreamingResponse(lines(), media_type=_LINES)

    async def _column(self, processes: TokenizerProcesses, job: PageJob) -> bytes:
        try:
            answer = await processes.ask(job.name, self.catalogue.recipe(job.name), job)
        except TokbenchError as error:
            answer = Failure(str(error))
        if isinstance(answer, Failure):
            return as_json(
                {"tokenizer": job.name, "reason": answer.reason, "close": self.catalogue.close_name(job.name)}
            )
        encoded: bytes = answer
        return encoded

    async def token(self, request: Request) -> Response:
        asked = await _asked(request, TokenRequest)
        job = DescribeToken(asked.tokenizer, asked.id, asked.merges)
        return Response(await self._column(self.lookups if asked.merges else self.processes, job), media_type=_JSON)

    async def vocabulary(self, request: Request) -> Response:
        asked = await _asked(request, SearchRequest)
        job = SearchVocabulary(asked.tokenizer, asked.query, asked.by)
        return Response(await self._column(self.lookups, job), media_type=_JSON)

    async def drop(self, request: Request) -> Response:
        _check_type(request, _BINARY)
        with tempfile.TemporaryDirectory(dir=self.catalogue.folder) as arriving:
            path = Path(arriving, "file")
            try:
                async with await anyio.open_file(path, "wb") as file:
                    async for chunk in request.stream():
                        await file.write(chunk)
            except ClientDisconnect:
                raise Refusal(400, "the file did not arrive", "drop it again") from None
            name = self.catalogue.take_file(request.query_params.get("name", ""), path)
        answer = json.loads(await self._column(self.processes, CutPrompt(name, (PromptPart("a"),))))
        if "reason" in answer:
            self.processes.close(name)
            self.catalogue.forget(name)
            raise Refusal(400, answer["reason"], "drop a file that a backend can load")
        return JSONResponse({"tokenizer": name})


async def page_file(request: Request) -> Response:
    """Serve a file of the page."""
    file, kind = _PAGE[request.url.path.removeprefix("/")]
    return Response(_content(file), media_type=kind)


@cache
def _content(file: str) -> bytes:
    return resources.files("tokbench").joinpath(file).read_bytes()


async def _asked(request: Request, model: type[T]) -> T:
    _check_type(request, _JSON)
    try:
        body = json.loads(await request.body())
    except ClientDisconnect:
        raise Refusal(400, "the request did not arrive", "send it again") from None
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"the request is not JSON: {error}", "send a JSON object") from error
    if not isinstance(body, dict):
        raise Refusal(400, "the request is not a JSON object", "send an object, such as {}")
    plain = {
        valid_unicode(key): valid_unicode(value) if isinstance(value, str) else value for key, value in body.items()
    }
    return validate_options(model, plain, "the request")


def _check_type(request: Request, kind: str) -> None:
    """Refuse other types: a form can send some."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != kind:
        raise Refusal(415, "the content type is not right", f"send Content-Type: {kind}")


def _refused(error: Exception, names: Sequence[str]) -> Response:
    if isinstance(error, Refusal):
        return error.response()
    if isinstance(error, InputError):
        return Refusal(400, str(error), "change the request").response()
    status = error.status_code if isinstance(error, HTTPException) else 500
    return Refusal(status, str(error), f"the API has /api/{', /api/'.join(names)}").response()
