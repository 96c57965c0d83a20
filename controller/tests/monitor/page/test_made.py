"""What the page is made of."""

import re
from pathlib import Path

import pytest
from made_up_messages import hello

from phb.monitor import page
from phb.monitor.page import assets, page_of

FOLDER = Path(page.__file__).parent
SCRIPTS = sorted(FOLDER.glob("*.js"))


def test_all_of_it_is_below_the_300_kb_that_it_may_have():
    assert sum(len(body) for _, body in assets().values()) < 150_000


def test_every_file_is_served_with_its_type():
    served = assets()
    assert served["/"][0] == "text/html; charset=utf-8"
    assert {path for path, (kind, _) in served.items() if kind.startswith("text/javascript")} == {
        f"/assets/{script.name}" for script in SCRIPTS
    }
    assert served["/assets/page.css"][0].startswith("text/css")


def test_the_document_asks_for_what_is_served_and_nothing_else():
    document = assets()["/"][1].decode()
    asked = re.findall(r'(?:src|href)="(?!#|data:)([^"]+)"', document)
    assert asked
    assert {f"/{path}" for path in asked} <= set(assets())


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_import_what_is_there_and_make_no_markup(script):
    text = script.read_text()
    for names, file in re.findall(r"^import \{([^}]*)\} from '\./(\w+\.js)'$", text, flags=re.MULTILINE):
        other = (FOLDER / file).read_text()
        for name in names.split(","):
            assert re.search(
                rf"^export (?:const|class|(?:async )?function) {name.strip()}\b", other, flags=re.MULTILINE
            )
            assert len(re.findall(rf"\b{re.escape(name.strip())}\b", text)) > 1, f"{name} isn't used"
    assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", text) == []


def test_in_one_page_no_name_is_given_twice():
    given = [
        name
        for script in SCRIPTS
        for name in re.findall(
            r"^(?:export )?(?:const|let|class|(?:async )?function) (\w+)", script.read_text(), flags=re.MULTILINE
        )
    ]
    assert sorted(given) == sorted(set(given))


def test_one_page_holds_its_recording_and_names_nothing_to_be_asked_for():
    lines = [str(hello(recording={"first": 0.0, "last": 1.0}))]
    text = page_of(lines)
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]+"', text) == []
    assert "</script>" not in text.partition('id="data">')[2].partition("</script>")[0]
    assert "import {" not in text
