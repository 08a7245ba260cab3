"""Parity-aware training: the literal loop, the fast form, the rules of the paper, and what users are told."""

import gzip
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal_parity import MeasuredText, train_parity_literally

import tokbench
from tokbench.foundation.errors import BackendError, InputError
from tokbench.plugin import silent
from tokbench.sources.sample import SampleOptions, SampleSource
from tokbench_plugins.bpe import Splitter
from tokbench_plugins.bpe.artefact import read_artefact
from tokbench_plugins.bpe.vocabulary import token_bytes_of
from tokbench_trainers.parity.parity_bpe import SPEC, ParityTrainOptions
from tokbench_trainers.parity.rule import ParityRule
from tokbench_trainers.parity.training import ParityTraining, train_with_parity

TEXTS = st.dictionaries(
    st.sampled_from(["en", "xx", "zz"]),
    st.lists(
        st.one_of(st.text("ab ", min_size=1, max_size=40), st.text("aAb's 1é🙂", min_size=1, max_size=30)),
        min_size=2,
        max_size=2,
    ),
    min_size=2,
)
RULES = st.builds(
    ParityRule,
    global_merges=st.sampled_from([0, 0, 4, 100]),
    window=st.sampled_from([0, 0, 2, 5]),
    alpha=st.sampled_from([1.0, 1.5, 2.0]),
)


@settings(deadline=None)
@given(
    texts=TEXTS,
    rule=RULES,
    unit=st.sampled_from(["bytes", "documents"]),
    dev=st.booleans(),
    tie=st.sampled_from(["first", "smallest"]),
    pattern=st.sampled_from(["gpt4", None]),
)
def test_merges_equal_the_literal_loop(texts, rule, unit, dev, tie, pattern):
    documents = [(language, of_language[k]) for k in range(2) for language, of_language in texts.items()]
    measured = {language: [text[::-1] for text in of_language] for language, of_language in texts.items()}
    parity = ParityTraining(unit, rule, measured if dev else None)
    split = Splitter(pattern)

    def chunks(of):
        return [(language, chunk.encode()) for language, text in of for chunk in split(text)]

    of_measured = [(language, text) for language in texts for text in measured[language]]
    units = {
        language: len(of) if unit == "documents" else sum(len(text.encode()) for text in of)
        for language, of in (measured if dev else texts).items()
    }
    order = dict.fromkeys(language for language, _ in documents)
    by_loop = MeasuredText({language: units[language] for language in order}, chunks(of_measured) if dev else None)
    literal = train_parity_literally(chunks(documents), 276, rule, by_loop, tie)
    assert train_with_parity(documents, 276, pattern, parity, tie=tie, engine="python") == literal


@pytest.fixture(scope="module")
def sample_texts():
    texts = {}
    for document in SampleSource(SampleOptions(part="languages", groups=["en", "hi", "zh"])).documents():
        texts.setdefault(document.group, []).append(document.text)
    return {language: of_language[:6] for language, of_language in texts.items()}


def test_the_tokens_of_languages_come_together(sample_texts):
    spread = {}
    for backend, options in {"regex_bpe": {}, "parity_bpe": {"unit": "documents"}}.items():
        tokenizer = tokbench.train(backend, sample_texts, 500, **options, store=False)
        tokens = [sum(len(tokenizer.encode(text)) for text in of) for of in sample_texts.values()]
        spread[backend] = max(tokens) / min(tokens)
    assert spread["parity_bpe"] < 1.1 < spread["regex_bpe"]


def test_a_window_takes_turns():
    # 'xx' is worst off all the time. It may choose while it has at most 1.0 * 4 / 2 = 2 of the last 4 choices: so it
    # chooses three times, and again when the first of the three is more than 4 choices ago.
    documents = [("en", "abcdefgh"), ("xx", "zyxwvutsrq" * 3)]
    always = train_with_parity(documents, 262, None, ParityTraining("documents"))
    turns = train_with_parity(documents, 262, None, ParityTraining("documents", ParityRule(window=4, alpha=1.0)))
    languages = ["en" if token < b"i" else "xx" for token in token_bytes_of(turns)[256:]]
    assert languages == ["xx", "xx", "xx", "en", "en", "xx"]
    assert all(token > b"i" for token in token_bytes_of(always)[256:])


def test_options_are_in_the_artefact(tmp_path):
    dev = tmp_path / "dev"
    dev.mkdir()
    for language, line in {"en": "low low\n", "xx": "zz zz\n\n"}.items():
        (dev / f"{language}.txt").write_text(line)
    texts = {"en": ["low low lower"] * 2, "xx": ["zz zzz"]}
    options = {"unit": "documents", "dev": dev, "store": False}
    tokenizer = tokbench.train("parity_bpe", texts, 260, window=100, **options)
    path = tmp_path / "a.bpe.json"
    tokenizer.save(path)
    kept = json.loads(path.read_text())["rule"]
    digest = kept.pop("dev_sha256")
    assert kept == {"unit": "documents", "global_merges": 0, "window": 100, "alpha": 2.0}
    assert read_artefact(path, "parity_bpe").training == tokenizer.training
    assert tokbench.load("parity_bpe", path=path).merges == tokenizer.merges
    (dev / "xx.txt").write_text("other\n")
    other = tokbench.train("parity_bpe", texts, 260, **options)
    assert other.training.rule["dev_sha256"] != digest
    (dev / "xx.txt").unlink()
    with pytest.raises(BackendError, match="'xx'"):
        tokbench.train("parity_bpe", texts, 260, **options)


def test_a_line_of_dev_is_one_of_the_training_text(tmp_path):
    lines = ["low\x0blow", "zz\u2028zz\x85", "née"]
    (tmp_path / "en.txt").write_bytes("\r\n\n".join(lines).encode())
    (tmp_path / "xx.txt.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    (tmp_path / "README.md").write_text("no language")
    assert ParityTrainOptions(unit="documents", dev=tmp_path).parity.dev == {"en": lines, "xx": lines}
    (tmp_path / "xx.txt.gz").write_bytes(b"good\nn\xe9e\n")
    with pytest.raises(InputError, match=r"xx.txt.gz:2:2: not UTF-8"):
        tokbench.train("parity_bpe", {"en": ["a"], "xx": ["b"]}, 257, unit="bytes", dev=tmp_path, store=False)


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (["low", "zz"], {"unit": "bytes"}, "has no groups"),
        ({"en": ["low", "zz"]}, {"unit": "bytes"}, "the training text has 1"),
        (
            {"en": ["low", "high"], "de": ["tief", "hoch"], "xx": ["zz"]},
            {"unit": "documents"},
            "language 'xx' has 1 documents and 'en' has 2",
        ),
        ({"en": ["low"], "xx": [""]}, {"unit": "bytes"}, "language 'xx' .* is empty"),
        ({"en": ["low"], "xx": ["z"]}, {"unit": "bytes", "dev": "nowhere"}, "nowhere: no folder"),
    ],
)
def test_what_cannot_be_compared_is_refused(texts, options, message):
    with pytest.raises(BackendError, match=message):
        tokbench.train("parity_bpe", texts, 300, store=False, **options)


WORDS = ["low", "lower", "new", "newer", "été", "東京", "12", "zz", "'s"]


def counted(path, texts):
    """A table of numbered documents of groups, its parts in random order."""
    pytest.importorskip("duckdb")
    import pyarrow.parquet as pq

    from tokbench_plugins.counts.count import count_table
    from tokbench_plugins.counts.merge import add_tables
    from tokbench_plugins.counts.source import CountsOptions, CountsSource

    paths = []
    for number, group, text in random.Random(0).sample(texts, len(texts)):
        paths.append(path.with_suffix(f".{number}"))
        pq.write_table(count_table([text], [number], group=group), paths[-1])
    add_tables(paths, path, 1 << 28)
    return CountsSource(CountsOptions(path=path)).counts


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("several", [False, True])
def test_counts_give_the_merges_of_the_text(tmp_path, seed, several):
    rng = random.Random(seed)
    texts = [(group, " ".join(rng.choices(WORDS, k=rng.randrange(1, 20)))) for _ in range(5) for group in "zxy"]
    if several:
        texts.sort(key=lambda one: "zxy".index(one[0]))
    numbered = [(number, group, text) for number, (group, text) in enumerate(texts)]
    tables = {"all": counted(tmp_path / "all.counts", numbered)}
    if several:
        tables = {
            name: counted(tmp_path / name, [(k, "", text) for k, group, text in numbered if group == name])
            for name in "zxy"
        }
    rule = {"global_merges": rng.choice([0, 5]), "window": rng.choice([0, 4])}
    for tie in ("first", "smallest"):
        options = ParityTrainOptions(unit=rng.choice(["bytes", "documents"]), tie=tie, **rule)
        if seed % 3 == 0:
            for group in "xyz":
                (tmp_path / f"{group}.txt").write_text("\n".join(text[::-1] for name, text in texts if name == group))
            options = options.model_copy(update={"dev": tmp_path})
        assert SPEC.check_counts(options, tables) == ""
        merges = SPEC.train_counts(tables, 280, options, silent).merges
        assert list(merges) == train_with_parity(texts, 280, "gpt4", options.parity, tie=tie)


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ([("", ["a"])], {"unit": "bytes"}, "a table of each"),
        ([("", ["a"]), ("x", ["a"])], {"unit": "bytes"}, "have groups and some have none"),
        ([("", ["a"]), ("", ["a", "b"])], {"unit": "documents"}, "unequal numbers of documents"),
        ([("x", ["a"]), ("y", ["a"])], {"unit": "bytes", "pattern": "gpt2"}, "gpt4, and not gpt2"),
    ],
)
def test_counts_that_are_refused(tmp_path, texts, options, message):
    tables = {
        str(k): counted(tmp_path / str(k), [(number, group, text) for number, text in enumerate(some)])
        for k, (group, some) in enumerate(texts)
    }
    assert message in SPEC.check_counts(ParityTrainOptions(**options), tables)


@pytest.mark.slow
def test_groups_reach_the_trainer_through_a_run(tmp_path):
    corpus = {"source": "sample", "part": "languages", "groups": ["en", "hi"]}
    train = {"corpus": "c", "vocab_size": 300}
    config = {
        "schema": "tokbench/1",
        "name": "groups",
        "corpora": {"c": corpus},
        "tokenizers": {"parity": {"backend": "parity_bpe", "unit": "documents", "train": train}},
        "metrics": ["compression"],
        "report": {"formats": ["csv"]},
    }
    tokbench.run(config, output=tmp_path / "run", workers=0, store=False)
    documents = [
        (document.group, document.text)
        for document in SampleSource(SampleOptions(part="languages", groups=["en", "hi"])).documents()
    ]
    alone = train_with_parity(documents, 300, "gpt4", ParityTraining("documents"))
    [artefact] = (tmp_path / "run" / "artefacts").glob("*.bpe.json")
    assert list(tokbench.load("parity_bpe", path=artefact).merges) == alone
