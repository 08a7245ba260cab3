"""The family ``code``: hand-computed values, a naive count beside it, and the known story of indentation."""

import re
import sys

import pytest
from cutting import ByPattern
from hypothesis import given
from hypothesis import strategies as st
from metric_views import metric, values, view

import tokbench
from tokbench.measuring.metric import NotApplicable
from tokbench.metrics.code.code import SPEC
from tokbench.metrics.code.identifiers import STYLES
from tokbench.metrics.code.indentation import lines_of
from tokbench.metrics.code.leaves import COMMENT, STRING, leaves_of
from tokbench.metrics.code.operators import OPERATORS

SINGLE_SPACES = r" ?\w+|[^\w\s]|\s"
INDENTED = "if x:\n    y = 1\n\n        z\n"


def found(tokenizer, *texts, group="none", **options):
    """The numbers, and the reasons where there are none."""
    kept = values("code", *(view(tokenizer, text, group=group) for text in texts), **options)
    return {k: v.reason if isinstance(v, NotApplicable) else v.value for k, v in kept.items()}


def close(number):
    return pytest.approx(number, rel=1e-12)


def test_spaces_by_hand():
    # if| x|:|⏎  ␣|␣|␣| y|␣|=| 1|⏎  ⏎  ␣×7| z|⏎
    got = found(ByPattern(SINGLE_SPACES), INDENTED)
    assert got["tokens_per_line"] == close(22 / 3)
    assert got["indent_share"] == close(10 / 22)
    assert got["indent_tokens_per_space"] == close(10 / 12)
    assert got["indent_spaces_per_line"] == 5
    assert got["indent_spaces_per_level"] == close(10 / 3)
    assert (got["indent_level_1"], got["indent_level_2"]) == (3, 7)
    assert got["indent_level_3"] == "there are no lines at level 3"
    assert got["indent_tabs_per_line"] == "there are no lines indented with tabs"


def test_tabs_are_apart():
    got = found(ByPattern(SINGLE_SPACES), "a\n\tb\n\t\tc\n    d\n\t e\n")
    # A tab each; and of the line that mixes both, nothing but its part of the whole.
    assert got["indent_tabs_per_line"] == 1.5
    assert got["indent_tabs_per_level"] == 1
    assert got["indent_spaces_per_line"] == 3
    assert got["indent_share"] == close((1 + 2 + 3 + 1) / (7 + 5 + 5))


def test_levels_are_of_the_document():
    shard = view(tokbench.load("utf8_bytes"), "a\n  b\n    c\n", "a\n    b\n        c\n", "/*\n * x\n */\n").shard
    assert lines_of(shard).levels.tolist() == [0, 1, 2, 0, 1, 2, 0, 0, 0]


def test_identifiers_by_style():
    text = "max_size maxSize MaxSize MAX_SIZE size Größe x1y"
    got = found(ByPattern(r"_|[A-Z]?[a-z]+|[A-Z]+|."), text)
    assert [got[f"identifier_tokens_{style}"] for style in STYLES] == [3, 3, 2, 2, (1 + 3) / 2]
    assert got["identifier_tokens"] == close((3 + 3 + 2 + 2 + 1 + 3) / 6)
    assert got["identifiers_whole"] == close(1 / 6)


def test_isolated_operators_by_hand():
    # a|␣==|␣|b|␣|//d|␣|&&|␣|e|␣|&&!|f|␣|!|=|␣|g|⏎
    got = found(ByPattern(r" ==|//\w+|&&!|&&|\w+|\s|."), "a == b //d && e &&!f != g\n")
    # ==, //, && and && are not cut, and != is; a letter is with //, and ! with the second &&. A space is as good as none.
    assert (got["operators_whole"], got["operators_isolated"]) == (close(4 / 5), close(2 / 5))


def test_the_longest_operator_counts():
    known = [(kind, operator) for kind, listed in OPERATORS.items() for operator in listed.split()]
    text = "".join(f"a {operator} b\n" for _, operator in known)
    sums = metric("code").map(view(tokbench.load("utf8_bytes"), text)).sums
    assert sums.total("operators").value == len(known)
    for kind, listed in OPERATORS.items():
        assert sums.total(f"{kind} operators").value == len(listed.split()), kind


def test_syntax_by_hand():
    pytest.importorskip("tree_sitter_language_pack")
    # x|␣|=| f|(1)|⏎  s|␣|=|␣|'|a| b|'|␣|␣|#| no|⏎
    tokenizer = ByPattern(r" ?\w+|\(\d\)|[^\w\s]|\s")
    # Leaves: x = f ( 1 ) s = 'a b' # no
    got = found(tokenizer, "x = f(1)\ns = 'a b'  # no\n", group="python")
    assert got["syntax_parsed"] == 1
    assert got["leaf_edges_kept"] == close(7 / 9)
    assert got["leaf_one_token"] == close(5 / 8)
    assert got["leaf_crossing"] == close(1 / 19)
    assert got["bytes_per_token_strings"] == 5 / 4
    assert got["bytes_per_token_comments"] == 4 / 2
    assert got["bytes_per_token_code"] == close(16 / 13)


@pytest.mark.parametrize(
    ("group", "text", "strings", "comments"),
    [
        ("python", 'x = ("a"  # one\n     "bc")\n', 7, 5),
        ("c", 'char *x = "a" /* one */\n "bc" NAME;\n', 7, 9),
        ("ruby", 'x = "a" \\\n  "bc"\n', 7, 0),
        ("ocaml", "let x = s.[1] (* one *)\n", 0, 9),
        ("sql", "COMMENT ON TABLE a IS 'bc';\n", None, 0),
    ],
)
def test_what_joins_strings_is_not_a_string(group, text, strings, comments):
    pytest.importorskip("tree_sitter_language_pack")
    leaves = leaves_of(view(tokbench.load("utf8_bytes"), text, group=group).shard, {})
    sizes = {kind: int((leaves.spans.ends - leaves.spans.starts)[leaves.kinds == kind].sum()) for kind in range(3)}
    assert leaves.parsed.all()
    assert sizes[COMMENT] == comments
    assert strings is None or sizes[STRING] == strings


SYNTAX = [value.id for value in SPEC.values if value.id.startswith(("syntax", "leaf", "bytes_per"))]


def test_programs_with_errors_are_left_out():
    pytest.importorskip("tree_sitter_language_pack")
    tokenizer = tokbench.load("utf8_bytes")
    failed = found(tokenizer, "def (:\n", group="python")
    assert len({failed[name] for name in SYNTAX}) == 1
    assert all(isinstance(failed[name], str) for name in SYNTAX)
    whole, mixed = (
        {name: found(tokenizer, *texts, group="python")[name] for name in SYNTAX}
        for texts in (["x = 's'  # c\n"], ["x = 's'  # c\n", "def (:\n"])
    )
    assert mixed == whole | {"syntax_parsed": 0.5}


def test_groups_without_a_grammar_say_so():
    pytest.importorskip("tree_sitter_language_pack")
    tokenizer = tokbench.load("utf8_bytes")
    got = found(tokenizer, "x = 1\n", group="mine")
    assert "no grammar 'mine'" in got["leaf_one_token"]
    assert got["tokens_per_line"] == 6
    named = found(tokenizer, "x = 1\n", group="mine", grammars={"mine": "python"})
    assert named["syntax_parsed"] == 1


def test_without_tree_sitter_the_rest_is_measured(monkeypatch):
    monkeypatch.setitem(sys.modules, "tree_sitter_language_pack", None)
    got = found(tokbench.load("utf8_bytes"), "x = 1\n", group="python")
    assert all("pip install 'tokbench[code]'" in got[name] for name in SYNTAX)
    assert got["identifiers_whole"] == 1


TEXTS = st.lists(st.text("  \t\nxé=_1", max_size=30), min_size=1, max_size=4)


@given(TEXTS, st.integers(1, 4))
def test_a_naive_count_gives_the_same(texts, size):
    """Tokens of so many characters; what lies in the white space of a line is counted character by character."""
    spent = lines = 0
    for text in texts:
        inside = [False] * len(text)
        for line in re.finditer(r"[^\n]*", text):
            if line[0].strip():
                lines += 1
                margin = len(line[0]) - len(line[0].lstrip(" \t"))
                inside[line.start() : line.start() + margin] = [True] * margin
        cut = [slice(k, k + size) for k in range(0, len(text), size)]
        # A token of two lines is in no white space of one.
        spent += sum(all(inside[part]) for part in cut)
    got = metric("code").map(view(ByPattern(f".{{1,{size}}}"), *texts)).sums
    assert got.total("indentation tokens").value == spent
    assert got.total("lines").value == lines
