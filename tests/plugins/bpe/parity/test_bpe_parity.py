"""Parity-aware training: the literal loop, the fast forms, the rules of the paper, and what users are told."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tokbench.foundation.errors import BackendError, BackendUnavailable
from tokbench.plugin import GroupedText
from tokbench_plugins.bpe.artefact import read_artefact
from tokbench_plugins.bpe.engines import train
from tokbench_plugins.bpe.literal import count_pairs, encode_literally, most_frequent
from tokbench_plugins.bpe.parity.literal_parity import ParityRule
from tokbench_plugins.bpe.parity.options import ParityOptions, ParityTraining
from tokbench_plugins.bpe.parity.training import train_with_parity
from tokbench_plugins.bpe.vocabulary import token_bytes_of

LANGUAGES = ("en", "xx", "zz")
TEXTS = st.dictionaries(
    st.sampled_from(LANGUAGES),
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


def documents(texts):
    """Return the documents of all languages, mixed."""
    return [(language, of_language[k]) for k in range(2) for language, of_language in texts.items()]


@pytest.mark.slow
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
    measured = {language: [text[::-1] for text in of_language] for language, of_language in texts.items()}
    parity = ParityTraining(unit, rule, measured if dev else None)
    size = 256 + 24
    literal = train_with_parity(documents(texts), size, pattern, parity, tie=tie, engine="literal")
    assert train_with_parity(documents(texts), size, pattern, parity, tie=tie, engine="python") == literal


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "dev"),
    [(ParityRule(), False), (ParityRule(), True), (ParityRule(window=20), True), (ParityRule(60, 20, 1.2), False)],
)
def test_compiled_merges_equal_those_of_python_on_the_sample(sample_texts, rule, dev):
    texts = {language: sample_texts[language][:40] for language in ("en", "de", "ru", "hi", "th", "zh")}
    measured = {language: sample_texts[language][40:] for language in texts} if dev else None
    text = [(language, text) for language, of_language in texts.items() for text in of_language]
    by_engine = [
        train_with_parity(text, 1500, "gpt4", ParityTraining("documents", rule, measured), engine=engine)
        for engine in ("python", "numba")
    ]
    assert len(by_engine[0]) == 1244
    assert by_engine[0] == by_engine[1]


@pytest.fixture(scope="module")
def sample_texts():
    from tokbench.sources.sample import SampleOptions, SampleSource

    texts = {}
    for document in SampleSource(SampleOptions(part="languages")).documents():
        texts.setdefault(document.group, []).append(document.text)
    return texts


def test_each_merge_is_the_best_one_of_the_language_that_is_worst_off(sample_texts):
    # An independent computation for every step: encode with the merges so far, and count.
    texts = {language: sample_texts[language][:2] for language in ("en", "hi", "zh")}
    text = [(language, text) for language, of_language in texts.items() for text in of_language]
    merges = train_with_parity(text, 256 + 30, None, ParityTraining("documents"))
    choosers = []
    for done, pair in enumerate(merges):
        ids = {
            language: [encode_literally(text.encode(), merges[:done]) for text in of_language]
            for language, of_language in texts.items()
        }
        worst = max(ids, key=lambda language: sum(map(len, ids[language])))
        choosers.append(worst)
        assert pair == most_frequent(count_pairs(ids[worst]))
    assert choosers[0] == "hi"
    assert len(set(choosers)) > 1


def test_the_tokens_of_languages_come_together(sample_texts):
    texts = {language: sample_texts[language][:12] for language in ("en", "hi", "zh")}
    spread = {}
    for parity in ("none", "documents"):
        tokenizer = tokbench.train("regex_bpe", texts, 600, parity=parity, store=False)
        tokens = {language: sum(len(tokenizer.encode(text)) for text in of) for language, of in texts.items()}
        spread[parity] = max(tokens.values()) / min(tokens.values())
    assert spread["documents"] < 1.05
    assert spread["none"] > 1.3


def test_first_merges_of_the_hybrid_are_those_of_plain_bpe(sample_texts):
    texts = {language: sample_texts[language][:5] for language in ("en", "th")}
    text = [(language, text) for language, of_language in texts.items() for text in of_language]
    merges = train_with_parity(text, 356, "gpt4", ParityTraining("documents", ParityRule(global_merges=50)))
    plain = train([document for _, document in text], 356, "gpt4")
    assert merges[:50] == plain[:50]
    assert merges[50:] != plain[50:]


def test_global_merges_do_not_change_the_share_of_a_language_unlike_in_the_paper_s_program():
    """The paper's program divides α by the languages and one more where there are global merges: 2 × 100 / 5 = 40."""
    assert ParityRule(global_merges=5, window=100).most_choices(4) == ParityRule(window=100).most_choices(4) == 50
    assert "the share of one language more" in ParityOptions.model_fields["parity_alpha"].description


def test_a_window_takes_turns():
    # 'xx' is worst off all the time. It may choose while it stands among the last 4 choices 1.0 * 4 / 2 = 2 times or
    # less: so it chooses three times, and again when the first of the three is 4 choices ago and one of it is gone.
    text = {"en": ["abcdefgh"], "xx": ["zyxwvutsrq" * 3]}
    documents = [(language, document) for language, of_language in text.items() for document in of_language]
    always = train_with_parity(documents, 262, None, ParityTraining("documents"))
    turns = train_with_parity(documents, 262, None, ParityTraining("documents", ParityRule(window=4, alpha=1.0)))
    languages = ["en" if token < b"i" else "xx" for token in token_bytes_of(turns)[256:]]
    assert languages == ["xx", "xx", "xx", "en", "en", "xx"]
    assert all(token > b"i" for token in token_bytes_of(always)[256:])


def test_a_smaller_vocabulary_is_a_prefix(sample_texts):
    texts = {language: sample_texts[language][:3] for language in ("en", "hi")}
    options = {"parity": "bytes", "parity_global_merges": 10, "parity_window": 6, "store": False}
    large = tokbench.train("regex_bpe", texts, 330, **options)
    assert tokbench.train("regex_bpe", texts, 300, **options).merges == large.merges[:44]


def test_options_stand_in_the_artefact_and_the_copy_has_the_same_ids(tmp_path):
    dev = tmp_path / "dev"
    dev.mkdir()
    for language, line in {"en": "low low\n", "xx": "zz zz\n\n"}.items():
        (dev / f"{language}.txt").write_text(line)
    texts = {"en": ["low low lower"] * 2, "xx": ["zz zzz"]}
    tokenizer = tokbench.train(
        "regex_bpe", texts, 260, parity="documents", parity_dev=dev, parity_window=100, store=False
    )
    path = tmp_path / "a.bpe.json"
    tokenizer.save(path)
    kept = json.loads(path.read_text())["options"]["parity"]
    assert {name: kept[name] for name in ("unit", "global_merges", "window", "alpha")} == {
        "unit": "documents", "global_merges": 0, "window": 100, "alpha": 2.0,
    }  # fmt: skip
    assert len(kept["dev_sha256"]) == 64
    assert read_artefact(path, "regex_bpe").training == tokenizer.training
    copy = tokbench.load("regex_bpe", path=path)
    assert copy.merges == tokenizer.merges
    (dev / "xx.txt").write_text("other\n")
    other = tokbench.train("regex_bpe", texts, 260, parity="documents", parity_dev=dev, store=False)
    assert dict(other.training.parity)["dev_sha256"] != kept["dev_sha256"]


def test_plain_bpe_writes_the_file_that_it_always_wrote(tmp_path):
    path = tmp_path / "a.bpe.json"
    tokbench.train("regex_bpe", {"en": ["low"], "xx": ["zz"]}, 258, store=False).save(path)
    assert set(json.loads(path.read_text())["options"]) == {"pattern", "tie", "vocab_size"}


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (["low", "zz"], {"parity": "bytes"}, "has no groups; give a corpus whose groups are languages"),
        ({"en": ["low", "zz"]}, {"parity": "bytes"}, "the training text has 1; give a corpus"),
        (
            {"en": ["low", "high"], "de": ["tief", "hoch"], "xx": ["zz"]},
            {"parity": "documents"},
            "language 'xx' has 1 documents and 'en' has 2; write parity: bytes",
        ),
        ({"en": ["low"], "xx": [""]}, {"parity": "bytes"}, "the text of language 'xx' .* is empty"),
        ({"en": ["low"]}, {"parity_window": 100}, "parity_window without parity; add 'parity: bytes'"),
        (
            {"en": ["low"], "xx": ["z"]},
            {"parity": "bytes", "parity_dev": "nowhere"},
            "no folder with files such as en.txt",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(texts, options, message):
    with pytest.raises(BackendError, match=message):
        tokbench.train("regex_bpe", texts, 300, store=False, **options)


def test_development_text_must_have_the_same_languages(tmp_path):
    (tmp_path / "en.txt").write_text("low")
    with pytest.raises(BackendError, match="the training text has the language 'xx', and parity_dev does not"):
        tokbench.train("regex_bpe", {"en": ["low"], "xx": ["z"]}, 300, store=False, parity="bytes", parity_dev=tmp_path)


def test_an_engine_that_is_not_installed_is_named(monkeypatch):
    from tokbench_plugins.bpe import engines

    monkeypatch.setattr(engines, "has_numba", lambda: False)
    with pytest.raises(BackendUnavailable, match="pip install numba"):
        train_with_parity([("en", "low"), ("xx", "z")], 300, "gpt4", ParityTraining("bytes"), engine="numba")


def test_groups_reach_the_trainer_through_a_run(tmp_path, sample_texts):
    config = {
        "schema": "tokbench/1",
        "name": "groups",
        "corpora": {"c": {"source": "sample", "part": "languages", "groups": ["en", "hi"], "evaluate": False},
                    "hostile": {"source": "sample", "part": "hostile"}},
        "tokenizers": {
            "parity": {"backend": "regex_bpe", "parity": "documents", "train": {"corpus": "c", "vocab_size": 400}}
        },
        "metrics": ["compression"],
        "report": {"formats": ["csv"]},
    }  # fmt: skip
    tokbench.run(config, output=tmp_path / "run", workers=0, store=False)
    texts = {language: sample_texts[language] for language in ("en", "hi")}
    alone = tokbench.train("regex_bpe", texts, 400, parity="documents", store=False)
    [artefact] = (tmp_path / "run" / "artefacts").glob("*.bpe.json")
    assert tokbench.load("regex_bpe", path=artefact).merges == alone.merges


def test_grouped_text_is_gone_through_once_where_its_documents_are():
    assert GroupedText(iter([("en", "a")])).once
    assert not GroupedText.of({"en": ["a"]}).once
