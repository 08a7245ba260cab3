"""The sections of every report."""

from __future__ import annotations

from typing import Final

from tokbench.report.section import SectionSpec
from tokbench.report.sections.definitions import definitions_document
from tokbench.report.sections.first_charts import first_pictures
from tokbench.report.sections.groups import group_charts, groups_document
from tokbench.report.sections.losses import losses_document
from tokbench.report.sections.overview import overview_document
from tokbench.report.sections.pairs import pairs_document
from tokbench.report.sections.problems import problems_document
from tokbench.report.sections.provenance import provenance_document

CORE_SECTIONS: Final = (
    SectionSpec(name="overview", place=10, build=overview_document, charts=first_pictures),
    SectionSpec(name="groups", place=20, build=groups_document, charts=group_charts),
    SectionSpec(name="pairs", place=40, build=pairs_document),
    SectionSpec(name="losses", place=150, build=losses_document),
    SectionSpec(name="problems", place=160, build=problems_document),
    SectionSpec(name="definitions", place=170, build=definitions_document),
    SectionSpec(name="provenance", place=180, build=provenance_document),
)
"""Plugins of tokbench use the places in between."""
