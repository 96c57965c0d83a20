"""phb's own program with small registers, so that 2,000 switches that run it need 10 GB and not 25.

The program remembers as many connections as a node may have, and drops of as many policies, which takes 7 MB of each
switch. Nothing else differs: the same tables, actions and stages.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from finsy.proto import p4i
from google.protobuf import text_format

import phb_p4

MOST_CELLS = {"register_arrays": 1024, "counter_arrays": 66_048}
"""The most cells of an array; a push sets counters of all conversations to zero, of which there are 66,048."""


def write(folder: Path) -> tuple[Path, Path]:
    """Write the program into a folder; give the paths of its bmv2 JSON and its p4info."""
    program = json.loads(phb_p4.artifact_path().read_text())
    for kind, most in MOST_CELLS.items():
        for array in program[kind]:
            if not array.get("is_direct"):
                array["size"] = min(array["size"], most)
    info = text_format.Parse(phb_p4.p4info_path().read_text(), p4i.P4Info())
    for register in info.registers:
        register.size = min(register.size, MOST_CELLS["register_arrays"])
    for counter in info.counters:
        counter.size = min(counter.size, MOST_CELLS["counter_arrays"])
    paths = folder / "fleet.json", folder / "fleet.p4info.txtpb"
    # Without the places in sources, which are a fifth of it and which each switch would read.
    paths[0].write_text(json.dumps(_without_places(program), separators=(",", ":")))
    paths[1].write_text(text_format.MessageToString(info))
    return paths


def _without_places(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _without_places(value) for name, value in part.items() if name != "source_info"}
    return [_without_places(each) for each in part] if isinstance(part, list) else part
