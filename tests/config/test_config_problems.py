"""Bad input: all of it is told at once, with its place and what to type, before anything is measured."""

import sys

import pytest
from click.testing import CliRunner
from conftest import cell, problems

import tokbench as api
from tokbench.cli.main import tokbench
from tokbench.corpus.words.icu import icu_works
from tokbench.corpus.words.morae import morae_work


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
        "run.yaml:2:7: name: string should match pattern",
        "run.yaml:4:15: unknown corpus source 'sampel'; did you mean 'sample'?",
        "run.yaml:5:42: unknown key 'documnet'; did you mean 'document'?",
        "run.yaml:6:6: no file matches",
        "run.yaml:7:6: the key 'source' is missing",
        "run.yaml:7:29: holdout: input should be less than 1, but is 1.5",
        "run.yaml:9:16: unknown backend 'tiktokn'; did you mean 'tiktoken'?",
        "run.yaml:10:43: unknown corpus 'x'; known: a, b, c, d",
        "run.yaml:10:58: vocab_size 10 is too small: naive_bpe needs at least 256",
        'run.yaml:11:38: optional: input should be a valid boolean, but is "no"; write true or false',
        "run.yaml:12:3: key 'g' is given twice (first at line 11)",
        'run.yaml:13:58: train.vocab_size.0: input should be a valid integer, but is "big"',
        "run.yaml:14:6: backend 'utf8_bytes' cannot be trained; remove 'train'",
        "run.yaml:15:11: unknown metric 'compresion'; did you mean 'compression'?",
        "run.yaml:15:41: unknown corpus 'zz'; known: a, b, c, d",
        "run.yaml:15:74: units.th: input should be 'uax29', 'icu', 'whitespace', 'character', 'grapheme', 'syllable', 'mora', 'gold' or 'gold_nonpunct', but is",
        "run.yaml:16:1: unknown key 'metrcs'; did you mean 'metrics'?",
        "run.yaml:17:20: unknown report format 'pdf'; known: csv, curve, html, md, pairs",
    ]
    assert len(lines) == len(expected), "\n".join(lines)
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(start), (line, start)


def test_the_command_exits_with_2_and_writes_nothing(write_config, tmp_path):
    path = write_config(metrics="[nonsense]")
    outcome = CliRunner().invoke(tokbench, ["run", str(path), "-o", str(tmp_path / "out")], standalone_mode=True)
    assert outcome.exception is not None
    assert not (tmp_path / "out").exists()


@pytest.fixture
def bare(monkeypatch):
    """Take PyICU and SudachiPy away."""
    for name in ("icu", "sudachipy"):
        monkeypatch.setitem(sys.modules, name, None)
    icu_works.cache_clear()
    morae_work.cache_clear()
    yield
    icu_works.cache_clear()
    morae_work.cache_clear()


@pytest.mark.usefixtures("bare")
def test_a_word_unit_that_cannot_be_had_is_refused(write_config):
    metrics = "[{fertility: {unit: icu, units: {ja: mora, th: icu, fi: uax29}}}, {strr: {units: {zh: icu}}}]"
    path = write_config(corpora="  sample: {source: sample}", metrics=metrics)
    icu = "'icu' needs PyICU, which cannot be imported; type: pip install 'tokbench[icu]' (on Debian first: apt-get "
    mora = "'mora' needs SudachiPy with its dictionary, which cannot be imported; type: pip install 'tokbench[morae]'"
    expected = [
        f"run.yaml:7:30: unit: {icu}",
        f"run.yaml:7:47: units.ja: {mora}",
        f"run.yaml:7:57: units.th: {icu}",
        f"run.yaml:7:96: units.zh: {icu}",
    ]
    lines = problems(path)
    assert len(lines) == len(expected), "\n".join(lines)
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(start), line
        assert line.endswith(", or leave the unit to the language")


@pytest.mark.usefixtures("bare")
def test_a_unit_by_default_falls_back_and_says_so(write_config, tmp_path):
    (tmp_path / "th.txt").write_text("ภาษาไทย", encoding="utf-8")
    (tmp_path / "fi.txt").write_text("suomen kieli", encoding="utf-8")
    corpora = '  c: {source: text, path: "*.txt", group: "{stem}"}'
    results = api.run(write_config(corpora=corpora, metrics="[fertility]"), workers=0)
    assert cell(results, "bytes", "fertility", "th").unit == "tokens/character"
    assert cell(results, "bytes", "fertility", "fi").unit == "tokens/word (UAX #29)"
    assert results.environment.segmentation["words (ICU)"] == "not installed"


def test_a_missing_configuration(tmp_path):
    assert problems(tmp_path / "none.yaml") == ["none.yaml: cannot be read: No such file or directory"]


def test_an_empty_corpus(write_config, tmp_path):
    (tmp_path / "empty.txt").write_text("\n\n\n", encoding="utf-8")
    lines = problems(write_config(corpora="  e: {source: text, path: empty.txt, document: line}"))
    assert lines == ["run.yaml:4:6: corpus 'e' is empty: its files hold no text"]


def test_text_that_is_not_utf8(write_config, tmp_path):
    (tmp_path / "latin.txt").write_bytes("aé".encode("latin-1"))
    [line] = problems(write_config(corpora="  e: {source: text, path: latin.txt}"))
    assert "latin.txt: not UTF-8: byte 0xe9 at offset 1 (unexpected end of data); convert the file" in line


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "r.jsonl:1: not JSON"),
        ("[1]", "r.jsonl:1: not a JSON object"),
        ('{"body": "x"}', "r.jsonl:1: has no field 'text'; it has body"),
        ('{"text": 3}', "r.jsonl:1: field 'text' is not a string"),
        ('{"text": "\\ud800"}', "r.jsonl:1: field 'text' holds a lone surrogate"),
        ('{"text": "x"}', "r.jsonl:1: no group from '{lang}': 'lang'"),
    ],
)
def test_bad_rows(write_config, tmp_path, row, message):
    (tmp_path / "r.jsonl").write_text(row + "\n", encoding="utf-8")
    [line] = problems(write_config(corpora='  e: {source: jsonl, path: r.jsonl, group: "{lang}"}'))
    assert message in line


def test_groups_that_are_not_parallel(write_config, tmp_path):
    (tmp_path / "a.txt").write_text("1\n2\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("1\n", encoding="utf-8")
    [line] = problems(write_config(corpora='  e: {source: text, path: "?.txt", document: line, parallel: true}'))
    assert "corpus 'e' is not parallel: group 'b' has 1 documents, 'a' has 2" in line


def test_an_environment_variable_that_is_not_set(write_config, monkeypatch):
    monkeypatch.delenv("TOKBENCH_NOWHERE", raising=False)
    [line] = problems(write_config(corpora='  e: {source: text, path: "${TOKBENCH_NOWHERE}/x.txt"}'))
    assert line.endswith(
        "the environment variable TOKBENCH_NOWHERE is not set; set it with: export TOKBENCH_NOWHERE=..."
    )


@pytest.mark.parametrize(
    ("entry", "content", "message"),
    [
        ("{backend: sentencepiece, path: x}", b"not a model", "x: not a SentencePiece model"),
        ("{backend: tiktoken, path: x}", b"IQ== 0\nIg= 1\n", "x:2: not a base64 token and its rank: 'Ig= 1'"),
        ("{backend: naive_bpe, path: x}", b"{}", "not"),
        ("{backend: huggingface, path: x}", b"{}", "x: not a tokenizer.json: it has no 'model' with a 'vocab'"),
        ("{backend: sentencepiece, path: missing.model}", b"", "missing.model"),
    ],
)
def test_damaged_files(write_config, tmp_path, entry, content, message):
    (tmp_path / "x").write_bytes(content)
    [line] = problems(write_config(tokenizers=f"  t: {entry}"))
    assert line.startswith("run.yaml:6:3: tokenizer 't' (backend ")
    assert message in line


def test_two_tokenizers_of_one_name(write_config):
    tokenizers = (
        "  a-300: {backend: utf8_bytes}\n  a: {backend: naive_bpe, train: {corpus: sample, vocab_size: [300, 400]}}"
    )
    assert problems(write_config(tokenizers=tokenizers)) == [
        "run.yaml:7:6: two tokenizers would be called 'a-300'; rename one"
    ]


def test_a_folder_that_cannot_be_written(write_config, tmp_path):
    import tokbench as package

    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(package.InputError, match="cannot be written to"):
        package.run(write_config(), tmp_path / "file" / "out")
