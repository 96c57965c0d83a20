"""The page of a comparison as text: nothing in it runs or is asked for, and everything told is there."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from phb.comparing.page import command, page, parted, share_in_words
from phb.comparing.telling import Content, Example, Side


class Elements(HTMLParser):
    """All elements with their attributes, and all text."""

    def __init__(self, text):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


def test_nothing_runs_and_nothing_is_asked_for(document):
    text = page(document)
    for tag, attributes in Elements(text).found:
        assert tag not in ("script", "iframe", "object", "base", "form")
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:,"))
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")


def test_everything_that_is_told_is_there(document):
    shown = unescape(page(document))
    for comparison in document.comparisons:
        for side in (comparison.a, comparison.b):
            assert side.words in shown
            assert all(content.name in shown for content in side.contents)
        for region in comparison.regions:
            assert f"region-1-{region.number}" in shown
            assert region.example is None or region.example.text in shown
            assert region.failed is None or region.failed in shown
        for line in (*comparison.left_out, *(question.packets for question in comparison.open)):
            assert line in shown


def test_names_are_text_that_no_browser_or_terminal_obeys(different):
    text = page(different, "<b>\x07")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m\\u202e" in text
    assert "by &lt;b&gt;\\x07" in text
    assert not re.search(r"[^\S\n ]|[\x00-\x09\x0b-\x1f\u202e]", text)


def test_parts_that_are_not_told_are_counted(different):
    text = Elements(page(different)).text
    assert "and 9 more parts" in text
    assert "and 1 set of packets that isn't told" in text


def test_who_and_when(different):
    text = Elements(page(different, "anna@noc1")).text
    assert "Made 2026-11-26T20:30:00+00:00 by anna@noc1 with phb 0.1.0." in text


@pytest.mark.parametrize(
    ("text", "other", "differing"),
    [
        ("class voice: level 0", "class bulk: level 0", ["voice:"]),
        ("100 kbit/s, burst 8000 bytes", "200 kbit/s, burst 8000 bytes", ["100"]),
        ("passes", "passes", []),
        ("", "dropped", []),
    ],
)
def test_words_that_differ_are_marked(text, other, differing):
    parts = list(parted(text, other))
    assert "".join(part for part, _ in parts) == text
    assert [part for part, differs in parts if differs] == differing


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (1, "100 %"), (0.123456, "12.3 %"), (0.001, "0.1 %"), (0, "0 %"), (1 / 4096, "1 in 4,096"),
        (2**-32, "1 in 4.3 × 10⁹"), (2**-128, "1 in 3.4 × 10³⁸"),
    ],
)  # fmt: skip
def test_shares_in_words(share, words):
    assert share_in_words(share) == words


def test_the_command_of_an_example():
    example = Example("udp 10.0.0.1:5 > 10.0.0.9:7 in lan", "2026-11-26T09:00")
    side = Side("a.yaml 'my b.ios'", (Content("a.yaml", ""), Content("my b.ios", "")))
    assert command(side, example) == (
        "phb explain a.yaml 'my b.ios' --packet 'udp 10.0.0.1:5 > 10.0.0.9:7 in lan' --at 2026-11-26T09:00"
    )
    assert command(Side("push 17 to r1", (Content("a.yaml", ""),)), example) == ""
    assert command(Side("switch 192.0.2.1:9559"), example) == ""
