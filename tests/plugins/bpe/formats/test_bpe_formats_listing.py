"""The listing: readable, every byte visible, and read back as it was."""

import unicodedata

import pytest
from formats_data import same, trained
from hypothesis import given
from hypothesis import strategies as st

import tokbench
from tokbench_plugins.bpe.formats import Parts, read_listing, write_listing
from tokbench_plugins.bpe.formats.listing import quoted, unquoted
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


@pytest.mark.parametrize("pattern", [None, "o200k"])
def test_round_trip(pattern, tmp_path):
    parts = trained(pattern)
    path = tmp_path / "x.txt"
    write_listing(path, parts)
    same(read_listing(path), parts)
    assert all(line.isprintable() for line in path.read_text(encoding="utf-8").split("\n"))


def test_shuffled_bytes_gaps_and_whole_chunks(tmp_path):
    tokens = (*reversed(LETTERS), b"", b"xyz", b"ab", b"unused")
    merges = ((158, 157, 258),)
    parts = Parts(Vocabulary(tokens, tuple(range(255, -1, -1)), merges, frozenset({257})))
    path = tmp_path / "x.txt"
    write_listing(path, parts)
    same(read_listing(path), parts)


@given(token=st.one_of(st.binary(), st.text().map(str.encode)))
def test_quoting(token):
    shown = quoted(token)
    assert unquoted(shown) == token
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


@pytest.mark.parametrize(
    ("old", "new", "place", "reason"),
    [
        ("listing 1", "listing 2", ":1", "does not begin a listing of version 1"),
        ("merge 256 = 104 105 ", "merge 256 = 104 ", ":258", "is not a line of a listing"),
        ('"hi!"', '"hi"', "", "merge 1 of .256, 33. does not give the bytes of id 257"),
        ("byte  104 ", "byte  103 ", ":106", "id 103 is also that of b'g'"),
        ('byte  255                    "\\xff"\n', "", "", "255 byte ids instead of 256"),
        ("special 258 ", "special 257 ", ":260", "id 257 is also that of b'hi!'"),
        ('special 258                  "<a>\\x0a"\n', "", ":1", "says '.*259 ids.*', but what follows is '.*258 ids"),
        ('"gpt4"', '"gpt5"', "", "did you mean 'gpt4'"),
    ],
)
def test_damage_is_refused_with_its_place(path, old, new, place, reason):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(tokbench.BackendError, match=reason) as caught:
        read_listing(path)
    assert str(caught.value).startswith(f"{path}{place}: ")
