"""The page in a real browser."""

import json
import os
from pathlib import Path

import pytest

from phb.trace.page import page, read_program
from tests.browser import TOO_PALE, TOO_WIDE, viewing

ROUTER = Path(__file__).parents[4] / "switch/programs/build/router.json"

LIT = "() => [...document.querySelectorAll('#flow button.node')].map(row => row.dataset.node)"
CURRENT = "() => document.querySelector('#flow [aria-current=step]').dataset.node"


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    with viewing(tmp_path_factory.mktemp("profile"), "html[data-ready]") as viewer:
        yield viewer


@pytest.fixture
def viewer(driven):
    """The browser; whatever a test did, the page complained about nothing and asked for nothing."""
    yield driven
    assert driven.told == []
    assert [url for url in driven.asked if not url.startswith("file:")] == []


@pytest.fixture(params=["with_program", "without_program"])
def shown(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("width", [380, 900, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_at_any_width_in_light_and_dark(viewer, shown, width, scheme):
    tab = viewer.show(shown, width, scheme)
    tab.get_by_label("compare packet 2 with").click()
    tab.evaluate("document.querySelectorAll('details').forEach(element => element.open = true)")
    for _ in range(3):
        tab.locator("#forward").click()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate(TOO_WIDE, []) == []
    assert tab.evaluate(TOO_PALE) == []
    if folder := os.environ.get("PHB_SCREENSHOTS"):
        tab.screenshot(path=f"{folder}/trace-{shown.stem}-{width}-{scheme}.png", full_page=True)


def test_packets_are_listed_with_ends_ports_fate_and_waiting(viewer, with_program):
    tab = viewer.show(with_program)
    rows = [row.all_inner_texts() for row in (tr.locator("th, td") for tr in tab.locator("#packets tr").all())]
    assert [row[:3] for row in rows] == [
        ["1. tcp 10.0.0.1:1024 > 10.1.0.2:80 SYN", "s1: port 1 → port 2", "5 ms"],
        ["2. tcp 10.0.0.1:1024 > 10.2.0.2:80 SYN", "s1: port 1 → port 3", "–"],
        ["3. tcp 10.0.0.1:1024 > 10.1.0.2:80 SYN", "s1: port 1 → dropped: ingress", "–"],
        ["4. tcp 10.0.0.1:1024 > 10.1.0.2:80 SYN", "s1: port 1 → port 2", "7.25 ms"],
    ]


@pytest.mark.parametrize(
    ("wanted", "numbers"), [("dropped", ["3"]), ("syn 10.2.0.2", ["2"]), ("", ["1", "2", "3", "4"])]
)
def test_the_list_is_narrowed_by_words(viewer, with_program, wanted, numbers):
    tab = viewer.show(with_program)
    tab.locator("#filter").fill(wanted)
    assert [text.partition(".")[0] for text in tab.locator("#packets th").all_inner_texts()] == numbers


def test_who_waited_longest_comes_first(viewer, with_program):
    tab = viewer.show(with_program)
    tab.locator("#order").select_option("waited")
    assert tab.locator("#packets th").first.inner_text().startswith("4.")


def test_the_path_lights_up(viewer, with_program):
    tab = viewer.show(with_program)
    lit = [
        "arrived", "parser/start", "parser/ipv4", "ingress/node_2", "ingress/RouterIngress.ipv4_route", "queue",
        "update checksums/ipv4.checksum", "deparser/ethernet", "deparser/ipv4", "sending", "departed",
    ]  # fmt: skip
    assert tab.evaluate(LIT) == lit
    assert tab.locator(".arcs path.met").count() == len(lit) - 1
    tab.get_by_role("button", name="3. tcp").click()
    assert tab.evaluate(LIT) == [
        "arrived",
        "parser/start",
        "parser/ipv4",
        "ingress/node_2",
        "ingress/tbl_drop",
        "dropped",
    ]


def test_statements_that_a_compiler_made_tables_of_light_up(viewer, traces, tmp_path):
    calls = [step | {"call": {"action": "drop"}} if "table" in step else step for step in traces[2]["steps"]]
    called = [{name: value for name, value in step.items() if name != "table"} for step in calls]
    program = read_program(ROUTER)
    (made,) = [node for section in program for node in section["nodes"] if node.get("made")]
    made["calls"] = "drop"
    path = tmp_path / "called.html"
    path.write_text(page([traces[2] | {"steps": called}], program))
    assert viewer.show(path).evaluate(LIT)[-2:] == ["ingress/tbl_drop", "dropped"]


def test_without_the_artifact_the_program_is_what_the_traces_met(viewer, without_program):
    tab = viewer.show(without_program)
    assert "ingress/RouterIngress.ipv4_route" in tab.evaluate(LIT)
    assert tab.locator("[data-node='ingress/tbl_drop']").count() == 1
    assert tab.locator("button[data-node='ingress/tbl_drop']").count() == 0


def test_buttons_and_arrow_keys_step_and_say_where_they_are(viewer, with_program):
    tab = viewer.show(with_program)
    position = tab.locator("#position")
    assert position.inner_text() == "Packet 1, step 1 of 14: arrives at port 1, 54 bytes"
    assert tab.locator("#back").is_disabled()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    assert "step 3 of 14: extract ethernet" in position.inner_text()
    assert tab.evaluate(CURRENT) == "parser/start"
    tab.locator("#forward").click()
    tab.locator("#back").click()
    tab.keyboard.press("ArrowLeft")
    assert "step 2 of 14: state start" in position.inner_text()
    tab.keyboard.press("End")
    assert "step 14 of 14: leaves by port 2" in position.inner_text()
    assert tab.locator("#forward").is_disabled()
    tab.keyboard.press("Home")
    assert "step 1 of 14" in position.inner_text()


def test_keys_that_belong_to_a_field_step_nothing(viewer, with_program):
    tab = viewer.show(with_program)
    tab.locator("#filter").fill("tcp")
    tab.locator("#filter").press("ArrowLeft")
    tab.locator("#filter").press("End")
    assert "step 1 of" in tab.locator("#position").inner_text()


def test_a_table_shows_key_winner_losers_source_and_what_its_action_changed(viewer, with_program):
    tab = viewer.show(with_program)
    tab.locator("[data-node='ingress/RouterIngress.ipv4_route']").click()
    text = tab.locator("#step").inner_text()
    for wanted in (
        "table RouterIngress.ipv4_route", "router.p4:61", "10.1.0.2", "Entries that match, of 5",
        "10.1.0.0/16", "10.0.0.0/8", "/8 is shorter than /16", "RouterIngress.route(port 2)",
    ):  # fmt: skip
        assert wanted in text, wanted
    changes = tab.get_by_role("region", name="Changes").locator("tbody tr").all_inner_texts()
    assert changes == ["standard_metadata.egress_spec\t–\t2", "ipv4.ttl\t64 (0x40)\t63 (0x3f)"]


def test_fields_are_those_of_the_moment(viewer, with_program):
    tab = viewer.show(with_program)
    assert "No field has a value yet" in tab.locator("#fields").inner_text()
    tab.locator("[data-node='ingress/node_2']").click()
    assert "ipv4.ttl\t64 (0x40)" in tab.locator("#fields").inner_text()
    tab.keyboard.press("ArrowRight")
    assert tab.locator("#fields tr.changed").all_inner_texts() == [
        "ipv4.ttl\t63 (0x3f)",
        "standard_metadata.egress_spec\t2",
    ]
    tab.locator("#fields-filter").fill("egress")
    assert tab.locator("#fields tbody tr").count() == 1


def test_every_statement_is_a_step_when_asked_for(viewer, with_program):
    tab = viewer.show(with_program)
    tab.locator("[data-node='ingress/RouterIngress.ipv4_route']").click()
    tab.locator("#every-step").check()
    assert "step 9 of 19: table" in tab.locator("#position").inner_text()
    tab.locator("#forward").click()
    assert "statement assign" in tab.locator("#position").inner_text()


def test_waiting_is_told_with_who_was_ahead(viewer, with_program):
    tab = viewer.show(with_program)
    tab.locator("[data-node=queue]").click()
    assert "1 packet, 1,514 bytes" in tab.locator("#step").inner_text()
    tab.keyboard.press("ArrowRight")
    assert "waited" in tab.locator("#step").inner_text()
    assert "5 ms" in tab.locator("#step").inner_text()


def test_packets_that_were_ahead_are_a_click_away(viewer, with_program):
    tab = viewer.show(with_program)
    tab.get_by_role("button", name="4. tcp").click()
    tab.locator("[data-node=queue]").click()
    tab.get_by_role("button", name="to packet 1").click()
    assert tab.locator("#position").inner_text().startswith("Packet 1, step 1 of")


def test_two_packets_part_where_their_entries_differ(viewer, with_program):
    tab = viewer.show(with_program)
    tab.get_by_label("compare packet 2 with").click()
    finding = tab.locator("#compared .finding").inner_text()
    assert finding == (
        "Their ways part at table RouterIngress.ipv4_route: packet 1 entry 7 RouterIngress.route(port 2), "
        "packet 2 entry 3 RouterIngress.route(port 3)."
    )
    why = tab.get_by_role("region", name="For they differ in").locator("tbody tr").all_inner_texts()
    after = "set after table RouterIngress.ipv4_route hit RouterIngress.route(port {}), router.p4:61"
    assert why == [
        "destination\t10.1.0.2\t10.2.0.2\tof the frame, from byte 14\tof the frame, from byte 14",
        f"standard_metadata.egress_spec\t2\t3\t{after.format(2)}\t{after.format(3)}",
    ]
    assert "In the queue: queue of port 2 packet 1: port 2, queue 0; packet 2: port 3, queue 0." in tab.locator(
        "#compared"
    ).inner_text().replace("\n", " ")
    tab.locator("#compared .finding button").click()
    assert "table RouterIngress.ipv4_route" in tab.locator("#position").inner_text()


def test_two_packets_part_at_a_condition_for_what_it_reads(viewer, with_program):
    tab = viewer.show(with_program)
    tab.get_by_label("compare packet 3 with").click()
    assert (
        "part at condition ipv4.isValid() && (ipv4.ttl > 0x01): packet 1 yes, packet 3 no"
        in tab.locator("#compared .finding").inner_text()
    )
    why = tab.get_by_role("region", name="For they differ in").locator("tbody tr").all_inner_texts()
    assert why == ["ipv4.ttl\t64 (0x40)\t1\tof the frame, from byte 14\tof the frame, from byte 14"]
    tab.locator("summary", has_text="All fields that differ there: 1").first.click()
    assert tab.get_by_role("region", name="Fields that differ").locator("tbody tr").count() == 1
    rows = tab.evaluate(
        """() => Object.fromEntries(
            [...document.querySelectorAll('#flow .node')].map(row => [row.dataset.node, row.className]))"""
    )
    assert rows["ingress/node_2"] == "node both"
    assert rows["ingress/RouterIngress.ipv4_route"] == "node first"
    assert rows["dropped"] == "node second"


def test_packets_of_different_switches_are_told_apart(viewer, traces, tmp_path):
    other = traces[1] | {"number": 1, "switch": "s2"}
    other["steps"] = [step | {"table": step["table"] | {"key": traces[0]["steps"][8]["table"]["key"]}}
                      if "table" in step else step for step in other["steps"]]  # fmt: skip
    path = tmp_path / "two.html"
    path.write_text(page([traces[0], other], read_program(ROUTER)))
    tab = viewer.show(path)
    assert "Packet 1 at s1, step 1" in tab.locator("#position").inner_text()
    tab.locator("button[aria-pressed]").last.click()
    assert "packet 1 at s1 entry 7" in tab.locator("#compared .finding").inner_text()
    assert "packet 1 at s2 entry 3" in tab.locator("#compared .finding").inner_text()
    assert "They are at different switches, whose entries differ." in tab.locator("#compared").inner_text()


def test_comparing_stays_at_the_step(viewer, with_program):
    tab = viewer.show(with_program)
    tab.locator("[data-node=queue]").click()
    where = tab.locator("#position").inner_text()
    assert "step 10 of" in where
    for _ in range(2):
        tab.get_by_label("compare packet 2 with").click()
        assert tab.locator("#position").inner_text() == where
        assert tab.evaluate(CURRENT) == "queue"


def test_two_packets_of_one_way_say_so(viewer, with_program):
    tab = viewer.show(with_program)
    tab.get_by_label("compare packet 4 with").click()
    assert "the same way" in tab.locator("#compared .finding").inner_text()
    assert "waited 7.25 ms" in tab.locator("#compared").inner_text()
    tab.get_by_label("compare packet 4 with").click()
    assert not tab.locator("#comparison").is_visible()


def test_a_pasted_trace_is_chosen(viewer, with_program, traces):
    tab = viewer.show(with_program)
    tab.locator("summary", has_text="Paste").click()
    tab.locator("#pasted").fill(json.dumps(traces[1] | {"number": 99, "switch": "other"}))
    tab.locator("#read").click()
    assert tab.locator("#position").inner_text().startswith("Packet 99, step 1 of")
    assert tab.locator("#packets tr").count() == 5


def test_a_pasted_frame_finds_its_traces(viewer, with_program, traces):
    tab = viewer.show(with_program)
    tab.locator("summary", has_text="Paste").click()
    frame = traces[1]["steps"][0]["arrived"]["frame"]
    tab.locator("#pasted").fill(
        "0x" + " ".join(frame[at : at + 2].upper() for at in range(0, len(frame), 2)) + " ff ff"
    )
    tab.locator("#read").click()
    assert tab.locator("#position").inner_text().startswith("Packet 2,")
    assert tab.locator("#packets tr").count() == 1
    tab.locator("#filter").fill("tcp")
    assert tab.locator("#packets tr").count() == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "found nothing"),
        ("{", "line 1: found no JSON"),
        ('{"a":1}', "found no steps"),
        ("0a0b zz", 'found "z", expected hexadecimal digits'),
        ("0a0b", "found 4 digits"),
        ("00" * 40, "found no packet of these bytes among 4"),
    ],
)
def test_what_can_not_be_pasted_is_said(viewer, with_program, text, said):
    tab = viewer.show(with_program)
    tab.locator("summary", has_text="Paste").click()
    tab.locator("#pasted").fill(text)
    tab.locator("#read").click()
    assert said in tab.get_by_role("alert").inner_text()
    assert tab.locator("#packets tr").count() == 4


def test_hostile_text_stays_text(viewer, without_program):
    tab = viewer.show(without_program)
    title = tab.title()
    tab.locator("#packets tr button.link").last.click()
    tab.get_by_label("compare packet 1 with").click()
    for _ in range(12):
        tab.keyboard.press("ArrowRight")
    tab.locator("#every-step").check()
    tab.keyboard.press("Home")
    for _ in range(12):
        tab.keyboard.press("ArrowRight")
    assert tab.title() == title
    assert tab.locator("img").count() == 0
    assert "\\u{202e}gnorw <img src=x" in tab.locator("#position").inner_text()


def test_no_packets_is_said(viewer, tmp_path):
    path = tmp_path / "empty.html"
    path.write_text(page([]))
    tab = viewer.show(path)
    assert "No packet yet" in tab.locator("#position").inner_text()
    tab.keyboard.press("ArrowRight")


def test_a_screen_reader_meets_headings_lists_and_names(viewer, with_program):
    tree = viewer.show(with_program, 400).locator("body").aria_snapshot()
    for wanted in (
        'heading "Traces of packets" [level=1]', 'region "The program"', 'region "Step by step"', 'group "steps"',
        'button "step forward"', 'button "compare packet 2 with the chosen one"', 'button "▤ RouterIngress.ipv4_route',
        'article "arrives at port 1"',
    ):  # fmt: skip
        assert wanted in tree or wanted.replace("▤ ", "") in tree, wanted
