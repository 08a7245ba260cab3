"""Bad input: all of it is told at once, with its place and what to type, before anything is measured."""

import re
import sys

import pytest
from shared_fixtures import problems

import tokbench
from tokbench.corpus.words.icu import icu_works


def assert_begins(lines, starts):
    """Lines begin as they should, one by one."""
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == starts


@pytest.mark.packages
def test_all_problems_are_told_at_once(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text(
        """schema: tokbench/1
name: quick start
corpora:
  a: {source: sampel}
  b: {source: text, path: nowhere/*.txt, documnet: line}
  c: {source: text, path: nowhere/*.txt}
  d: {sauce: text, holdout: 1.5}
tokenizers:
  e: {backend: tiktokn}
  f: {backend: naive_bpe, train: {corpus: x, vocab_size: 10}}
  g: {backend: utf8_bytes, optional: no}
  g: {backend: utf8_bytes}
  h: {backend: regex_bpe, train: {corpus: c, vocab_size: big}}
  i: {backend: utf8_bytes, train: {corpus: c, vocab_size: 300}}
metrics: [compresion, {speed: {corpora: [zz]}}, {fertility: {units: {th: phoneme}}}]
metrcs: [speed]
report: {formats: [pdf]}
""",
        encoding="utf-8",
    )
    lines = problems(path)
    expected = [
        "run.yaml:2:7: name: a name has 1 to 64 letters (A-Z, a-z), digits and ",
        "run.yaml:4:15: unknown corpus source 'sampel'; did you mean 'sample'?",
        "run.yaml:5:42: unknown key 'documnet'; did you mean 'document'?",
        "run.yaml:6:6: no file matches",
        "run.yaml:7:7: unknown key 'sauce'; did you mean 'source'?",
        "run.yaml:7:29: holdout: must be less than 1, but is 1.5",
        "run.yaml:9:16: unknown backend 'tiktokn'; did you mean 'tiktoken'?",
        "run.yaml:10:43: unknown corpus 'x'; known: a, b, c, d",
        "run.yaml:10:58: vocab_size 10 is too small: naive_bpe needs at least 256",
        'run.yaml:11:38: optional: must be true or false, but is "no"',
        "run.yaml:12:3: key 'g' is given twice (first at line 11)",
        'run.yaml:13:58: train.vocab_size: must be a whole number, but is "big"',
        "run.yaml:14:6: backend 'utf8_bytes' cannot be trained; remove 'train'",
        "run.yaml:15:11: unknown metric 'compresion'; did you mean 'compression'?",
        "run.yaml:15:42: unknown corpus 'zz'; known: a, b, c, d",
        "run.yaml:15:74: units.th: must be 'uax29', 'icu', 'whitespace', 'character', 'grapheme', 'syllable', 'gold' or 'gold_nonpunct', but is",
        "run.yaml:16:1: unknown key 'metrcs'; did you mean 'metrics'?",
        "run.yaml:17:20: unknown report format 'pdf'; known: csv, curve, documents, html, latex",
    ]
    assert_begins(lines, expected)


@pytest.fixture
def bare(monkeypatch):
    """Take PyICU away."""
    monkeypatch.setitem(sys.modules, "icu", None)
    icu_works.cache_clear()
    yield
    icu_works.cache_clear()


@pytest.mark.usefixtures("bare")
def test_a_word_unit_that_cannot_be_had_is_refused(write_config):
    metrics = "[{fertility: {unit: icu, units: {th: icu, fi: uax29}}}, {strr: {units: {zh: icu}}}]"
    path = write_config(corpora="  sample: {source: sample}", metrics=metrics)
    icu = "'icu' needs PyICU, which cannot be imported; type: pip install 'tokbench[icu]' (on Debian first: apt-get "
    expected = [
        f"run.yaml:7:30: unit: {icu}",
        f"run.yaml:7:47: units.th: {icu}",
        f"run.yaml:7:86: units.zh: {icu}",
    ]
    assert_begins(problems(path), expected)


def test_text_that_is_not_utf8(write_config, tmp_path):
    (tmp_path / "latin.txt").write_bytes("aé".encode("latin-1"))
    [line] = problems(write_config(corpora="  e: {source: text, path: latin.txt}"))
    assert (
        "latin.txt:1:2: not UTF-8: byte 0xe9 (unexpected end of data); if it is latin-1, write encoding: latin-1 or convert it with: iconv -f latin-1 -t UTF-8"
        in line
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "r.jsonl:1:2: not JSON"),
        ('{"text": "a", "lang": "l"}\n{"text": "a\udcff"}', "r.jsonl:2:12: not UTF-8: byte 0xff"),
        ('{"words": "x"}', "r.jsonl:1: has no field 'text', 'content', 'body' or 'sentence'; it has words"),
        ('{"text": 3}', "r.jsonl:1: field 'text' is not a string"),
        ('{"text": "\\ud800"}', "r.jsonl:1: field 'text' holds a lone surrogate"),
        ('{"text": "x"}', "r.jsonl:1: has no field 'lang' for the group '{lang}'"),
    ],
)
def test_bad_rows(write_config, tmp_path, row, message):
    (tmp_path / "r.jsonl").write_bytes(row.encode(errors="surrogateescape") + b"\n")
    [line] = problems(write_config(corpora='  e: {source: jsonl, path: r.jsonl, group: "{lang}"}'))
    assert message in line


def test_an_environment_variable_that_is_not_set(write_config, monkeypatch):
    monkeypatch.delenv("TOKBENCH_NOWHERE", raising=False)
    [line] = problems(write_config(corpora='  e: {source: text, path: "${TOKBENCH_NOWHERE}/x.txt"}'))
    assert line.endswith(
        "the environment variable TOKBENCH_NOWHERE is not set; set it with: export TOKBENCH_NOWHERE=..."
    )


def test_two_tokenizers_of_one_name(write_config):
    tokenizers = (
        "  a-300: {backend: utf8_bytes}\n  a: {backend: naive_bpe, train: {corpus: sample, vocab_size: [300, 400]}}"
    )
    assert problems(write_config(tokenizers=tokenizers)) == [
        "run.yaml:7:6: two tokenizers would be called 'a-300'; rename one"
    ]


def test_a_folder_that_cannot_be_written(write_config, tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(tokbench.InputError, match="cannot be written to"):
        tokbench.run(write_config(), tmp_path / "file" / "out")


@pytest.mark.parametrize(
    ("corpora", "tokenizers", "expected"),
    [
        (
            "  a: {source: text, pth: x, document: line}",
            "  b: {bakend: utf8_bytes}",
            [
                "4:21: unknown key 'pth'; did you mean 'path'?",
                "6:7: unknown key 'bakend'; did you mean 'backend'?",
            ],
        ),
        (
            "  a: {source: sample}",
            "  b: {backend: naive_bpe, train: {vocab_size: 300}}",
            ["6:34: train: needs either 'corpus' or 'counts'"],
        ),
    ],
)
def test_a_misspelt_key_is_named_and_not_the_one_that_is_missing(write_config, corpora, tokenizers, expected):
    assert problems(write_config(corpora=corpora, tokenizers=tokenizers)) == [f"run.yaml:{line}" for line in expected]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "is a PNG image, not text in UTF-8; extract the text first"),
        (b"text at first\n" + bytes(9) + b"\xff\xfe", "is a binary file (byte 15 is zero), not text in UTF-8"),
        (
            "ünïcode".encode("utf-16"),
            "is UTF-16 text, not text in UTF-8; convert it with: iconv -f UTF-16 -t UTF-8, or write encoding: utf-16",
        ),
    ],
)
def test_a_binary_file_is_called_one(write_config, tmp_path, data, message):
    (tmp_path / "x.txt").write_bytes(data)
    [line] = problems(write_config(corpora="  e: {source: text, path: x.txt, document: line}"))
    assert f"x.txt: {message}" in line


NAMES = "{stem}, {name}, {suffix}, {parent}, {first}, {last}, {language}"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{stem.__class__}", f"may hold {NAMES} only, and not {{stem.__class__}}"),
        ("{lang}", f"may hold {NAMES} only, and not {{lang}}"),
        ("{stem:>2000000000}", "must insert fields as they are: remove what follows : or ! inside {stem}"),
        ("{stem", "has a brace without its partner; write {{ or }} for a brace itself"),
    ],
)
def test_templates_of_groups_insert_names_and_do_nothing_else(write_config, tmp_path, template, message):
    (tmp_path / "x.txt").write_text("text", encoding="utf-8")
    [line] = problems(write_config(corpora=f'  e: {{source: text, path: x.txt, group: "{template}"}}'))
    assert line == f"run.yaml:4:41: group: {template!r} {message}"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"metrics": "[no_merge]"}, "7:11: metric 'no_merge' is incomplete: NoMerge .* add 'def merge"),
        ({"metrics": "[no_return]"}, "7:11: metric 'no_return' is incomplete: None was returned"),
        ({"metrics": "[no_measure]"}, "7:11: metric 'no_measure' is incomplete: Characters .* add 'def measure"),
        ({"corpora": "  c: {source: no_licence}"}, "4:15: corpus source 'no_licence' .* add 'licence: str'"),
        ({"corpora": "  c: {source: a_class}"}, "4:15: corpus source 'a_class' .* the class NoLicence"),
        (
            {"tokenizers": "  t: {backend: no_object}"},
            r"6:3: tokenizer 't' \(backend no_object\): the class Characters",
        ),
    ],
)
def test_what_a_class_lacks_is_said_with_the_line_to_write(write_config, install, parts, message):
    install("own_plugins")
    [line] = problems(write_config(**parts))
    assert re.match(f"run.yaml:{message}", line), line
