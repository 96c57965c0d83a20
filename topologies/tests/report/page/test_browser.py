"""The page in a real browser."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from phb_lab.figures import Figure
from phb_lab.report import judging
from phb_lab.report.document import read
from phb_lab.report.page import page as make_page
from tests.browser import TOO_PALE, TOO_WIDE, viewing

# Drawings and pictures that take no room.
TOO_SMALL = """() => [...document.querySelectorAll('svg:not(.beyond), img')].filter(element => {
    if (element.closest('details:not([open]), thead')) return false
    const box = element.getBoundingClientRect()
    return box.width < 5 || box.height < 5 || (element.localName === 'img' && !element.naturalWidth)
}).map(element => element.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def viewer(tmp_path_factory):
    with viewing(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Two real tests of the S/390 network; run by a process of their own, as Playwright holds this one's event loop."""
    folder = tmp_path_factory.mktemp("page")
    command = [sys.executable, "-m", "phb_lab", "run", "s390", "--test", "diffserv-fifo-osa2", "--test"]
    command += ["ipprec-wfq-cip", "--duration", "40", "--json", "r.json", "--html", "s390.html"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "s390.html", read(folder / "r.json").figures


@pytest.fixture
def made_up(study, runs, tmp_path):
    path = tmp_path / "made-up.html"
    path.write_text(make_page(study, runs, ()))
    return path, [figure for run in runs for figure in run.figures]


@pytest.fixture
def long_names(study, runs, tmp_path):
    """Figures whose test and quantity are one long word each, as keys of published data may be."""
    figures = [
        Figure("single_queue_ordered_dropping_" * 4, f"{'cs1_background_vs_cs2_' * 4}.{end}", "s", 1.0, 2.0)
        for end in ("first_settings", "standard_wred" * 8)
    ]
    path = tmp_path / "long-names.html"
    path.write_text(make_page(study, [replace(runs[0], figures=tuple(figures))], ()))
    return path, figures


@pytest.fixture(params=["made_up", "real", "long_names"])
def shown(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_at_any_width_in_light_and_dark(viewer, shown, width, scheme):
    path, _ = shown
    tab = viewer.show(path, width, scheme)
    tab.evaluate("document.querySelectorAll('details').forEach(element => element.open = true)")
    assert viewer.told == []
    assert [url for url in viewer.asked if not url.startswith(("file:", "data:"))] == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate(TOO_WIDE, ["thead"]) == []
    assert tab.evaluate(TOO_PALE) == []
    assert tab.evaluate(TOO_SMALL) == []
    if folder := os.environ.get("PHB_SCREENSHOTS"):
        tab.screenshot(path=f"{folder}/{path.stem}-{width}-{scheme}.png", full_page=True)


def test_dark_is_dark(viewer, made_up):
    ground = "getComputedStyle(document.body).backgroundColor"
    assert viewer.show(made_up[0], 800, "dark").evaluate(ground) == "rgb(20, 23, 27)"
    assert viewer.show(made_up[0], 800).evaluate(ground) == "rgb(255, 255, 255)"


def test_every_figure_is_in_its_table_with_the_published_one_beside_it(viewer, shown):
    path, figures = shown
    tab = viewer.show(path, 1280)
    cells = tab.evaluate(
        """() => [...document.querySelectorAll('table.figures')].flatMap(table =>
            [...table.querySelectorAll('tbody tr:not(.note)')].map(row => [
                table.caption.title, row.children[0].title,
                ...[...row.children].slice(1, 4).map(cell => cell.innerText)]))"""
    )
    assert cells == [
        [
            figure.test,
            figure.quantity,
            "–" if figure.published is None else judging.number(figure.published, figure.unit),
            judging.number(figure.measured, figure.unit),
            "–" if figure.ratio is None else judging.ratio(figure.ratio),
        ]
        for figure in figures
    ]


def test_marks_lie_where_their_ratio_is(viewer, made_up):
    path, figures = made_up
    tab = viewer.show(path, 1280)
    drawn = tab.evaluate(
        """() => [...document.querySelectorAll('td.track svg:has(title)')].map(svg => {
            const box = svg.getBoundingClientRect(), mark = svg.querySelector('circle').getBoundingClientRect()
            return (mark.left + mark.width / 2 - box.left) / box.width
        })"""
    )
    ratios = [figure.ratio for figure in figures if figure.ratio is not None]
    assert [4 ** (2 * share - 1) for share in drawn] == pytest.approx(ratios, rel=0.03)


def test_only_what_is_off_is_left_by_the_filter_which_the_keyboard_reaches(viewer, made_up):
    path, figures = made_up
    tab = viewer.show(path, 1280)
    rows = "[...document.querySelectorAll('.figures tbody tr:not(.note)')].filter(row => row.offsetHeight).length"
    assert tab.evaluate(rows) == len(figures)
    for _ in range(20):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.id") == "only-off":
            break
    tab.keyboard.press("Space")
    assert tab.evaluate(rows) == sum(judging.verdict(figure) in {"off", "missed"} for figure in figures)


def test_policies_open_by_the_keyboard(viewer, made_up):
    tab = viewer.show(made_up[0], 1280)
    tab.locator("#policies summary").first.focus()
    tab.keyboard.press("Enter")
    assert tab.locator("#policies pre").first.is_visible()


def test_links_lead_to_their_sections(viewer, shown):
    tab = viewer.show(shown[0], 1280)
    for link in tab.locator("nav a").all():
        assert tab.locator(link.get_attribute("href")).count() == 1


def test_on_paper_everything_is_shown(viewer, made_up):
    tab = viewer.show(made_up[0], 800, "dark")
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert tab.locator("#policies pre").first.bounding_box()["height"] > 100
    assert not tab.locator("nav").is_visible()


def test_a_screen_reader_meets_headings_tables_and_drawings_with_names(viewer, made_up):
    tab = viewer.show(made_up[0], 400)
    tree = tab.locator("body").aria_snapshot()
    for wanted in (
        'heading "a made-up network" [level=1]', 'navigation "Sections"', 'region "Published and measured"',
        'img "fair, response of the interactive traffic: measured 0.390, published 1.003, ratio 0.39, '
        'asked ≤ 0.350 (s)"',
        'img "os390 to cip; cip to c3640, 256 kbit/s; c3640 to branch"',
        'checkbox "only figures that are further off or not as asked"',
    ):  # fmt: skip
        assert wanted in tree or json.dumps(wanted) in tree, wanted
