"""How many tokens of one tokenizer fit into the limit of another: by hand, and on held-out text."""

import json

import pytest
from click.testing import CliRunner
from scipy.stats import binom

import tokbench
from tokbench.cli.main import tokbench as commands
from tokbench.command import texts_by_group
from tokbench.cost.budget import _rank, fit_budget

BYTES = tokbench.load("utf8_bytes")


class Characters:
    """One token for each character; ``a`` is unknown."""

    vocab_size = 0x110000
    unk_id = ord("a")

    def encode(self, text, /):
        return list(map(ord, text))

    def decode(self, ids, /):
        return "".join(map(chr, ids))


def overflow(cutter, embedder, text, tokens, limit):
    """Cut a text into chunks of so many tokens; return how many there are, and how many are too long."""
    ids = cutter.encode(text)
    chunks = [cutter.decode(ids[start : start + tokens]) for start in range(0, len(ids) - tokens + 1, tokens)]
    return len(chunks), sum(len(embedder.encode(chunk)) > limit for chunk in chunks)


def test_chunks_by_hand():
    text = "a" * 51 + "é" * 35  # limit 10, with 0, 1, 2, 3, 0, 1, … between: chunks of 10 from 0, 10, 21, 33, then of 5
    [group] = fit_budget(Characters(), BYTES, {"x": [text]}, 10)
    assert (group.chunks, group.mean) == (10, (4 * 10 + 7 + 5 * 5) / 10)
    assert group.safe == (None, None)


def test_safe_length_is_an_order_statistic():
    texts = {"x": ["a" * 9 + "é" if number % 20 else "é" * 10 for number in range(4000)]}
    [group] = fit_budget(Characters(), Characters(), texts, 20)
    assert group.safe == (20, None if group.chunks < 2995 else 20)
    assert [_rank(chunks, 0.05) for chunks in (0, 58, 59, 92, 93)] == [0, 0, 1, 1, 2]
    for chunks, share in ((92, 0.05), (1234, 0.001), (2995, 0.001), (30_000, 0.05)):
        assert _rank(chunks, share) == binom.ppf(0.05, chunks, share)


def test_a_cut_character_counts_as_its_replacement():
    [group] = fit_budget(BYTES, BYTES, {"x": ["𐍈" * 3000]}, 39)
    assert group.safe[0] < 39
    chunks, over = overflow(BYTES, BYTES, "𐍈" * 3000, group.safe[0], 39)
    assert over / chunks <= 0.05


def test_unknown_tokens_are_said():
    [group] = fit_budget(BYTES, Characters(), {"x": ["abab"]}, 2)
    assert (group.unknown, group.chunks) == (0.5, 1)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(("cut_by", "embed_by", "limit"), [("gpt-4o", "modernbert", 64), ("gpt-4o", "llama-2", 126)])
def test_held_out_chunks_overflow_within_the_claim(data, cut_by, embed_by, limit):
    halves = [{}, {}]
    for group, texts in texts_by_group(str(data / "ntrex")).items():
        halves[0][group], halves[1][group] = texts[: len(texts) // 2], texts[len(texts) // 2 :]
    cutter, embedder = tokbench.load(cut_by), tokbench.load(embed_by)
    total = over = beyond = 0
    for group in fit_budget(cutter, embedder, halves[0], limit):
        held = "\n".join(halves[1][group.group])
        chunks, too_long = overflow(cutter, embedder, held, group.safe[0], limit)
        total, over = total + chunks, over + too_long
        beyond += binom.sf(too_long - 1, chunks, 0.05) < 0.05
    assert over / total < 0.05
    assert beyond <= 1  # of 13 claims at 95 % confidence


def test_blank_lines_are_part_of_the_text(tmp_path):
    blank = "\n" * 8
    cutter = tokbench.train("naive_bpe", [blank * 20], 259)  # which has blank lines as one token
    cutter.save(saved := tmp_path / "cutter.bpe.json")
    text = "".join(f"{'low ' * (1 + number % 7)}{blank}" for number in range(2000))
    (tmp_path / "en.txt").write_text(text)
    asked = ["-t", f"naive_bpe:{saved}", "--reference", "utf8_bytes", "--budget", "100", "--json"]
    facts = json.loads(CliRunner().invoke(commands, ["cost", str(tmp_path / "en.txt"), *asked]).stdout)
    [group] = facts["tokenizers"][0]["groups"]
    chunks, over = overflow(cutter, BYTES, text, group["safe"][0], 100)
    assert min(chunks, group["chunks"]) >= 59
    assert over / chunks <= 0.05


def test_command(tmp_path):
    (tmp_path / "en.txt").write_text("plain words of a text\n" * 300)
    (tmp_path / "ru.txt").write_text("слова\n" * 300, encoding="utf-8")
    arguments = ["cost", "-t", "utf16_units", "--reference", "utf8_bytes", "--budget"]
    folder = str(tmp_path)
    facts = json.loads(CliRunner().invoke(commands, [*arguments, "50", folder, "--json"]).stdout)["tokenizers"][0]
    assert {group["group"]: group["safe"] for group in facts["groups"]} == {"en": [50, None], "ru": [27, None]}
    shown = CliRunner().invoke(commands, [*arguments, "50", folder])
    assert (shown.exit_code, "at most 27 tokens of utf16_units" in shown.stdout) == (0, True)
    assert "(least of 2 groups)" in shown.stdout
    alone = CliRunner().invoke(commands, [*arguments, "50", str(tmp_path / "en.txt")])
    assert "groups" not in alone.stdout
    short = CliRunner().invoke(commands, [*arguments, "510", str(tmp_path / "en.txt")])
    assert (short.exit_code, "59 chunks" in short.stdout) == (0, True)
    for refused in (["0", folder], ["9", folder, "--chat"], ["9"], ["9", folder, "--sample", "1%"]):
        assert CliRunner().invoke(commands, [*arguments, *refused]).exit_code == 2
