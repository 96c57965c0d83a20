"""How the program is laid out in its sources, and how it is sent."""

import json
import re

import phb_p4


def test_every_stage_of_the_design_is_one_file_and_one_control():
    stages = ["version", "classify", "admit", "police", "mark", "forward", "output", "window"]
    stages += ["conversation", "buffer", "wred", "schedule"]
    main = (phb_p4.SOURCE_DIRECTORY / "phb.p4").read_text()
    order = [main.index(f"{stage}.apply(") for stage in stages]
    assert order == sorted(order)
    for stage in stages:
        source = (phb_p4.SOURCE_DIRECTORY / f"{stage}.p4").read_text()
        assert len(re.findall(r"^control ", source, flags=re.MULTILINE)) == 1


def test_neither_blanks_nor_places_in_sources_are_sent_to_switches():
    text = phb_p4.artifact_path().read_text()
    assert text == json.dumps(json.loads(text), separators=(",", ":")) + "\n"
    assert '"source_info"' not in text
    assert '.p4"' not in text.replace('"program":"phb.p4"', "")
