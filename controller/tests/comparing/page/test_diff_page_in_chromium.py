"""The page of a comparison in a real browser."""

import os

import pytest

from phb.comparing.page import page
from tests.browser import TOO_PALE, TOO_WIDE, viewing


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    with viewing(tmp_path_factory.mktemp("profile")) as viewer:
        yield viewer


@pytest.fixture
def viewer(driven):
    """The browser; whatever a test did, the page complained about nothing and asked for nothing."""
    yield driven
    assert driven.told == []
    assert [url for url in driven.asked if not url.startswith(("file:", "data:"))] == []


@pytest.fixture
def made(tmp_path):
    def made(document):
        path = tmp_path / "diff.html"
        path.write_text(page(document, "anna@noc1"))
        return path

    return made


def test_it_is_readable_at_any_width_in_light_and_dark(viewer, made, document, request):
    path = made(document)
    for width in (380, 1280):
        for scheme in ("light", "dark"):
            tab = viewer.show(path, width, scheme)
            tab.evaluate("document.querySelectorAll('details').forEach(element => element.open = true)")
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            assert tab.evaluate(TOO_WIDE, ["thead"]) == []
            assert tab.evaluate(TOO_PALE) == []
            if folder := os.environ.get("PHB_SCREENSHOTS"):
                name = request.node.callspec.id
                tab.screenshot(path=f"{folder}/diff-{name}-{width}-{scheme}.png", full_page=True)


def test_bars_are_as_long_as_the_share_of_bytes(viewer, made, by_bytes):
    tab = viewer.show(made(by_bytes))
    lengths = """() => [...document.querySelectorAll('.bar')].map(bar => {
        const [all, part] = [...bar.querySelectorAll('rect')].map(rect => rect.getBoundingClientRect().width)
        return part / all
    })"""
    assert tab.evaluate(lengths) == pytest.approx([0.25, 0])


def test_one_click_takes_the_whole_packet(viewer, made, different):
    tab = viewer.show(made(different))
    tab.locator("pre.copied").first.click()
    assert tab.evaluate("getSelection().toString().trim()") == different.comparisons[0].regions[0].example.text


def test_links_lead_to_regions_and_a_screen_reader_meets_what_there_is(viewer, made, different):
    tab = viewer.show(made(different), 380)
    for link in tab.locator(".overview a, .skip").all():
        assert tab.locator(link.get_attribute("href")).count() == 1
    tree = tab.locator("body").aria_snapshot()
    for wanted in (
        'heading "7 regions of packets are treated differently, 1 question is left open" [level=1]',
        'heading "1 tcp to 192.0.2.0/24 port 80" [level=3]',
        'img "1 in 1.0 × 10¹² of packets"',
    ):
        assert wanted in tree


def test_on_paper_it_is_light_and_whole(viewer, made, different):
    tab = viewer.show(made(different), 800, "dark")
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert tab.locator("article details p").first.is_visible()
