"""What the documentation says is what the tree does."""

import re
from pathlib import Path

import pytest

import phb_p4
from phb_lab.report import markdown

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])


def test_the_readmes_table_is_what_this_tree_measures():
    readme = (ROOT / "README.md").read_text()
    assert readme == markdown.with_table(readme, markdown.table(markdown.run_all())), "run `make readme`"


def test_every_table_and_counter_of_the_pipeline_is_documented():
    p4info = phb_p4.p4info_path().read_text()
    pipeline = (ROOT / "docs" / "pipeline.md").read_text()
    for kind in ("tables", "counters"):
        names = re.findall(rf'^{kind} {{\n  preamble {{\n.*\n    name: "([^"]+)"', p4info, flags=re.MULTILINE)
        assert names
        short = [name.removeprefix("PhbIngress.").removeprefix("PhbEgress.") for name in names]
        if kind == "counters":
            short = [name.rpartition(".")[2] for name in short]
        assert [name for name in short if f"`{name}`" not in pipeline] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files_of_the_tree(document):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text())
    assert [target for target in targets if not (document.parent / target).exists()] == []


def test_every_make_target_in_the_documentation_exists():
    defined = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = {name for path in DOCUMENTS for name in re.findall(r"`make ([a-z0-9-]+)`", path.read_text())}
    assert named <= defined
