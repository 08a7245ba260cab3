"""Rules about copies: other processes, pickles, and saved files."""

from __future__ import annotations

import pickle
import tempfile
from dataclasses import replace
from operator import methodcaller
from pathlib import Path

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
    return _elsewhere(subject, subject.request, "in a fresh process")


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
    return _elsewhere(subject, request, "of a pickled copy in a fresh process")


def _elsewhere(subject: TokenizerUnderTest, request: CheckRequest, where: str) -> str:
    """Compare all ids with another process, in which sets have another order."""
    texts = subject.encodable
    try:
        process = CheckProcess(replace(request, examples=0), subject.limit, hash_seed=1)
    except TokbenchError as error:
        raise Broken(f"load {where}", "the same tokenizer", words=str(error)) from error
    answers = process.ask(methodcaller("ids_or_words", texts))
    process.close()
    if isinstance(answers, WorkerDied):
        raise Broken(f"{answers.heartbeat.place} {where}", "the same ids", words=reason_of(answers))
    for text, there in zip(texts, answers, strict=True):
        _compare(subject, text, there, where)
    return f"{len(texts):,} texts"


def _compare(subject: TokenizerUnderTest, text: str, there: list[int] | str, where: str) -> None:
    if there != (here := subject.ids(text)):
        words = there if isinstance(there, str) else shown(there)
        raise Broken(f"{call_of('encode', text)} {where}", shown(here), words=words)


def saved(subject: TokenizerUnderTest) -> str:
    """The tokenizer that ``load`` makes of a saved file gives the same ids."""
    tokenizer = subject.tokenizer
    reason = _reason_against_saving(subject)
    if reason is not None:
        raise RuleNotApplicable(reason)
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

        def check(text: str) -> None:
            [there] = copy.ids_or_words([text])
            _compare(subject, text, there, "of a saved copy")

        return subject.each_text(subject.encodable, check)


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
