"""Backends whose answers break the contract, each one rule of it and no other; ``BROKEN`` says which."""

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import NamedTuple

import tokbench
import tokbench.plugin


class Bytes:
    """Breaks nothing."""

    vocab_size = 256

    def __init__(self, options):
        pass

    def encode(self, text, /):
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode(errors="replace")


class Special(Bytes):
    """Breaks nothing: a special token, which no text gives."""

    vocab_size = 257
    special_ids = {"<end>": 256}  # noqa: RUF012

    def decode(self, ids, /):
        return b"".join(b"<end>" if i == 256 else bytes([i]) for i in ids).decode(errors="replace")


class Letters(Bytes):
    """Saves three of its four letters."""

    file_suffix = ".json"
    vocab_size = 5

    class Options(tokbench.plugin.Options):
        path: tokbench.plugin.LocalPath | None = None

    def __init__(self, options):
        path = getattr(options, "path", None)
        self.letters = json.loads(path.read_text()) if path else "abcd"

    def encode(self, text, /):
        return [self.letters.find(char) + 1 for char in text.encode("utf-8", "replace").decode()]

    def decode(self, ids, /):
        if any(not 0 <= i < 5 for i in ids):
            raise ValueError("no such id")
        return "".join("\ufffdabcd"[i] for i in ids)

    def save(self, path, /):
        Path(path).write_text(json.dumps(self.letters[:3]))


class Keyed(Bytes):
    """Has a key, which is another in another process: of hashes there, or after pickling."""

    def __init__(self, options):
        self.key = hash("tokbench") % 256

    def encode(self, text, /):
        return [byte ^ self.key for byte in text.encode()]

    def decode(self, ids, /):
        return super().decode([i ^ self.key for i in ids])


def spec(kind):
    options = {"load_options": Letters.Options, "train": train_letters} if issubclass(kind, Letters) else {}
    return tokbench.plugin.BackendSpec(name=kind.__name__, summary="broken", load=kind, **options)


def train_letters(documents, vocab_size, options, progress):
    return Letters(None)


def keep_key(self, options):
    pass


def crash(*_):
    os.kill(os.getpid(), signal.SIGSEGV)


def crash_at_half(self, text, /):
    return crash() if "½" in text else list(text.encode())


def be_absent(self, options):
    raise tokbench.BackendUnavailable("no network here")


def refuse_nul(self, text, /):
    if "\0" in text:
        raise ValueError("a text must not have NUL in it")
    return list(text.encode())


def reverse_again(self, text, /):
    twice, self.last = text == self.last, text
    if twice:
        self.last = None
    return list(text.encode())[:: -1 if twice else 1]


def encode_special(self, text, /, **_):
    parts = [list(part.encode()) for part in text.split("<end>")]
    return parts[0] + [i for part in parts[1:] for i in (256, *part)]


def strip_decoded(self, encoded, /):
    if encoded.ids.max(initial=0) > 255:
        raise ValueError("no such id")
    pairs = zip(encoded.offsets[:-1], encoded.offsets[1:], strict=True)
    return [self.decode(encoded.ids.tolist()[start:end]).strip(" ") for start, end in pairs]


def share_text(self, text, /):
    self.text = text
    if threading.active_count() > 1:
        time.sleep(1e-5)
    return list(self.text.encode())


def hang(self, text, /):
    while len(text) > 100_000:
        time.sleep(1)
    return list(text.encode())


class Broken(NamedTuple):
    """A backend, and the input that shows what it breaks, if that is always the same."""

    kind: type
    shown: str | None = None


def broken(name, shown=None, base=Bytes, **members):
    """Make a class of this module, which other processes can import."""
    kind = globals()[name] = type(name, (base,), {"__module__": __name__, **members})
    return Broken(kind, shown)


def with_encode(name, shown, encode, **members):
    return broken(name, shown, encode=lambda self, text, /: list(encode(text)), **members)


BROKEN = {
    "vocab_size": broken("NoVocabulary", "vocab_size", vocab_size=0),
    "every_text": broken("Refuses", r"encode('\x00')", encode=refuse_nul),
    "lone_surrogates": with_encode("Halves", r"encode('\ud800')", lambda text: text.encode("utf-8", "surrogatepass")),
    "ids_in_range": with_encode("Beyond", "encode('b')", lambda text: (i + 300 * (i == 98) for i in text.encode())),
    "unknown_id": broken("UnknownOutside", "unk_id", unk_id=256),
    "empty_text": with_encode("EmptyIsSomething", "encode('')", lambda text: ("\n" if text == "" else text).encode()),
    "deterministic": broken("Alternates", r"encode('\x85'), again", encode=reverse_again, last=None),
    "encode_batch": broken(
        "StrippedBatch",
        r"encode_batch(['\n'])",
        encode_batch=lambda self, texts, /: tokbench.plugin.from_lists(
            [self.encode(text.strip("\n")) for text in texts]
        ),
    ),
    "special_tokens": broken("Recognises", "encode('<end>')", Special, encode=encode_special),
    "encode_with_special": broken(
        "All", "encode_with_special('<end>', allowed_special=())", Special, encode_with_special=encode_special
    ),
    "decode": broken("Strict", "decode([128])", decode=lambda self, ids, /: bytes(ids).decode()),
    "decode_batch": broken("StripsBatch", "decode_batch of the ids of [' ']", decode_batch=strip_decoded),
    "lossless": with_encode("Lowers", "decode(encode('Å'))", lambda text: text.lower().encode(), lossless=True),
    "token_bytes": broken(
        "Underscores", "token_bytes of encode(' ')", token_bytes=lambda self, i, /: b"_" if i == 32 else bytes([i])
    ),
    "merges": broken("ToNothing", "merges[0]", merges=((97, 98),), token_bytes=lambda self, i, /: bytes([i])),
    "offsets": broken(
        "Falling",
        r"encode_with_offsets('\x85')",
        encode_with_offsets=lambda self, text, /: (ids := self.encode(text), list(range(len(ids), 0, -1))),
    ),
    "spans": broken(
        "InBytes",
        r"encode_with_spans('\x85')",
        encode_with_spans=lambda self, text, /: (ids := self.encode(text), range(len(ids)), range(1, len(ids) + 1)),
    ),
    "decode_stream": broken(
        "ForgetsTheEnd",
        "decode_stream of the first ids of encode('')",
        decode_stream=lambda self, ids, /: (self.decode([i]) for i in ids),
    ),
    "encode_chat": broken(
        "Accident",
        None,
        encode_chat=lambda self, chat, /, *, reply: [len("".join(turn["content"] for turn in chat)) % 9],
    ),
    "ids_out_of_range": broken(
        "Wraps", "decode([256])", decode=lambda self, ids, /: bytes(i % 256 for i in ids).decode(errors="replace")
    ),
    "wrong_types": with_encode("TakesAnything", "encode(None)", lambda text: str(text).encode()),
    "other_process": broken("Hashes", r"encode('\x00') in a fresh process", Keyed),
    "pickle": broken("Forgets", None, Keyed, __init__=keep_key, key=1, __getstate__=lambda self: {"key": 2}),
    "save": Broken(Letters, "encode('d') of a saved copy"),
    "threads": broken("SharesText", encode=share_text, thread_safe=True),
    "count_batch": broken("CountsWords", count_batch=lambda self, texts, /: [len(text.split()) for text in texts]),
    "warm_up": broken("Warmed", None, Keyed, __init__=keep_key, key=1, warm_up=lambda self: setattr(self, "key", 2)),
    "long_text": broken("NeverEnds", encode=hang),
}
CRASHES = broken("Crashes", "encode('½')", encode=crash_at_half)
NOT_HERE = broken("NotHere", __init__=be_absent).kind
LOAD_CRASHES = broken("LoadCrashes", __init__=crash).kind
