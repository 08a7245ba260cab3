"""Backends that break the contract, each in one way; a test puts them on the path as a plugin."""

import tokbench


class Bytes:
    vocab_size = 256

    def encode(self, text, /):
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode()


class DecodeRaises(Bytes):
    def decode(self, ids, /):
        msg = "cannot\ngo back"
        raise ValueError(msg)


class OutOfRange(Bytes):
    def encode(self, text, /):
        return [300 if byte == ord("b") else byte for byte in text.encode()]


class Negative(Bytes):
    def encode(self, text, /):
        return [-1 for _ in text]


class Floats(Bytes):
    def encode(self, text, /):
        return [0.5 for _ in text]


class Panic(BaseException):
    """What a native library raises: no ``Exception``."""


class Panics(Bytes):
    def encode(self, text, /):
        if "b" in text:
            raise Panic("index out of bounds")
        return super().encode(text)


class NoDecode:
    vocab_size = 3

    def encode(self, text, /):
        return []


class BadBatch(Bytes):
    def encode_batch(self, texts, /):
        import numpy as np

        return tokbench.Encoded(np.zeros(3, dtype=np.uint32), np.zeros(1, dtype=np.int64))


class Interrupts(Bytes):
    def encode(self, text, /):
        if "b" in text:
            raise KeyboardInterrupt
        return super().encode(text)


def fails_to_train(documents, vocab_size, options, progress):
    for _ in documents:
        pass
    raise tokbench.BackendError("the text is too thin")


@tokbench.hookimpl
def register_backends(register):
    for kind in (Bytes, DecodeRaises, OutOfRange, Negative, Floats, Panics, NoDecode, BadBatch, Interrupts):
        register(tokbench.BackendSpec(name=kind.__name__, summary="faulty", load=lambda options, kind=kind: kind()))
    register(tokbench.BackendSpec(name="FailsToTrain", summary="faulty", train=fails_to_train))
    register(
        tokbench.BackendSpec(
            name="NeedsMore", summary="faulty", load=lambda options: Bytes(), requires=("no-such-thing",)
        )
    )
