"""The section on provenance: a page has groups, digests and the texts of configurations."""

from __future__ import annotations

from tokbench.report.html_nodes import HtmlNodes
from tokbench.report.markdown_nodes import section_markdown
from tokbench.report.sections.provenance import provenance_document
from tokbench.report.tables import CellTables
from tokbench.results.blocks import ConfigFile, CorpusInfo, Durations, Environment, RunConfig, TokenizerInfo
from tokbench.results.model import Results

CORPUS = CorpusInfo(
    source="text", licence="CC0-1.0", sha256="c0ffee", limit=5, documents=9, bytes=2000, evaluated_bytes=1000,
    holdout=0.5, parallel=True, groups={"de": 4, "en": 5},
)  # fmt: skip
TOKENIZER = TokenizerInfo(
    backend="regex_bpe", distribution="tokbench 1", engine="compiled", vocab_size=1024, load_s=0.25,
    sha256={"vocabulary": "ab12", "file": "cd34"}, artefact_sha256="ef56",
)  # fmt: skip
CONFIG = RunConfig(sha256="5eed", text="a: 1\n", bases=[ConfigFile(file="base.yaml", sha256="ba5e", text="b: <2>\n")])
RESULTS = Results(
    name="r",
    corpora={"c": CORPUS},
    tokenizers={"t": TOKENIZER},
    config=CONFIG,
    environment=Environment(cpu="one", cores=2),
    durations=Durations(reading=0.25),
)


def test_a_page_has_groups_and_the_configuration():
    page = HtmlNodes(CellTables(RESULTS)).section(provenance_document(CellTables(RESULTS)))
    assert '<td class="n">2</td>' in page
    assert "<pre>a: 1\n</pre>" in page
    assert "<pre>b: &lt;2&gt;\n</pre>" in page
    for part in (
        "1.00 kB evaluated",
        "held out: 0.5",
        "engine: compiled",
        "vocabulary ab12",
        "artefact ef56",
        "5eed",
        "ba5e",
    ):
        assert part in page
    assert "    b: <2>\n" in section_markdown(provenance_document(CellTables(RESULTS))), "a code block needs no escapes"
