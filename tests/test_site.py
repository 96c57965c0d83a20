"""The documentation as a site: its links lead somewhere, and it is searched without a server and without a network."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest

from docs.site import pictures, staging

pytest.importorskip("zensical", reason="zensical isn't installed (`make docs` installs it)")
CHROMIUM = which("chromium")
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site as `make docs` makes it, but for docstrings, which take most of the time."""
    folder = tmp_path_factory.mktemp("docs")
    staging.stage(folder / "pages")
    for path in (folder / "pages" / "reference").glob("*.md"):
        path.write_text(re.sub(r"^::: .*", "", path.read_text(), flags=re.MULTILINE | re.DOTALL))
    settings = (ROOT / "zensical.toml").read_text()
    settings = settings.replace('"build/docs"', '"pages"').replace('"out/docs"', '"site"')
    (folder / "zensical.toml").write_text(settings)
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder, env=os.environ | {"NO_COLOR": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Debian's Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("chromium isn't installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    """A page of a browser, and what it asked a network for."""
    opened = browser.new_page()
    opened.asked = []
    opened.on("request", lambda request: opened.asked.append(request.url))
    yield opened
    opened.close()
    assert [url for url in opened.asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_every_page_of_the_navigation_is_there(site, page):
    page.goto((site / "index.html").as_uri())
    links = page.eval_on_selector_all("nav a.md-nav__link, nav a.md-tabs__link", "all => all.map(a => a.href)")
    pages = {link.partition("#")[0] for link in links} - {""}
    assert len(pages) > 40
    assert [url for url in pages if not Path(url.removeprefix("file://")).exists()] == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("WRED", "inside/pipeline.html"),
        ("hold queue", "inside/pipeline.html"),
        ("access list", "policies/ios.html"),
        ("standby", "operate/operating.html"),
    ],
)
def test_search_finds_pages_without_a_network(site, page, words, found):
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("Control+k")
    page.keyboard.type(words)
    page.wait_for_selector(f"a[href*='{found}']:visible")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["index", "inside/index", "inside/pipeline", "networks/index", "source/CONTRIBUTING"])
def test_no_page_is_wider_than_its_window(site, page, width, name):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto((site / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_is_what_is_drawn(name):
    drawn = pictures.draw(pictures.PICTURES[name])
    assert (pictures.FOLDER / f"{name}.svg").read_text() == drawn, "run `python -m docs.site.pictures`"


def boxes(name: str) -> set[str]:
    return {box for row in pictures.PICTURES[name]["rows"] for box in row["boxes"]}


def packages(folder: str) -> set[str]:
    return {path.parent.name for path in (ROOT / folder).glob("*/__init__.py")}


def test_pictures_show_the_folders_that_are_there():
    assert boxes("overall") == {
        path.name
        for path in ROOT.iterdir()
        if path.name in staging.tracked() and path.is_dir() and not path.name.startswith(".")
    } - {"docs", "tests", "requirements"}
    assert boxes("switch") == {path.parent.name for path in (ROOT / "switch" / "crates").glob("*/Cargo.toml")}
    assert boxes("controller") == packages("controller/phb") | {"schema"}
    assert boxes("lab") == packages("topologies/phb_lab") | {"data"}


def included(name: str) -> list[str]:
    """What a file of the program includes, without what every stage does and the files that only apply others."""
    text = (ROOT / "p4src" / name).read_text()
    rest = {"headers", "state", "segment", "input", "output", "queue"}
    return [each for each in re.findall(r'^#include "(\w+)\.p4"$', text, flags=re.MULTILINE) if each not in rest]


def test_the_pictures_way_is_the_programs():
    start, *middle, end = [list(row["boxes"]) for row in pictures.PICTURES["program"]["rows"]]
    assert start + end == included("phb.p4")
    arrived, leaving, for_hosts, queued = middle
    assert [arrived, leaving + for_hosts, queued] == [included(f"{name}.p4") for name in ("input", "output", "queue")]


def test_no_crate_uses_one_above_it():
    rows = [list(row["boxes"]) for row in pictures.PICTURES["switch"]["rows"]]
    place = {box: number for number, row in enumerate(rows) for box in row}
    for name in place:
        manifest = (ROOT / "switch" / "crates" / name / "Cargo.toml").read_text().partition("[dev-dependencies]")[0]
        uses = re.findall(r"^phb-([\w-]+)\.workspace", manifest, flags=re.MULTILINE)
        assert [other for other in uses if place[other] <= place[name]] == []
