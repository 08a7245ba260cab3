"""Rules about copies: other processes, pickles, and saved files."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from operator import methodcaller
from pathlib import Path
from typing import Any

from tokbench.config.validate import validate_options
from tokbench.engine.workers.pool import WorkerDied
from tokbench.foundation.errors import TokbenchError
from tokbench.testing.findings import Broken, RuleNotApplicable, call_of, raised, shown
from tokbench.testing.process import CheckProcess, reason_of
from tokbench.testing.under_test import CheckRequest, TokenizerUnderTest
from tokbench.tokenizers.contract import Saves, Tokenizer


def other_process(subject: TokenizerUnderTest) -> str:
    """Loaded in a new process, the tokenizer gives the same ids."""
    if subject.request.train:
        raise RuleNotApplicable("it is trained here; a pickled or saved copy goes to another process")
    return _compared_elsewhere(subject, subject.request, "in a fresh process")


def pickled(subject: TokenizerUnderTest) -> str:
    """A pickled copy gives the same ids in another process."""
    try:
        data = pickle.dumps(subject.tokenizer)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if not subject.request.train:
            raise RuleNotApplicable(f"pickle {raised(error)}; another process loads it again") from error
        if _reason_against_saving(subject) is None:
            words = f"pickle {raised(error)}; another process loads what it has saved"
            raise RuleNotApplicable(words) from error
        expected = "a pickled copy, since it is trained and not saved to a file that load takes"
        raise Broken("pickle.dumps(tokenizer)", expected, words=raised(error)) from error
    request = replace(subject.request, pickled=data)
    return _compared_elsewhere(subject, request, "of a pickled copy in a fresh process", keep=not subject.request.train)


class _DiedElsewhere(Exception):  # noqa: N818 - a finding
    """The other process has died; the argument is a :class:`WorkerDied`."""


def _compared_elsewhere(subject: TokenizerUnderTest, request: CheckRequest, where: str, *, keep: bool = False) -> str:
    """Compare all ids with another process, in which sets have another order; ``keep`` it for the next one."""

    def encode(text: str) -> Any:
        answer = process.ask(methodcaller("ids_or_words", text))
        if isinstance(answer, WorkerDied):
            raise _DiedElsewhere(answer)
        return answer

    try:
        process = _second_process(subject, replace(request, examples=0))
        with ExitStack() as stack:
            stack.callback(process.close)
            note = _compared(subject, encode, where)
            if keep:
                subject.second_process = process
                stack.pop_all()
    except _DiedElsewhere as error:
        [died] = error.args
        raise Broken(f"{died.heartbeat.place} {where}", "the same ids", words=reason_of(died)) from error
    except TokbenchError as error:
        raise Broken(f"load {where}", "the same tokenizer", words=str(error)) from error
    return note


def _second_process(subject: TokenizerUnderTest, request: CheckRequest) -> CheckProcess:
    process, subject.second_process = subject.second_process, None
    if process is None:
        return CheckProcess(request, subject.limit, hash_seed=1)
    process.load(request)
    return process


def _compared(subject: TokenizerUnderTest, encode: Callable[[str], Any], where: str) -> str:
    def check(text: str) -> None:
        here, there = subject.ids(text), encode(text)
        if there != here:
            words = there if isinstance(there, str) else shown(there)
            raise Broken(f"{call_of('encode', text)} {where}", shown(here), words=words)

    return subject.each_text(subject.encodable, check)


def saved(subject: TokenizerUnderTest) -> str:
    """The tokenizer that ``load`` makes of a saved file gives the same ids."""
    tokenizer = subject.tokenizer
    reason = _reason_against_saving(subject)
    if reason is not None:
        raise RuleNotApplicable(reason)
    assert isinstance(tokenizer, Saves)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"saved{tokenizer.file_suffix}")
        subject.answer("save", path, expected=f"a file {path.name}")
        if not path.is_file():
            raise Broken("save(path)", "one file", words=f"{'a folder' if path.is_dir() else 'no file'}")
        loading = f"load(path={path.name!r})"
        try:
            loaded = _loaded(subject, path)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise Broken(loading, "the tokenizer that was saved", words=raised(error)) from error
        if loaded.vocab_size != tokenizer.vocab_size:
            raise Broken(loading, f"vocab_size {tokenizer.vocab_size}", words=f"vocab_size {loaded.vocab_size}")
        copy = TokenizerUnderTest(subject.request, subject.spec, loaded, subject.limit)
        return _compared(subject, copy.ids_or_words, "of a saved copy")


def _loaded(subject: TokenizerUnderTest, path: Path) -> Tokenizer:
    spec = subject.spec
    assert spec.load is not None
    options = {name: value for name, value in subject.request.options.items() if name in spec.load_options.model_fields}
    return spec.load(validate_options(spec.load_options, {**options, "path": path}, "load"))


def _reason_against_saving(subject: TokenizerUnderTest) -> str | None:
    if not isinstance(subject.tokenizer, Saves):
        return "it has no save"
    spec = subject.spec
    if spec.load is None or "path" not in spec.load_options.model_fields:
        return "its backend has no load with an option 'path'"
    if not subject.request.train and "path" not in subject.request.options:
        return "it was loaded by other options than 'path', which need not go together with it"
    return None
