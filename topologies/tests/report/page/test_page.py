import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

from phb_lab.outcome import Delivery
from phb_lab.report.page import breakable, page


class Elements(HTMLParser):
    """Start tags with their attributes, in order, and whether every element was closed in its place."""

    VOID = frozenset({"wbr", "meta", "link", "input", "img"})

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.wrong = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_every_element_is_closed_and_every_id_is_there_once(study, runs):
    elements = Elements(page(study, runs, ()))
    assert (elements.open, elements.wrong) == ([], [])
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    asked = {attributes["href"][1:] for tag, attributes in elements.found if tag == "a"}
    asked |= {attributes["aria-labelledby"] for _, attributes in elements.found if "aria-labelledby" in attributes}
    assert asked <= set(ids)


def test_it_begins_with_what_was_found_and_a_picture_and_speaks_in_words(study, runs):
    text = page(study, runs, ())
    places = [text.index(part) for part in ("Fair queueing helps those who wait.", "<img", "<table")]
    assert places == sorted(places)
    assert text.count("<img") == 1
    assert '<th scope="row" title="interactive.avg">response of the interactive traffic [s]</th>' in text
    assert '<caption title="fifo">first in, first out <span>fifo</span></caption>' in text


def test_datagrams_in_flight_are_told_from_lost_ones(study, runs):
    load = Delivery("load-1", "load", 1_000, 125_000, 990, 123_750, (), in_flight_packets=7)
    stream = Delivery("stream", "bulk", 0, 9_000, 0, 9_000, ())
    with_load = replace(runs[0], outcome=replace(runs[0].outcome, deliveries=(stream, load)))
    text = page(study, [with_load, runs[1]], ())
    assert text.count("Where the datagrams of each flow went") == 1
    assert "in flight at the end" in text
    row = re.search(r'<tr><th scope="row">load-<wbr>1</th>(.*)</tr>', text)
    assert re.findall(r">([\d,]+)<", row[1]) == ["1,000", "990", "3", "7"]
    assert "Where the datagrams" not in page(study, runs, ())


def test_nothing_is_taken_from_elsewhere(study, runs):
    text = page(study, runs, ())
    elements = Elements(text)
    assert not [tag for tag, _ in elements.found if tag in {"script", "iframe", "object", "base"}]
    taken = [
        value
        for tag, attributes in elements.found
        for name, value in attributes.items()
        if name in {"src", "href", "xlink:href", "srcset"} and tag != "a"
    ]
    assert all(value.startswith("data:") for value in taken)
    css = text[text.index("<style>") : text.index("</style>")]
    assert not re.search(r"url\(|@import", css)


def test_headings_go_down_one_level_at_a_time_and_pictures_have_words(study, runs):
    elements = Elements(page(study, runs, ()))
    levels = [int(tag[1]) for tag, _ in elements.found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(attributes.get("alt") for tag, attributes in elements.found if tag == "img")
    drawn = [attributes for tag, attributes in elements.found if tag == "svg" and attributes.get("role") == "img"]
    assert drawn
    assert all(attributes.get("aria-label") for attributes in drawn)


def test_what_the_runs_say_is_text_and_never_markup(study, runs):
    text = page(study, runs, ())
    assert "a packet of ring costs &lt;0.1 s&gt; &amp; more" in text
    assert "fifo &lt;i&gt;" in text
    assert "weighted fair &lt;b&gt;" in text
    assert "<b>\n" not in text


def test_everything_the_issue_asks_for_is_on_the_page(study, runs):
    text = page(study, runs, ())
    for wanted in (
        "Nobody, Nothing (1999)", "Minima &amp; maxima scatter.", "hosts answer at once", "fifo: line busy 99 %",
        "examples/s390/c3640.yaml", "The Cisco 3640 of the branch",
        "show queue after 60 s", "Serial1/0/0 is up", "queue full 8",
        "phb-lab run s390 --seed 1", "virtual time", "phb-switch, seed 1", "4.260 to 5.210", "not as asked",
        "data:image/svg+xml;base64,", "256 kbit/s",
    ):  # fmt: skip
        assert wanted in text, wanted


def test_the_same_runs_give_the_same_bytes(study, runs):
    assert page(study, runs, ()) == page(study, runs, ())


def test_a_study_without_any_published_figure_has_a_page(study, runs):
    bare = [replace(run, figures=run.figures[2:3], remarks=()) for run in runs[:1]]
    text = page(study, bare, (), pictures=())
    assert Elements(text).wrong == []
    assert "Redrawn" not in text


def test_a_run_that_is_shorter_than_the_source_says_so(study, runs):
    assert "shorter than the tests themselves" not in page(study, runs, ())
    shorter = [replace(runs[0], duration_s=60), runs[1]]
    assert "fifo ran for 60 s: shorter than the tests themselves" in page(study, shorter, ())
    both = [replace(run, duration_s=60) for run in runs]
    assert "All 2 tests ran for 60 s: shorter than the tests themselves" in page(study, both, ())


def test_long_names_break_where_they_have_a_seam():
    assert breakable("a.b_c-d.<") == "a.<wbr>b_<wbr>c-<wbr>d.<wbr>&lt;"
