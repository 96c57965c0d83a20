"""How the program is laid out in its sources."""

import re

import phb_p4


def test_every_stage_of_the_design_is_one_file_and_one_control():
    stages = ["classify", "admit", "police", "mark", "forward", "output", "window"]
    stages += ["conversation", "buffer", "wred", "schedule"]
    parts = ("input", "output", "queue")
    applied = "".join((phb_p4.SOURCE_DIRECTORY / f"{part}.p4").read_text() for part in parts)
    order = [applied.index(f"{stage}.apply(") for stage in stages]
    assert order == sorted(order)
    for stage in ("version", *stages, *parts):
        source = (phb_p4.SOURCE_DIRECTORY / f"{stage}.p4").read_text()
        assert len(re.findall(r"^control ", source, flags=re.MULTILINE)) == 1
