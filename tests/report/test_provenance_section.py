"""The section on provenance: digests of everything, groups on the page alone, and the files that a configuration extends."""

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


def test_text_has_every_digest_and_leaves_out_groups_and_the_text_of_the_configuration():
    text = section_markdown(provenance_document(CellTables(RESULTS)))
    assert "| corpus | source | options | licence | documents | size | sha256 |" in text
    source, size = "text; parallel; held out: 0.5", "2.00 kB; at most 5 documents a group measured; 1.00 kB evaluated"
    assert f"| c | {source} |  | CC0-1.0 | 9 | {size} | c0ffee |" in text
    backend, digests = "regex_bpe; tokbench 1; engine: compiled", "vocabulary ab12 file cd34 artefact ef56"
    assert f"| t | {backend} |  | 1,024 | 0.250 s | none here |  | {digests} |" in text
    assert "| reading corpora | 0.250 s |" in text
    assert "|  |  |\n| --- | --- |\n| cpu | one |\n| cores | 2 |\n" in text
    assert text.endswith("- Configuration, sha256 5eed\n- It extends base.yaml, sha256 ba5e\n")


def test_the_page_has_groups_and_the_text_of_the_configuration():
    tables = CellTables(RESULTS)
    page = HtmlNodes(tables).section(provenance_document(tables))
    assert '<td class="prose groups"><bdi>de</bdi>\xa04, <bdi>en</bdi>\xa05</td>' in page
    assert '<span class="hash">vocabulary ab12</span> <span class="hash">file cd34</span>' in page
    assert '<summary>Configuration, sha256 <span class="hash">5eed</span></summary>\n<pre>a: 1\n</pre>' in page
    assert "<pre>b: &lt;2&gt;\n</pre>" in page


def test_a_run_that_says_nothing_of_itself_has_a_section():
    text = section_markdown(provenance_document(CellTables(Results(name="r"))))
    assert "Configuration" not in text
    assert "phase" not in text
