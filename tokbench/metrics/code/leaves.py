"""Leaves of syntax trees. Needs the extra ``code``."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.words.find import Spans
from tokbench.plugin.metrics import Shard, shard_bytes

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

CODE, STRING, COMMENT = range(3)

_ALIASES: Final = {"shell": "bash", "sh": "bash", "js": "javascript", "ts": "typescript", "py": "python", "c++": "cpp"}
_STRINGS: Final = frozenset(
    """
    ansi_c_string bare_string bit_string_literal bitstring byte_string char_literal character_literal command_string
    cstring double_quote_string double_quoted_string dpi_spec_string encapsed_string expandable_here_string_literal
    expandable_string_literal format_string format_triple_quoted_string heredoc_body hex_string hex_string_literal
    indented_string_expression interpolated_string interpolated_string_expression interpolated_string_literal
    interpreted_string_literal line_string_literal long_string_literal multi_line_string_literal nowdoc_string
    prefixed_string prefixed_string_literal quoted_string raw_string raw_string_literal rune_literal short_string
    single_quote_string single_quoted_string string string_constant_expr string_content string_expression
    string_fragment string_lit string_literal string_scalar string_value system_lib_string template_string token_string
    translated_string triple_quote_string triple_quoted_string unicode_string_literal verbatim_string
    verbatim_string_literal yul_hex_string_literal yul_string_literal
    text raw_text attribute_value quoted_attribute_value
    """.split()
)
"""Nodes that are a whole string; of HTML and its like, text. What joins several strings has them inside."""
_COMMENTS: Final = frozenset(
    """
    block_comment block_documentation_comment bracket_comment comment comment_block comment_environment comment_line
    container_doc_comment doc_comment document_comment documentation_comment html_comment js_comment line_comment
    line_continuation_comment module_comment multi_line_comment multiline_comment preproc_comment single_line_comment
    statement_comment xhp_comment
    """.split()
)
_INSTALL: Final = "needs tree-sitter-language-pack below 1.0: pip install 'tokbench[code]'"


class Leaves(NamedTuple):
    """The leaves of documents without a syntax error."""

    spans: Spans
    """Without white space at either end; a string or comment is one leaf."""
    kinds: NDArray[np.int64]
    reach: Spans
    """``spans`` with the white space around them."""
    parsed: NDArray[np.bool_]


def leaves_of(shard: Shard, grammars: Mapping[str, str]) -> Leaves | str:
    """Return the leaves of a shard of programs, found once, or the reason why there are none."""
    group = shard.group
    grammar = grammars.get(group) or _ALIASES.get(group.lower()) or group.lower()
    return shard.cached(("leaves", grammar), lambda: _find(shard, grammar))


def _find(shard: Shard, grammar: str) -> Leaves | str:
    parser = _parser(grammar)
    if parser is None:
        remedy = f"for the group {shard.group!r} the option grammars may name another"
        return f"tree-sitter-language-pack has no grammar {grammar!r}; {remedy}"
    if isinstance(parser, str):
        return parser
    starts, ends, kinds, documents = [], [], [], []
    parsed = np.zeros(len(shard), dtype=np.bool_)
    for k, (text, first) in enumerate(zip(shard.texts, shard.byte_offsets.tolist(), strict=False)):
        root = parser.parse(text.encode()).root_node
        parsed[k] = not root.has_error
        for start, end, kind in _walk(root) if parsed[k] else ():
            starts.append(first + start)
            ends.append(first + end)
            kinds.append(kind)
            documents.append(k)
    spans = Spans(*(np.array(column, dtype=np.int64) for column in (starts, ends, documents)))
    return _laid_out(shard, spans, np.array(kinds, dtype=np.int64), parsed)


def _parser(grammar: str) -> Parser | str | None:
    """Return ``None`` if there is not such a grammar; a string if there are not any parsers."""
    if importlib.util.find_spec("tree_sitter_language_pack") is None:
        return _INSTALL
    version = importlib.metadata.version("tree-sitter-language-pack")
    if not version.startswith("0."):  # from 1.0 on grammars are downloaded when they are first used
        return f"{_INSTALL} (installed is {version})"
    import tree_sitter_language_pack as pack

    try:
        return pack.get_parser(grammar)  # type: ignore[arg-type]
    except LookupError:
        return None


def _walk(root: Node) -> Iterator[tuple[int, int, int]]:
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        kind = _kind(node)
        if kind == CODE and cursor.goto_first_child():
            continue
        if node.end_byte > node.start_byte:
            yield node.start_byte, node.end_byte, kind
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _kind(node: Node) -> int:
    if not node.is_named:
        return CODE
    return COMMENT if node.type in _COMMENTS else STRING if node.type in _STRINGS else CODE


def _laid_out(shard: Shard, spans: Spans, kinds: NDArray[np.int64], parsed: NDArray[np.bool_]) -> Leaves:
    data = shard_bytes(shard)
    solid = ~np.isin(data, np.frombuffer(b" \t\r\n\f\v", dtype=np.uint8))
    places = np.arange(len(data))
    # Of each place: the end of the last solid byte before it, and the first solid byte from it on.
    last = np.concatenate([[0], np.maximum.accumulate(np.where(solid, places + 1, 0))])
    following = np.append(np.minimum.accumulate(np.where(solid, places, len(data))[::-1])[::-1], len(data))
    starts, ends = following[spans.starts], last[spans.ends]
    kept = starts < ends
    starts, ends, documents = starts[kept], ends[kept], spans.documents[kept]
    offsets = shard.byte_offsets
    before = np.maximum(last[starts], offsets[documents])
    after = np.minimum(following[ends], offsets[documents + 1])
    return Leaves(Spans(starts, ends, documents), kinds[kept], Spans(before, after, documents), parsed)
