"""How many tokens of one tokenizer fit into the limit of another: by hand, and on held-out text."""

import json

import pytest
from click.testing import CliRunner
from scipy.stats import binom

import tokbench
from tokbench.plugin.command import texts_by_group
from tokbench_questions.budget import budget, overflow
from tokbench_questions.budget.command import budget as command


class Characters:
    """One token for each character; ``a`` is unknown."""

    vocab_size = 0x110000
    unk_id = ord("a")

    def encode(self, text, /):
        return list(map(ord, text))

    def decode(self, ids, /):
        return "".join(map(chr, ids))


def test_chunks_by_hand():
    text = "a" * 51 + "é" * 35  # limit 10, with 0, 1, 2, 3, 0, 1, … between: chunks of 10 from 0, 10, 21, 33, then of 5
    [group] = budget(Characters(), "utf8_bytes", {"x": [text]}, limit=12, special=2).groups
    assert (group.tokens, group.chunks, group.mean) == (86, 10, (4 * 10 + 7 + 5 * 5) / 10)
    assert group.safe == (None, None)


def test_safe_length_is_an_order_statistic():
    texts = {"x": ["a" * 9 + "é" if number % 20 else "é" * 10 for number in range(4000)]}
    [group] = budget(Characters(), Characters(), texts, limit=20, special=0).groups
    assert group.safe == (20, None if group.chunks < 2995 else 20)
    for chunks, rank in ((58, 0), (59, 1), (93, 2)):
        assert int(binom.ppf(0.05, chunks, 0.05)) == rank
        assert 1 - 0.95**chunks >= 0.95 or rank == 0


def test_a_cut_character_counts_as_its_replacement():
    [group] = budget("utf8_bytes", "utf8_bytes", {"x": ["𐍈" * 3000]}, limit=39, special=0).groups
    assert group.safe[0] < 39
    [found] = overflow("utf8_bytes", "utf8_bytes", {"x": ["𐍈" * 3000]}, tokens=group.safe[0], limit=39, special=0)
    assert found.share <= 0.05


def test_unknown_tokens_are_said():
    [group] = budget("utf8_bytes", Characters(), {"x": ["abab"]}, limit=4).groups
    assert (group.unknown, group.chunks) == (0.5, 1)


def test_overflow_by_hand():
    texts = {"x": ["aaaaaééé" * 2]}
    [found] = overflow(Characters(), "utf8_bytes", texts, tokens=4, limit=6, special=0)
    assert (found.chunks, found.over, found.share) == (4, 2, 0.5)


def test_no_room_is_refused():
    with pytest.raises(tokbench.InputError, match="--limit"):
        budget("utf8_bytes", "utf8_bytes", {}, limit=2)


@pytest.mark.slow
@pytest.mark.parametrize(("cut_by", "embed_by", "limit"), [("gpt-4o", "modernbert", 66), ("gpt-4o", "llama-2", 128)])
def test_held_out_chunks_overflow_within_the_claim(data, cut_by, embed_by, limit):
    halves = [{}, {}]
    for group, texts in texts_by_group(str(data / "ntrex")).items():
        halves[0][group], halves[1][group] = texts[: len(texts) // 2], texts[len(texts) // 2 :]
    cutter, embedder = tokbench.load(cut_by), tokbench.load(embed_by)
    total = over = beyond = 0
    for group in budget(cutter, embedder, halves[0], limit=limit).groups:
        held = {group.group: halves[1][group.group]}
        [found] = overflow(cutter, embedder, held, tokens=group.safe[0], limit=limit)
        total, over = total + found.chunks, over + found.over
        beyond += binom.sf(found.over - 1, found.chunks, 0.05) < 0.05
    assert over / total < 0.05
    assert beyond <= 1  # of 13 claims at 95 % confidence


def test_command(tmp_path):
    (tmp_path / "en.txt").write_text("plain words of a text\n" * 300)
    (tmp_path / "ru.txt").write_text("слова\n" * 300, encoding="utf-8")
    arguments = ["utf16_units", "utf8_bytes", "--limit", "52", "--texts", str(tmp_path)]
    facts = json.loads(CliRunner().invoke(command, [*arguments, "--json"]).stdout)
    assert {group["group"]: group["safe"] for group in facts["groups"]} == {"en": [50, None], "ru": [27, None]}
    shown = CliRunner().invoke(command, arguments)
    assert (shown.exit_code, "27 tokens of utf16_units: ru" in shown.stdout) == (0, True)
    fine, wrong = (CliRunner().invoke(command, [*arguments, "--tokens", size]) for size in ("27", "30"))
    assert (fine.exit_code, wrong.exit_code) == (0, 1)
