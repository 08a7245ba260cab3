"""Backends whose answers break the contract, each one rule of it and no other; ``BROKEN`` says which."""

import os
import signal
import time
from pathlib import Path
from types import MappingProxyType

import numpy as np

import tokbench
import tokbench.plugin

HERE = Path(__file__).parent


class Bytes:
    """Breaks nothing."""

    vocab_size = 256

    def __init__(self, options):
        pass

    def encode(self, text, /):
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode(errors="replace")


class WordsAsSize(Bytes):
    vocab_size = "256"


class NoVocabulary(Bytes):
    vocab_size = 0


class Refuses(Bytes):
    def encode(self, text, /):
        if "\0" in text:
            raise ValueError("a text must not have NUL in it")
        return super().encode(text)


class Panic(BaseException):
    """An error of a native library, which is not an ``Exception``."""


class Panics(Bytes):
    def encode(self, text, /):
        if "½" in text:
            raise Panic("index out of bounds")
        return super().encode(text)


class Crashes(Bytes):
    def encode(self, text, /):
        if "½" in text:
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().encode(text)


class Exits(Bytes):
    def encode(self, text, /):
        if "½" in text:
            os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
            os._exit(3)
        return super().encode(text)


class Hangs(Bytes):
    def encode(self, text, /):
        while text == "½":
            time.sleep(1)
        return super().encode(text)


class Surrogates(Bytes):
    def encode(self, text, /):
        return list(text.encode("utf-8", "surrogatepass"))


class OutOfRange(Bytes):
    def encode(self, text, /):
        return [300 if byte == ord("b") else byte for byte in text.encode()]


class Negative(Bytes):
    def encode(self, text, /):
        return [-1 if byte == ord("b") else byte for byte in text.encode()]


class Floats(Bytes):
    def encode(self, text, /):
        return [float(byte) for byte in text.encode()]


class NoSequence(Bytes):
    def encode(self, text, /):
        return iter(text.encode())


class UnknownOutside(Bytes):
    unk_id = 256


class EmptyIsSomething(Bytes):
    def encode(self, text, /):
        return super().encode("\n" if text == "" else text)


class Alternates(Bytes):
    last = None

    def encode(self, text, /):
        twice, self.last = text == self.last, text
        if twice:
            self.last = None
        return super().encode(text)[:: -1 if twice else 1]


class Batches(Bytes):
    def encode_batch(self, texts, /):
        documents = [self.encode(text) for text in texts]
        ids = np.array([i for ids in documents for i in ids], dtype=np.uint32)
        return tokbench.plugin.Encoded(ids, np.cumsum([0, *map(len, documents)], dtype=np.int64))


class SignedBatch(Batches):
    def encode_batch(self, texts, /):
        ids, offsets = super().encode_batch(texts)
        return tokbench.plugin.Encoded(ids.astype(np.int64), offsets)


class StrippedBatch(Batches):
    def encode_batch(self, texts, /):
        return super().encode_batch([text.strip("\n") for text in texts])


class SwappedBatch(Batches):
    def encode_batch(self, texts, /):
        ids, offsets = super().encode_batch(texts)
        ids[ids == ord("b")] = ord("a")
        return tokbench.plugin.Encoded(ids, offsets)


class CountsWords(Bytes):
    def count_batch(self, texts, /):
        return [len(text.split()) for text in texts]


class RecognisesSpecial(Bytes):
    vocab_size = 257
    special_ids = MappingProxyType({"<end>": 256})

    def encode(self, text, /):
        parts = [list(part.encode()) for part in text.split("<end>")]
        return parts[0] + [i for part in parts[1:] for i in (256, *part)]

    def decode(self, ids, /):
        return b"".join(b"<end>" if i == 256 else bytes([i]) for i in ids).decode(errors="replace")


class SpecialOutside(Bytes):
    special_ids = MappingProxyType({"<end>": 256})


class SpecialAsText(Bytes):
    vocab_size = 257
    special_ids = MappingProxyType({"<end>": 256})

    def encode_with_special(self, text, /, *, allowed_special="all"):
        return self.encode(text)

    def decode(self, ids, /):
        return b"".join(b"<end>" if i == 256 else bytes([i]) for i in ids).decode(errors="replace")

    def token_bytes(self, token_id, /):
        return b"<end>" if token_id == 256 else bytes([token_id])


class AllowsAll(SpecialAsText):
    def encode_with_special(self, text, /, *, allowed_special="all"):
        return RecognisesSpecial.encode(self, text)


class LosesTheRest(SpecialAsText):
    def encode_with_special(self, text, /, *, allowed_special="all"):
        if not allowed_special:
            return self.encode(text)
        before, name, after = text.partition("<end>")
        return [*before.encode(), *([256] if name else []), *after.strip().encode()]


class StrictDecode(Bytes):
    def decode(self, ids, /):
        return bytes(ids).decode()


class DecodesToBytes(Bytes):
    def decode(self, ids, /):
        return bytes(ids)


class DecodesToSurrogates(Bytes):
    def decode(self, ids, /):
        return bytes(ids).decode(errors="surrogateescape")


class StrippedDecodeBatch(Bytes):
    def decode_batch(self, encoded, /):
        ids = encoded.ids.tolist()
        texts = [
            self.decode(ids[start:end]) for start, end in zip(encoded.offsets[:-1], encoded.offsets[1:], strict=True)
        ]
        if encoded.ids.max(initial=0) > 255:
            raise ValueError("no such id")
        return [text.strip(" ") for text in texts]


class Lowers(Bytes):
    lossless = True

    def encode(self, text, /):
        return super().encode(text.lower())


class SpaceIsUnderscore(Bytes):
    def token_bytes(self, token_id, /):
        return b"_" if token_id == 32 else bytes([token_id])


class Pairs(Bytes):
    """Breaks nothing: ``ab`` and ``abc`` have ids of their own."""

    vocab_size = 258
    merges = ((97, 98), (256, 99))

    def encode(self, text, /):
        data = text.encode().replace(b"abc", b"\xfe").replace(b"ab", b"\xff")
        return [{0xFE: 257, 0xFF: 256}.get(byte, byte) for byte in data]

    def decode(self, ids, /):
        return b"".join(map(self.token_bytes, ids)).decode(errors="replace")

    def token_bytes(self, token_id, /):
        if token_id not in range(258):
            raise ValueError(f"no id {token_id}")
        return [b"ab", b"abc"][token_id - 256] if token_id > 255 else bytes([token_id])


class MergesTooEarly(Pairs):
    merges = Pairs.merges[::-1]


class MergesToNothing(Pairs):
    merges = ((97, 98), (98, 99))


class CountsCharacters(Bytes):
    lossless = True

    def encode_with_offsets(self, text, /):
        ends = [number for number, char in enumerate(text, 1) for _ in char.encode()]
        return tokbench.plugin.Offsets(self.encode(text), ends)


class FallingOffsets(Bytes):
    def encode_with_offsets(self, text, /):
        ids = self.encode(text)
        return tokbench.plugin.Offsets(ids, list(range(len(ids), 0, -1)))


class WrapsIds(Bytes):
    def decode(self, ids, /):
        return super().decode([i % 256 for i in ids])


class TakesAnything(Bytes):
    def encode(self, text, /):
        return super().encode(str(text))


class SpansInBytes(Bytes):
    def encode_with_spans(self, text, /):
        ids = self.encode(text)
        return tokbench.plugin.TokenSpans(ids, range(len(ids)), range(1, len(ids) + 1))


class ForgetsTheEnd(Bytes):
    def decode_stream(self, ids, /):
        for token_id in ids:
            yield self.decode([token_id])


class SharesOneStream(Bytes):
    def __init__(self, options):
        self.held = b""

    def decode_stream(self, ids, /):
        self.held = b""
        for token_id in ids:
            self.held += bytes([token_id])
            try:
                shown = self.held.decode()
            except ValueError:
                yield ""
            else:
                self.held = b""
                yield shown
        yield self.held.decode(errors="replace")


class ChangesMessages(Bytes):
    def encode_chat(self, messages, /, *, reply):
        for message in messages:
            message["content"] = (message["content"] or "").strip()
        return self.encode("".join(message["content"] for message in messages))


class RefusesByAccident(Bytes):
    def encode_chat(self, messages, /, *, reply):
        return self.encode("".join(message["content"] for message in messages))


# Class, the rule that it breaks, and the input that shows it.
BROKEN = [
    (WordsAsSize, "vocab_size", "vocab_size"),
    (NoVocabulary, "vocab_size", "vocab_size"),
    (Refuses, "every_text", r"encode('\x00')"),
    (Panics, "every_text", "encode('½')"),
    (Crashes, "every_text", "encode('½')"),
    (Exits, "every_text", "encode('½')"),
    (Hangs, "every_text", "encode('½')"),
    (Surrogates, "lone_surrogates", r"encode('\ud800')"),
    (OutOfRange, "ids_in_range", "encode('b')"),
    (Negative, "ids_in_range", "encode('b')"),
    (Floats, "ids_in_range", r"encode('a')"),
    (NoSequence, "ids_in_range", "encode('')"),
    (UnknownOutside, "unknown_id", "unk_id"),
    (EmptyIsSomething, "empty_text", "encode('')"),
    (Alternates, "deterministic", r"encode('\x85'), again"),
    (SignedBatch, "encode_batch", "encode_batch([])"),
    (StrippedBatch, "encode_batch", r"encode_batch(['\n'])"),
    (SwappedBatch, "encode_batch", "encode_batch(['b'])"),
    (CountsWords, "count_batch", None),
    (RecognisesSpecial, "special_tokens", "encode('<end>')"),
    (SpecialOutside, "special_tokens", "special_ids"),
    (SpecialAsText, "encode_with_special", "encode_with_special('<end>', allowed_special=['<end>'])"),
    (AllowsAll, "encode_with_special", "encode_with_special('<end>', allowed_special=())"),
    (LosesTheRest, "encode_with_special", "decode(encode_with_special('one<end> two', allowed_special=['<end>']))"),
    (StrictDecode, "decode", "decode([128])"),
    (DecodesToBytes, "decode", "decode([0])"),
    (DecodesToSurrogates, "decode", "decode([128])"),
    (StrippedDecodeBatch, "decode_batch", "decode_batch of the ids of [' ']"),
    (Lowers, "lossless", "decode(encode('Å'))"),
    (SpaceIsUnderscore, "token_bytes", "token_bytes of encode(' ')"),
    (MergesTooEarly, "merges", "merges[0]"),
    (MergesToNothing, "merges", "merges[1]"),
    (CountsCharacters, "offsets", r"encode_with_offsets('\x85')"),
    (FallingOffsets, "offsets", r"encode_with_offsets('\x85')"),
    (SpansInBytes, "spans", r"encode_with_spans('\x85')"),
    (ForgetsTheEnd, "decode_stream", "decode_stream of the first ids of encode('')"),
    (SharesOneStream, "decode_stream", None),
    (ChangesMessages, "encode_chat", None),
    (RefusesByAccident, "encode_chat", "encode_chat([{'role': 'nobody', 'content': None}], reply=False)"),
    (WrapsIds, "ids_out_of_range", "decode([256])"),
    (TakesAnything, "wrong_types", "encode(None)"),
]
