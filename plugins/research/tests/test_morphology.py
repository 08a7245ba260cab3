"""Token boundaries against a gold standard, by hand and by the rule of MorphScore's authors."""

from metric_views import Lossy, gold, look, values

from tokbench.corpus.contract import Gold
from tokbench.measuring.metric import NotApplicable
from tokbench.measuring.word_units import NO_GOLD


def test_boundaries_by_hand():
    text = "The unkind dogs bark."
    golds = [gold(text, "The", "un-kind", "dog-s", "bark", ".")]
    found = values("morphology", look(b"The| unk|ind do|gs| bark.", golds=golds))
    # Tokens meet after 'The', in 'unk|ind', in 'do|gs' and after 'dogs'; words meet in four places.
    assert {name: value.value for name, value in found.items()} == {
        "word_boundary_precision": 2 / 4,
        "word_boundary_recall": 2 / 4,
        "word_boundary_f1": 4 / 8,
        "morpheme_boundary_precision": 0 / 2,
        "morpheme_boundary_recall": 0 / 2,
        "morpheme_boundary_f1": 0 / 4,
        "morph_score": 0 / 2,
    }
    found = values("morphology", look(b"The |un|k|ind| dog|s bark.", b"a", golds=[*golds, gold("a", "a")]))
    assert {name: value.value for name, value in found.items()} == {
        "word_boundary_precision": 2 / 5,
        "word_boundary_recall": 2 / 4,
        "word_boundary_f1": 4 / 9,
        "morpheme_boundary_precision": 2 / 3,
        "morpheme_boundary_recall": 2 / 2,
        "morpheme_boundary_f1": 4 / 5,
        "morph_score": 2 / 2,
    }
    assert found["word_boundary_f1"].n == 2


def test_the_morphscore_is_that_of_its_authors():
    """Their rule on each word: left out if it is one token; 1 if the tokens before some cut spell the first part."""
    words = ["un-do", "dog-s", "walk-ed", "re-run", "bark-ing"]
    cuts = [b"un|do", b"dogs", b"wal|k|ed", b"rer|un", b"b|a|rking"]
    scores = []
    for word, cut in zip(words, cuts, strict=True):
        tokens, (first, _) = cut.decode().split("|"), word.split("-")
        if len(tokens) > 1:
            scores.append(any("".join(tokens[:k]) == first for k in range(1, len(tokens))))
    golds = [gold(word.replace("-", ""), word) for word in words]
    found = values("morphology", look(*cuts, golds=golds))
    assert found["morph_score"].value == sum(scores) / len(scores) == 2 / 4
    assert found["morpheme_boundary_recall"].value == 2 / 5


def test_the_unknown_token_finds_no_boundary():
    golds = [gold("ab", "a", "b"), gold("az", "a", "z")]
    found = values("morphology", look(b"ab", b"az", tokenizer=Lossy(), golds=golds))["word_boundary_recall"]
    assert (found.value, found.n) == (1, 1)
    found = values("morphology", look(b"az", tokenizer=Lossy(), golds=golds[1:]))
    assert isinstance(found["word_boundary_f1"], NotApplicable)


def test_without_gold_there_is_a_reason():
    found = values("morphology", look(b"a| b"))
    assert set(found.values()) == {NotApplicable(NO_GOLD)}
    words_only = Gold(((0, 1), (2, 3)), (False, False))
    found = values("morphology", look(b"a| b", golds=[words_only]))
    assert found["word_boundary_f1"].value == 1
    assert isinstance(found["morpheme_boundary_f1"], NotApplicable)
