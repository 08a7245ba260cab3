"""Rules about ``encode``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tokbench.foundation.errors import BackendError
from tokbench.testing.findings import Broken, PrerequisiteFailed, RuleNotApplicable, call_of, raised, shown
from tokbench.testing.texts import long_texts
from tokbench.testing.under_test import TokenizerUnderTest, is_id

# No two halves that would make a whole: some languages would read those as one character.
SURROGATES: Final = ("\ud800", "\udfff", "a\ud800", "\udc00b", "a\udbffb c", "é\udfff\ud800日", "\ud83d 🙂")
_BEGINNING: Final = 100
_MOST_NAMES: Final = 2_000
_FEW_NAMES: Final = 8
_AROUND: Final = (("", ""), ("one", ""), ("", "two"), ("one", "two"), ("one", " two"), ("1é日", "日🙂"))


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
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise Broken(call_of("encode", text), "ValueError or BackendError", words=raised(error)) from error
        if ids != expected:
            raise Broken(call_of("encode", text), f"{shown(expected)}, the ids of {replaced!r}, or ValueError", ids)

    return subject.each_text(SURROGATES, check)


def ids_in_range(subject: TokenizerUnderTest) -> str:
    """All ids are integers in ``range(vocab_size)``."""
    size = subject.vocab_size

    def check(text: str) -> None:
        try:
            ids = subject.call("encode", text)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise PrerequisiteFailed from error
        expected = f"a sequence of integers in range({size})"
        try:
            wrong = [token for token in ids if not is_id(token) or not 0 <= token < size]
            len(ids)
        except TypeError as error:
            raise Broken(call_of("encode", text), expected, ids) from error
        if wrong:
            raise Broken(call_of("encode", text), expected, words=f"{shown(wrong[0])} in {shown(list(ids))}")

    return subject.each_text(subject.more_texts, check)


def unknown_id(subject: TokenizerUnderTest) -> str:
    """``unk_id`` is an id or ``None``."""
    tokenizer, size = subject.tokenizer, subject.vocab_size
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


def special_tokens(subject: TokenizerUnderTest) -> str:
    """Names are text, ids are in range, and no text gives them, not even their spelling."""
    tokenizer = subject.tokenizer
    special = tokenizer.special_ids
    if not isinstance(special, Mapping) or not all(isinstance(name, str) and name for name in special):
        raise Broken("special_ids", "a mapping from names, which are not empty, to ids", special)
    if not subject.are_ids(special.values()):
        raise Broken("special_ids", f"ids in range({subject.vocab_size})", special)
    if not special:
        raise RuleNotApplicable("it has no special tokens")
    name_of = {token_id: name for name, token_id in special.items()}

    def check(text: str) -> None:
        ids = subject.ids(text)
        given = [token_id for token_id in ids if token_id in name_of]
        if given:
            names = f"{given[0]}, which is {name_of[given[0]]!r}, in {shown(ids)}"
            raise Broken(call_of("encode", text), "ids of ordinary text", words=names)

    names = subject.special_names[:: -(-len(special) // _MOST_NAMES)]
    spelled = [text for name in names for text in (name, f"a{name}b", f"{name}{name} {name}")]
    return f"{len(special):,} special tokens, {subject.each_text([*spelled, *subject.more_texts], check)}"


def encode_with_special(subject: TokenizerUnderTest) -> str:
    """Allowed names become one id each, and all else is ordinary text."""
    names, special = subject.special_names, subject.tokenizer.special_ids
    if not names:
        raise RuleNotApplicable("it has no special tokens")

    def encoded(text: str, allowed: Any) -> list[int]:
        return list(subject.answer("encode_with_special", text, allowed_special=allowed, expected="ids"))

    def same(text: str, allowed: Any, expected: list[int]) -> None:
        if (ids := encoded(text, allowed)) != expected:
            raise Broken(call_of("encode_with_special", text, allowed_special=allowed), shown(expected), ids)

    few = names[:: -(-len(names) // _FEW_NAMES)]
    for name in few:
        for before, after in _AROUND:
            text = f"{before}{name}{after}"
            ids, expected = encoded(text, [name]), [*subject.ids(before), special[name]]
            if ids[: len(expected)] != expected or ids.count(special[name]) != 1 or not subject.are_ids(ids):
                call = call_of("encode_with_special", text, allowed_special=[name])
                raise Broken(call, f"{shown(expected)} first, and id {special[name]} once", ids)
        same(name, "all", encoded(name, [name]))
    texts = [*few, *subject.texts]
    checked = subject.each_text(texts, lambda text: same(text, (), subject.ids(text)))
    return f"{len(names):,} special tokens, {checked} with none allowed"


def warm_up(subject: TokenizerUnderTest) -> str:
    """``warm_up`` changes no ids."""
    before = {text: subject.ids(text) for text in subject.encodable}
    subject.answer("warm_up", expected="no error")

    def check(text: str) -> None:
        if (ids := subject.ids(text)) != (expected := before.get(text, ids)):
            raise Broken(f"{call_of('encode', text)} after warm_up()", shown(expected), ids)

    return subject.each_text(list(before), check)


def long_text(subject: TokenizerUnderTest) -> str:
    """A megabyte without a place to split it comes to an end."""
    texts = subject.working(long_texts().items(), lambda item: subject.ids(item[1][:_BEGINNING]))
    for _, text in texts:
        subject.answer("encode", text, expected=f"ids within {subject.limit:g} s")
    return f"a megabyte each: {', '.join(name for name, _ in texts)}"
