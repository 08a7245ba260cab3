"""Rules about ``encode``: which texts it takes and which ids it gives."""

from __future__ import annotations

from typing import Final

from tokbench.contracts.tokenizer import EncodesBatch, HasUnknown, WarmsUp
from tokbench.errors import BackendError
from tokbench.testing.findings import Broken, Elsewhere, RuleNotApplicable
from tokbench.testing.shown import call_of, shown
from tokbench.testing.texts import long_texts
from tokbench.testing.under_test import TokenizerUnderTest, is_id, raised

# No two halves that would make a whole: some languages would read those as one character.
SURROGATES: Final = ("\ud800", "\udfff", "a\ud800", "\udc00b", "a\udbffb c", "é\udfff\ud800日", "\ud83d 🙂")
_BEGINNING: Final = 100


def vocab_size(subject: TokenizerUnderTest) -> str:
    """``vocab_size`` is a positive integer."""
    size = subject.tokenizer.vocab_size
    if not is_id(size) or size < 1:
        raise Broken("vocab_size", "a positive integer", size)
    return f"{size:,} ids"


def every_text(subject: TokenizerUnderTest) -> str:
    """No Unicode text is refused, and none kills the process."""

    def check(text: str) -> None:
        subject.answer("encode", text, expected="ids")

    return subject.each_text(subject.more_texts, check)


def lone_surrogates(subject: TokenizerUnderTest) -> str:
    """Text that is not Unicode is replaced or refused."""

    def check(text: str) -> None:
        replaced = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
        expected = subject.ids(replaced)
        try:
            ids = list(subject.call("encode", text))
        except (ValueError, BackendError):
            return
        except BaseException as error:
            _stop(error)
            raise Broken(call_of("encode", text), "ValueError or BackendError", words=raised(error)) from error
        if ids != expected:
            raise Broken(call_of("encode", text), f"{shown(expected)}, the ids of {replaced!r}, or ValueError", ids)

    return subject.each_text(SURROGATES, check)


def ids_in_range(subject: TokenizerUnderTest) -> str:
    """All ids are integers in ``range(vocab_size)``."""
    size = subject.vocab_size

    def check(text: str) -> None:
        try:
            ids = subject.call("encode", text, builds_on=True)
        except BaseException as error:
            _stop(error)
            raise Elsewhere from error
        expected = f"a sequence of integers in range({size})"
        try:
            wrong = [each for each in ids if not is_id(each) or not 0 <= each < size]
            len(ids)
        except TypeError as error:
            raise Broken(call_of("encode", text), expected, ids) from error
        if wrong:
            raise Broken(call_of("encode", text), expected, words=f"{shown(wrong[0])} in {shown(list(ids))}")

    return subject.each_text(subject.more_texts, check)


def unknown_id(subject: TokenizerUnderTest) -> str:
    """``unk_id`` is an id or ``None``."""
    tokenizer, size = subject.tokenizer, subject.vocab_size
    if not isinstance(tokenizer, HasUnknown):
        raise RuleNotApplicable("it has no unk_id")
    unk_id = tokenizer.unk_id
    if unk_id is not None and not subject.are_ids([unk_id]):
        raise Broken("unk_id", f"None or an integer in range({size})", unk_id)
    return f"unk_id is {unk_id}"


def empty_text(subject: TokenizerUnderTest) -> str:
    """Empty text has no ids, and no ids are empty text."""
    ids = subject.ids("")
    if ids:
        raise Broken("encode('')", "no ids", ids)
    text = subject.text([])
    if text:
        raise Broken("decode([])", "''", text)
    return "both ways"


def deterministic(subject: TokenizerUnderTest) -> str:
    """The same text gives the same ids twice in a row, and after others."""
    first = {text: subject.ids(text) for text in reversed(subject.encodable)}

    def check(text: str) -> None:
        before = first.get(text) or subject.ids(text)
        for after in (subject.ids(text), subject.ids(text)):
            if after != before:
                raise Broken(f"{call_of('encode', text)}, again", shown(before), after)

    return subject.each_text(subject.encodable, check)


def warm_up(subject: TokenizerUnderTest) -> str:
    """``warm_up`` changes no ids."""
    if not isinstance(subject.tokenizer, WarmsUp):
        raise RuleNotApplicable("it has no warm_up")
    before = {text: subject.ids(text) for text in subject.encodable}
    subject.answer("warm_up", expected="no error")

    def check(text: str) -> None:
        expected = before.get(text) or subject.ids(text)
        methods = {"encode": subject.ids}
        if isinstance(subject.tokenizer, EncodesBatch):
            methods["encode_batch"] = lambda text: subject.call("encode_batch", [text]).ids.tolist()
        for method, encode in methods.items():
            if (ids := encode(text)) != expected:
                raise Broken(f"{call_of(method, text)} after warm_up()", shown(expected), ids)

    return subject.each_text(list(before), check)


def long_text(subject: TokenizerUnderTest) -> str:
    """A megabyte without a place to split it comes to an end."""
    texts = {name: text for name, text in long_texts().items() if _begins(subject, text)}
    if not texts:
        raise Elsewhere
    for text in texts.values():
        subject.answer("encode", text, expected=f"ids within {subject.limit:g} s")
    return f"a megabyte each: {', '.join(texts)}"


def _begins(subject: TokenizerUnderTest, text: str) -> bool:
    """Tell whether at least the beginning of a text can be encoded."""
    try:
        subject.ids(text[:_BEGINNING])
    except Elsewhere:
        return False
    return True


def _stop(error: BaseException) -> None:
    if isinstance(error, KeyboardInterrupt | Elsewhere):
        raise error
