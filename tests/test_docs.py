"""The documentation says what the tree does."""

import re
import subprocess
from pathlib import Path

import pytest

import phb
from phb_lab import readme

ROOT = Path(__file__).parents[1]
SECURITY = ROOT / "SECURITY.md"
DOCUMENTS = sorted(
    [
        *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")),
        SECURITY,
        *(ROOT / "docs").rglob("*.md"),
    ]
)


def test_the_tables_of_networks_are_what_this_tree_measures():
    page = (ROOT / "docs" / "networks" / "index.md").read_text()
    assert page == readme.rewrite(page, readme.run_all()), "run `make readme`"


def test_every_table_of_the_pipeline_is_documented_with_its_key_and_actions():
    pipeline = (ROOT / "docs" / "inside" / "pipeline.md").read_text()
    documented = re.findall(r"^\| `([^`]+)` \| (`.*?|none) \| (`.*?) \| .+ \|$", pipeline, flags=re.MULTILINE)
    expected = [
        (
            name.removeprefix("PhbIngress.").removeprefix("PhbEgress."),
            ", ".join(f"`{field}`" for field in table.fields) or "none",
            ", ".join(f"`{action}`" for action in table.actions if action != "NoAction"),
        )
        for name, table in phb.Artifact.load().tables.items()
    ]
    assert documented == expected


def test_every_counter_of_the_pipeline_is_documented():
    pipeline = (ROOT / "docs" / "inside" / "pipeline.md").read_text()
    names = phb.Artifact.load().counters
    assert names
    assert [name for name in names if f"| `{name}` |" not in pipeline] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_links_lead_to_files_of_the_tree(document):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text())
    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_no_document_has_a_merge_that_nobody_finished(document):
    assert re.findall(r"^(?:<{7}|={7}|>{7})(?: .*)?$", document.read_text(), flags=re.MULTILINE) == []


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "zensical.toml").read_text()
    pages = [str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if f'"{page}"' not in navigation] == []


def test_documents_named_in_the_tree_exist():
    listed = subprocess.run(
        ["git", "grep", "-hoP", r"(?<![\w/-]|bmv2: )docs/[\w/-]+\.(?:md|yang)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert [name for name in set(listed.stdout.split()) if not (ROOT / name).exists()] == []


def test_where_is_what_answers_in_two_steps():
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("## Where is what")[2]
    rows = re.findall(r"^\| ([^|]+\?) \| ([^|]+) \| ([^|]+) \|$", table, flags=re.MULTILINE)
    assert len(rows) >= 10
    for question, *steps in rows:
        paths = [path for step in steps for path in re.findall(r"\]\(([^)#]+)", step)]
        assert paths, question


def test_every_make_target_in_the_documentation_exists():
    defined = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = {name for path in DOCUMENTS for name in re.findall(r"`make ([a-z0-9-]+)`", path.read_text())}
    assert named <= defined


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_no_document_has_a_conflict_in_it(document):
    assert re.findall(r"^(?:<{7} |={7}$|>{7} ).*", document.read_text(), flags=re.MULTILINE) == []


PROMISES = re.findall(
    r"^\| (?!promise |who |-)(.+) \|$", SECURITY.read_text().replace("|---", "| -"), flags=re.MULTILINE
)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda line: line[:60])
def test_every_promise_of_security_names_tests_that_are_there(promise):
    named = re.findall(r"`([\w/.-]+/[\w.-]+)(?:::(\w+))?`", promise.split(" | ")[-1])
    assert named
    for path, test in named:
        where = ROOT / path
        assert where.exists(), path
        assert not test or re.search(rf"^\s*(?:async )?(?:def|fn) {test}\(", where.read_text(), flags=re.MULTILINE), (
            test
        )


def test_security_has_promises():
    assert len(PROMISES) > 15
