"""How the program is laid out in its sources."""

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
