"""Backends that answer well at first, and break the contract when they are loaded, copied, saved, shared or kept busy."""

import json
import os
import signal
import threading
import time
from pathlib import Path

from broken_backends import Bytes, Panic, RecognisesSpecial, SpecialAsText

import tokbench
import tokbench.plugin


class DependsOnHash(Bytes):
    """Python orders sets and hashes differently in every process."""

    def __init__(self, options):
        self.key = hash("tokbench") % 256

    def encode(self, text, /):
        return [byte ^ self.key for byte in text.encode()]

    def decode(self, ids, /):
        return super().decode([i ^ self.key for i in ids])


class Forgets(Bytes):
    shift = 1

    def __getstate__(self):
        return {"shift": 2}

    def encode(self, text, /):
        return [(byte + self.shift) % 256 for byte in text.encode()]

    def decode(self, ids, /):
        return bytes((byte - self.shift) % 256 for byte in bytes(ids)).decode(errors="replace")


class SharesState(Bytes):
    thread_safe = True

    def encode(self, text, /):
        self.text = text
        if threading.active_count() > 1:
            time.sleep(1e-5)
        return super().encode(self.text)


class SharesSettings(SpecialAsText):
    thread_safe = True
    allowed = ()

    def encode_with_special(self, text, /, *, allowed_special="all"):
        self.allowed = allowed_special
        if threading.active_count() > 1:
            time.sleep(1e-5)
        return (RecognisesSpecial if self.allowed else Bytes).encode(self, text)


class WarmsToOther(Bytes):
    warm = False

    def warm_up(self):
        self.warm = True

    def encode(self, text, /):
        return super().encode(text)[:: -1 if self.warm else 1]


class NeverEnds(Bytes):
    def encode(self, text, /):
        while len(text) > 100_000:
            time.sleep(1)
        return super().encode(text)


class LongPanics(Bytes):
    def encode(self, text, /):
        if len(text) > 100_000:
            raise Panic("stack overflow")
        return super().encode(text)


class NotHere(Bytes):
    def __init__(self, options):
        raise tokbench.BackendUnavailable("no network here")


class Damaged(Bytes):
    def __init__(self, options):
        raise tokbench.BackendError("the file is damaged")


class LoadPanics(Bytes):
    def __init__(self, options):
        raise Panic("out of memory")


class LoadCrashes(Bytes):
    def __init__(self, options):
        os.kill(os.getpid(), signal.SIGSEGV)


class NoTokenizer:
    def __init__(self, options):
        pass


class SaveOptions(tokbench.plugin.Options):
    path: tokbench.plugin.LocalPath | None = None


class SavesShort(Bytes):
    """Writes three of its four ids."""

    file_suffix = ".json"

    def __init__(self, options):
        path = getattr(options, "path", None)
        self.letters = json.loads(path.read_text()) if path else "abcd"
        self.vocab_size = 5

    def encode(self, text, /):
        return [self.letters.find(char) + 1 for char in text.encode("utf-8", "replace").decode()]

    def decode(self, ids, /):
        if any(not 0 <= i < 5 for i in ids):
            raise ValueError("no such id")
        return "".join("\ufffdabcd"[i] for i in ids)

    def save(self, path, /):
        Path(path).write_text(json.dumps(self.letters[:3]))


class SavesNothing(SavesShort):
    def save(self, path, /):
        pass


class CannotLeave(Bytes):
    """Trained, and neither pickled nor saved."""

    def __reduce__(self):
        raise TypeError("there is a file handle in it")


def spec(kind, *, trained=False):
    if trained:
        return tokbench.plugin.BackendSpec(
            name=kind.__name__, summary="broken", load=kind, load_options=SaveOptions, train=TRAIN[kind]
        )
    return tokbench.plugin.BackendSpec(name=kind.__name__, summary="broken", load=kind)


def train_saves_short(documents, vocab_size, options, progress):
    return SavesShort(None)


def train_saves_nothing(documents, vocab_size, options, progress):
    return SavesNothing(None)


def train_cannot_leave(documents, vocab_size, options, progress):
    return CannotLeave(None)


TRAIN = {SavesShort: train_saves_short, SavesNothing: train_saves_nothing, CannotLeave: train_cannot_leave}

# Class, the rule that it breaks, and the input that shows it.
BROKEN = [
    (DependsOnHash, "other_process", "encode('a') in a fresh process"),
    (Forgets, "pickle", "encode('a') of a pickled copy in a fresh process"),
    (SavesShort, "save", "encode('d') of a saved copy"),
    (SavesNothing, "save", None),
    (CannotLeave, "pickle", "pickle.dumps(tokenizer)"),
    (SharesSettings, "threads_mixed", None),
    (SharesState, "threads", None),
    (WarmsToOther, "warm_up", None),
    (NeverEnds, "long_text", None),
    (LongPanics, "long_text", None),
]
