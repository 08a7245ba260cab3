"""Strings of software: every message is that of gettext, every name that of Babel, and keys are the same in all languages."""

import gettext
from collections import defaultdict
from pathlib import Path

import pytest

from tokbench_research.sources.aligned import AlignedOptions
from tokbench_research.sources.cldr_names import CldrSource
from tokbench_research.sources.django_messages import DjangoSource

LOCALES = ("en", "de", "ja", "pt_BR")


def by_language(documents):
    texts = defaultdict(dict)
    for document in documents:
        texts[document.group][document.key] = document.text
    return texts


def test_messages_are_those_of_gettext():
    django = pytest.importorskip("django")
    texts = by_language(DjangoSource(AlignedOptions(locales=LOCALES)).documents())
    assert list(texts) == list(LOCALES)
    assert len({tuple(of_language) for of_language in texts.values()}) == 1
    assert len(texts["en"]) > 500
    root = Path(django.__file__).parent
    for language in LOCALES[1:]:
        with (root / f"conf/locale/{language}/LC_MESSAGES/django.mo").open("rb") as file:
            catalogue = gettext.GNUTranslations(file)
        checked = 0
        for key, text in texts[language].items():
            if key.startswith("conf/django/") and "|" not in key:
                assert text == catalogue.gettext(texts["en"][key])
                checked += 1
        assert checked > 100


def test_complete_languages_are_taken_by_default():
    pytest.importorskip("django")
    texts = by_language(DjangoSource(AlignedOptions()).documents())
    assert {"en", "fr", "sk"} <= set(texts)
    assert "fy" not in texts  # of which 20 messages are translated
    assert all(len(of_language) == len(texts["en"]) for of_language in texts.values())


def test_names_are_those_of_babel():
    babel = pytest.importorskip("babel")
    texts = by_language(CldrSource(AlignedOptions(locales=("en", "de", "hi"))).documents())
    assert (texts["en"]["languages/fi"], texts["de"]["languages/fi"]) == ("Finnish", "Finnisch")
    assert texts["hi"]["languages/fi"] == babel.Locale("hi").languages["fi"]
    assert [*texts["en"]] == [*texts["hi"]]
