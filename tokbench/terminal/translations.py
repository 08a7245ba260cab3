"""The languages of texts that are translations: how a new configuration compares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokbench.corpus.languages import language_names, reference_language
from tokbench.corpus.translations import find_translations
from tokbench.report.answer.words import join
from tokbench.terminal.folder_texts import FolderCorpus, opened
from tokbench.terminal.options import say
from tokbench.tokenizers.options import GivenOptions


def compare(name: str, corpus: FolderCorpus, keys: GivenOptions) -> bool:
    """Let the languages of a corpus be compared if they are translations, and say how, or why not."""
    unit = {"text": str(keys.get("document")), "conllu": "sentence"}.get(corpus.source, "row")
    options = {key: value for key, value in keys.items() if key != "source"} | {"path": corpus.keys["path"]}
    translations = find_translations(opened(corpus.source, options).documents(), unit)
    others = [group for group in corpus.groups if group not in translations.languages]
    reason = translations.reason or ("not every row has a language" if others and unit == "row" else "")
    if reason:
        say(f"{name}: not compared {unit} by {unit}: {reason}")
    if reason or not translations.reference:
        return False
    files = len({path for group in translations.languages for path in corpus.groups[group]})
    what = f"{files} files" if files == len(translations.languages) else f"{len(translations.languages)} languages"
    english = language_names([translations.reference]).get(translations.reference, translations.reference)
    say(f"{name}: {what} of {translations.documents:,} {unit}s: compared {unit} by {unit}, {english} = 1")
    keys |= {"parallel": True, "reference": translations.reference}
    if others:
        say(f"{name}: left out, because their names tell no language: {join(others)}")
        keys["groups"] = list(translations.languages)
    return True


def comparison(corpora: Mapping[str, FolderCorpus], compared: Sequence[str]) -> str:
    """Return the comment on languages that are compared, or on how to compare them."""
    if compared:
        return """\
# The languages are translations: "premium" is the tokens of a language relative to the same text in the reference, and
# "gini" says how unevenly languages bear the cost. If they are not, remove "parallel", "reference" and "fairness"."""
    languages = next((list(corpus.groups) for corpus in corpora.values() if not corpus.is_code), ["eng"])
    return f"""\
# Translations can be compared with each other: where files have the same lines in other languages, add "parallel: true"
# and "reference: {reference_language(languages)}" to their corpus, and "fairness" to the metrics."""
