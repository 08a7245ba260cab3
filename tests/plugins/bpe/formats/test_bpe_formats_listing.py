"""The listing: readable, and every byte visible."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench_plugins.bpe.formats import Parts, write_listing
from tokbench_plugins.bpe.formats.listing import quoted
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.bpe.vocabulary import Vocabulary

LETTERS = tuple(bytes([byte]) for byte in range(256))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.txt"
    write_listing(path, Parts(Vocabulary.trained([(104, 105), (256, 33)]), "gpt4", SpecialTokens({"<a>\n": 258})))
    return path


def test_what_it_looks_like(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines[0] == '# tokbench listing 1: 259 ids, 2 merges, split "gpt4"'
    assert lines[1] == 'byte  0                      "\\x00"'
    assert lines[1 + 104] == 'byte  104                    "h"'
    assert lines[257:] == [
        'merge 256 = 104 105          "hi"',
        'merge 257 = 256 33           "hi!"',
        'special 258                  "<a>\\x0a"',
        "",
    ]


def test_whole_chunks_and_unused_tokens(tmp_path):
    tokens = (*reversed(LETTERS), b"", b"xyz", b"ab", b"unused")
    parts = Parts(Vocabulary(tokens, tuple(range(255, -1, -1)), ((158, 157, 258),), frozenset({257})))
    write_listing(tmp_path / "x.txt", parts)
    lines = (tmp_path / "x.txt").read_text(encoding="utf-8").split("\n")
    assert [line.split() for line in lines[257:-1]] == [
        ["merge", "258", "=", "158", "157", '"ab"'], ["whole", "257", '"xyz"'], ["token", "259", '"unused"']
    ]  # fmt: skip


@given(token=st.one_of(st.binary(), st.text().map(str.encode)))
def test_quoting(token):
    shown = quoted(token)
    assert shown.isprintable()
    assert shown.count('"') == 2
    assert not unicodedata.category(shown[1]).startswith("M")


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        (" naïve", '" naïve"'),
        ("\u202e", r'"\xe2\x80\xae"'),  # writes what follows from right to left
        ("\u0301a\u0301", '"\\xcc\\x81a\u0301"'),
        ("\\x41", r'"\x5cx41"'),
        ("日本", '"日本"'),
    ],
)
def test_what_is_shown(token, shown):
    assert quoted(token.encode()) == shown
