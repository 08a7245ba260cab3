"""Rules about copies: in another process, pickled, or saved, a tokenizer stays the same."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokbench.config.validate import validate_options
from tokbench.contracts.backend import BackendSpec
from tokbench.contracts.tokenizer import Saves, Tokenizer
from tokbench.errors import TokbenchError
from tokbench.testing.findings import Broken, NotApplicable
from tokbench.testing.job import Job
from tokbench.testing.process import Died, Process
from tokbench.testing.shown import call_of, shown
from tokbench.testing.subject import TokenizerUnderTest, why

__all__ = ["other_process", "pickled", "saved"]


def other_process(subject: TokenizerUnderTest) -> str:
    """Loaded there again, it gives the same ids."""
    if subject.job.train:
        raise NotApplicable("it is trained here; a pickled or saved copy goes to another process")
    return _elsewhere(subject, subject.job, "in a fresh process")


def pickled(subject: TokenizerUnderTest) -> str:
    """A pickled copy gives the same ids in another process."""
    try:
        data = pickle.dumps(subject.tokenizer)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        other = _loads_saved(subject) if subject.job.train else "another process loads it again"
        if other:
            raise NotApplicable(f"pickle {why(error)}; {other}") from error
        expected = "a pickled copy, since it is trained and not saved to a file that load takes"
        raise Broken("pickle.dumps(tokenizer)", expected, words=why(error)) from error
    return _elsewhere(subject, replace(subject.job, pickled=data), "of a pickled copy in a fresh process")


def _loads_saved(subject: TokenizerUnderTest) -> str:
    return "" if _reason_against(subject.tokenizer, subject.job) else "another process loads what it has saved"


def _elsewhere(subject: TokenizerUnderTest, job: Job, where: str) -> str:
    """Compare all ids with those of another process, in which sets have another order."""
    try:
        with Process(job, subject.limit, hash_seed=1) as process:
            return _compared(subject, lambda text: process.ask("ids", text), where)
    except Died as died:
        raise Broken(f"{died.note.call} {where}", "the same ids", words=died.reason) from died
    except TokbenchError as error:
        raise Broken(f"load {where}", "the same tokenizer", words=str(error)) from error


def _compared(subject: TokenizerUnderTest, encode: Callable[[str], Any], where: str) -> str:
    """Compare all ids with those that another tokenizer gives, or with the words that it has for not giving any."""

    def check(text: str) -> None:
        here, there = subject.ids(text), encode(text)
        if there != here:
            words = there if isinstance(there, str) else shown(there)
            raise Broken(f"{call_of('encode', text)} {where}", shown(here), words=words)

    return subject.each_text(subject.encodable, check)


def saved(subject: TokenizerUnderTest) -> str:
    """What ``load`` makes of a saved file gives the same ids."""
    tokenizer, job = subject.tokenizer, subject.job
    reason = _reason_against(tokenizer, job)
    if reason:
        raise NotApplicable(reason)
    assert isinstance(tokenizer, Saves)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"saved{tokenizer.file_suffix}")
        subject.answer("save", path, expected=f"a file {path.name}")
        if not path.is_file():
            raise Broken("save(path)", "one file", words=f"{'a folder' if path.is_dir() else 'no file'}")
        loading = f"load(path={path.name!r})"
        try:
            loaded = _loaded(job.spec(), job, path)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise Broken(loading, "the tokenizer that was saved", words=why(error)) from error
        if loaded.vocab_size != tokenizer.vocab_size:
            raise Broken(loading, f"vocab_size {tokenizer.vocab_size}", words=f"vocab_size {loaded.vocab_size}")
        copy = TokenizerUnderTest(job, loaded, subject.limit, subject.note, frozenset())
        return _compared(subject, copy.ids_or_words, "of a saved copy")


def _loaded(spec: BackendSpec, job: Job, path: Path) -> Tokenizer:
    """Load a saved file with what else was said that loading has an option for."""
    assert spec.load is not None
    options = {name: value for name, value in job.options.items() if name in spec.load_options.model_fields}
    return spec.load(validate_options(spec.load_options, {**options, "path": path}, "load"))


def _reason_against(tokenizer: Tokenizer, job: Job) -> str:
    """Why a saved file cannot be loaded; ``""`` if it can."""
    if not isinstance(tokenizer, Saves):
        return "it has no save"
    spec = job.spec()
    if spec.load is None or "path" not in spec.load_options.model_fields:
        return "its backend has no load with an option 'path'"
    if not job.train and "path" not in job.options:
        return "it was loaded by other options than 'path', which need not go together with it"
    return ""
