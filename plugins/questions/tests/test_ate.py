"""``tokbench ate``: shares of known mixtures, and what is refused."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from known_mixtures import kinds, known, scores

import tokbench
from tokbench.command import texts_by_group
from tokbench_questions.ate import ate, candidates_of
from tokbench_questions.commands.ate import ate as command
from tokbench_questions.mixture import PairCounts

SPLIT = r" ?\w+|\s|[^\w\s]"


@pytest.fixture(scope="module")
def sample() -> dict[str, list[str]]:
    """Return documents of four languages and of Python."""
    found = {
        name: documents for name, documents in texts_by_group("sample").items() if name in {"en", "el", "hy", "ka"}
    }
    lines = "".join(texts_by_group("sample")["python"]).splitlines(keepends=True)
    return found | {"python": ["".join(lines[i : i + 8]) for i in range(0, len(lines), 8)]}


def halves(texts: dict[str, list[str]]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return every second document, and the others."""
    return {name: some[::2] for name, some in texts.items()}, {name: some[1::2] for name, some in texts.items()}


def run(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(command, arguments)


def merged(word: list[bytes], pair: tuple[bytes, ...]) -> list[bytes]:
    """Return a word after one merge."""
    place = next((i for i in range(len(word) - 1) if tuple(word[i : i + 2]) == pair), None)
    return word if place is None else [*word[:place], b"".join(pair), *merged(word[place + 2 :], pair)]


def test_pair_counts_equal_recounting() -> None:
    rng = np.random.default_rng(3)
    texts = {
        name: ["".join(rng.choice([*"abc "], 60, p=chances)) for _ in range(8)]
        for name, chances in (("x", [0.5, 0.2, 0.1, 0.2]), ("y", [0.1, 0.3, 0.4, 0.2]))
    }
    tokenizer = tokbench.train("regex_bpe", texts["x"] + texts["y"], 290, pattern=SPLIT)
    merges = [tuple(map(tokenizer.token_bytes, pair)) for pair in tokenizer.merges]  # type: ignore[attr-defined]
    candidates = candidates_of(texts, SPLIT)
    steps = [0, 1, 5, 6, 20]
    counts = PairCounts(candidates.chunks, candidates.counts, merges, steps)
    for number, step in enumerate(steps):
        expected: dict[tuple[bytes, ...], np.ndarray] = defaultdict(lambda: np.zeros(16))
        for chunk, columns in zip(candidates.chunks, candidates.counts.toarray(), strict=True):
            word = [chunk[i : i + 1] for i in range(len(chunk))]
            for pair in merges[:step]:
                word = merged(word, pair)
            for pair in pairwise(word):
                expected[pair] += columns
        rows = [counts.at(number, pair).tolist() for pair in range(counts.n_pairs)]
        assert sorted(row for row in rows if any(row)) == sorted(row.tolist() for row in expected.values())
        best = expected[merges[step]]
        assert counts.merged[number].tolist() == best.tolist()
        assert max(map(np.sum, expected.values())) == best.sum()
    assert not [*counts.rivals(np.ones(16), np.zeros(5), np.zeros(counts.n_pairs))]


def test_finds_shares_of_sample(sample: dict[str, list[str]]) -> None:
    trained, others = halves(sample)
    text = trained["en"] * 6 + trained["el"] * 2 + trained["python"] * 3
    answer = ate(tokbench.train("regex_bpe:gpt4", text, 800), others, steps=100)
    n_bytes = {
        name: len("".join(trained[name]).encode()) * times for name, times in (("en", 6), ("el", 2), ("python", 3))
    }
    truth = {name: n_bytes.get(name, 0) / sum(n_bytes.values()) for name in sample}
    score = scores(answer, truth)
    assert score.errors.mean() < 5
    assert score.covered.mean() >= 0.8
    both = answer.total(["el", "python"])
    assert both.low <= truth["el"] + truth["python"] <= both.high
    with pytest.raises(tokbench.InputError, match="de: not a candidate"):
        answer.total(["en", "de"])
    whole = answer.total([*sample])
    assert (whole.share, whole.low, whole.high) == pytest.approx((1, 0.9925, 1))


def test_missing_language_leaves_merges_unexplained(sample: dict[str, list[str]]) -> None:
    trained, others = halves(sample)
    tokenizer = tokbench.train("regex_bpe:gpt4", trained["en"] * 3 + trained["ka"] + trained["hy"], 600)
    whole = ate(tokenizer, others, steps=100)
    without = ate(tokenizer, {name: some for name, some in others.items() if name != "ka"}, steps=100)
    assert whole.unexplained < 0.1
    assert without.unexplained > 0.2
    assert any("\u10d0" <= letter <= "\u10ff" for token in without.examples for letter in token)


def test_tables_of_count_are_candidates(sample: dict[str, list[str]], tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from tokbench_plugins.counts.count import count_table

    trained, others = halves(sample)
    tokenizer = tokbench.train("regex_bpe:gpt4", trained["en"] * 2 + trained["el"], 400)
    paths = [tmp_path / f"{name}.counts" for name in ("en", "el", "ka")]
    for path in paths:
        # The parts of a table are blocks of a megabyte: such small ones have one.
        pq.write_table(count_table(others[path.stem], 0, pattern="gpt4", parts=True), path)
    shares = {share.name: share for share in ate(tokenizer, paths, steps=60).shares}
    direct = {share.name: share for share in ate(tokenizer, {p.stem: others[p.stem] for p in paths}, steps=60).shares}
    assert shares["en"].share == pytest.approx(direct["en"].share, abs=0.001)
    assert shares["el"].n_bytes == direct["el"].n_bytes
    with pytest.raises(tokbench.InputError, match="another split"):
        ate(tokenizer, paths, split="gpt2")


def test_metadata_tells_tables_from_texts(sample: dict[str, list[str]], tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tokbench_plugins.counts.count import count_table

    trained, others = halves(sample)
    vocabulary = str(tmp_path / "v.bpe.json")
    tokbench.train("regex_bpe:gpt4", trained["en"] * 2 + trained["el"], 400).save(vocabulary)  # type: ignore[attr-defined]
    texts, tables = tmp_path / "texts", tmp_path / "tables"
    for folder in (texts, tables):
        folder.mkdir()
    for name in ("en", "el"):
        pq.write_table(pa.table({"text": others[name]}), texts / f"{name}.parquet")
        pq.write_table(count_table(others[name], 0, pattern="gpt4", parts=True), tables / f"{name}.parquet")
    for folder in (texts, tables):
        paths = [str(folder / f"{name}.parquet") for name in ("en", "el")]
        answered = run(vocabulary, *paths, "--json")
        assert {share["name"] for share in json.loads(answered.output)["shares"]} == {"en", "el"}, folder
    mixed = run(vocabulary, str(texts / "en.parquet"), str(tables / "el.parquet"))
    assert (mixed.exit_code, "mixed" in mixed.output) == (2, True)


@pytest.mark.slow
@pytest.mark.usefixtures("tiktoken_files")
def test_command_prints_the_answer_as_json(sample: dict[str, list[str]], tmp_path: Path) -> None:
    for name in ("en", "ka"):
        (tmp_path / f"{name}.txt").write_text("\n".join(sample[name]), encoding="utf-8")
    facts = json.loads(run("gpt-2", str(tmp_path), "--sum", "ka,en", "--json").output)
    assert [share["name"] for share in facts["shares"]] == ["en", "ka"]
    assert facts["shares"][0]["share"] > 0.9
    assert facts["sums"][0]["n_bytes"] == sum(share["n_bytes"] for share in facts["shares"])


@pytest.mark.parametrize(
    ("texts", "reason"),
    [({"a": ["one text"] * 9}, "two or more"), ({"a": ["b c"] * 9, "short": ["d"] * 7}, "short")],
)
def test_too_little_text_is_refused(texts: dict[str, list[str]], reason: str) -> None:
    with pytest.raises(tokbench.InputError, match=reason):
        ate(tokbench.train("regex_bpe:gpt4", ["b c b c"], 258), texts)


@pytest.mark.parametrize(("model", "reason"), [("unigram", "lists no merges"), ("bpe", "start from bytes")])
def test_vocabulary_without_merges_of_bytes_is_refused(model: str, reason: str) -> None:
    tokenizer = tokbench.train("sentencepiece", ["béc béd"] * 9, 14, store=False, model_type=model)
    with pytest.raises(tokbench.InputError, match=reason):
        ate(tokenizer, {"a": ["b"] * 9})


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.skipif("TOKBENCH_TEST_DATA" not in os.environ, reason="needs NTREX and PUD")
@pytest.mark.parametrize("seed", [0, 3])
def test_known_mixture_is_found(seed: int) -> None:
    case = known(kinds(), seed, 2048)
    score = scores(ate(case.tokenizer, case.others), case.shares)
    assert score.errors.mean() <= 3
    assert score.covered.mean() >= 0.85
