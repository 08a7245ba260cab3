"""The sentences to repeat to a colleague."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokbench.corpus.languages import language_names
from tokbench.measuring.metric import Role
from tokbench.measuring.round_trip import RoundTrip
from tokbench.report.sections.answer_subject import names
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE, Cell


def headline_sentences(tables: CellTables) -> list[str]:
    """Return a sentence per corpus on who needs the fewest tokens, and one on who loses text."""
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    if not metric:
        return []
    by_sentence: dict[str, list[str]] = {}
    for corpus in tables.corpora:
        if not tables.corpus(corpus).designed and (sentence := _on_corpus(tables, metric, corpus)):
            by_sentence.setdefault(sentence, []).append(_where(tables, corpus))
    sentences = [_capital(sentence.format(where=names(places))) for sentence, places in by_sentence.items()]
    return [*sentences, *_losing(tables)]


def _where(tables: CellTables, corpus: str) -> str:
    groups = tables.corpus(corpus).groups
    languages = len(groups) > 1 and len(language_names(groups)) == len(groups)
    alone = sum(len(language_names(tables.corpus(name).groups)) > 1 for name in tables.corpora) == 1
    return f"over {len(groups)} languages" if languages and alone else f"on {corpus}"


def _on_corpus(tables: CellTables, metric: str, corpus: str) -> str:
    """Return the sentence of a corpus with ``{where}`` for its name; empty if nothing was measured."""
    pool = tables.competing(metric, corpus)
    if len(pool) > 1:
        return _of_several(tables, pool)
    if pool:
        return f"{_braced(pool[0].tokenizer)} alone competes {{where}} ({_value(pool[0])})."
    known = [cell for name in tables.tokenizers if (cell := tables.cell(metric, corpus, WHOLE, name))]
    lost = [cell for cell in known if tables.round_trip(cell) == RoundTrip.LOSSY]
    return "{where} every tokenizer is lossy, and none is ranked." if lost and len(lost) == len(known) else ""


def _of_several(tables: CellTables, pool: Sequence[Cell]) -> str:
    top, second = pool[:2]
    value, first = _value(top), _braced(top.tokenizer)
    if all(cell.value == top.value for cell in pool):
        return f"{{where}} all {len(pool)} tokenizers need equally many tokens ({value})."
    level = tables.level_with_best(top.metric, top.corpus)
    equal = [cell.tokenizer for cell in pool if cell.value == top.value]
    near = [cell.tokenizer for cell in pool if cell.tokenizer in level] or equal * (len(equal) > 1)
    if not near:
        return (
            f"{{where}} the texts are too few to rank tokenizers; {first} needs the fewest tokens for them ({value})."
        )
    if len(near) == 1:
        more = _percent(100 * ((top.value or 0.0) / (second.value or 1.0) - 1))
        return f"{first} needs the fewest tokens {{where}} ({value}); {_braced(second.tokenizer)} needs {more} more."
    if len(near) == len(pool):
        return f"{{where}} the {len(pool)} tokenizers tie: no difference is significant ({value})."
    return f"{{where}} {_braced(names(near))} tie for the fewest tokens ({value})."


def _value(cell: Cell) -> str:
    return f"{cell.value:.3g} bytes a token"


def _percent(more: float) -> str:
    """Return a difference in percent, with a decimal where it is small.

    >>> _percent(8.87), _percent(0.31), _percent(203.9)
    ('9 %', '0.3 %', '204 %')
    """
    return f"{more:.1f} %" if more < 1 else f"{more:.0f} %"


def _losing(tables: CellTables) -> Iterator[str]:
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    cells = (tables.cell(metric, corpus, WHOLE, name) for corpus in tables.corpora for name in tables.tokenizers)
    found = [(cell.tokenizer, tables.round_trip(cell)) for cell in cells if cell and cell.value is not None]
    checked = {name for name, answer in found if answer not in {RoundTrip.UNKNOWN, RoundTrip.NOT_CHECKED}}
    out = {name for name, answer in found if answer == RoundTrip.LOSSY}
    small = {name for name, answer in found if answer == RoundTrip.LOSSY_RANKED} - out
    if out or small:
        ranked = f"; {len(small):,} of them so little that they are ranked everywhere" if small else ""
        verb = "loses" if len(out | small) == 1 else "lose"
        yield f"{len(out | small):,} of {len(checked):,} tokenizers {verb} text{ranked}."


def _braced(name: str) -> str:
    return name.replace("{", "{{").replace("}", "}}")


def _capital(sentence: str) -> str:
    return f"O{sentence[1:]}" if sentence.startswith(("on ", "over ")) else sentence
