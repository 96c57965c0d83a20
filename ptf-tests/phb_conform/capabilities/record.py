"""Write the results of probes into the tables of `phb.targets`, for the policy compiler and the documentation."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from phb.targets import FOLDER, Capability
from phb_conform.capabilities import control, ports, queues
from phb_conform.capabilities.probe import PROBES, Probed
from phb_device import Device

__all__ = ["control", "ports", "queues"]


def probe_all(device: Device, progress: Callable[[str], None] = lambda _: None) -> dict[Capability, Probed]:
    """Try every capability on a switch."""
    seen = {}
    for capability in Capability:
        progress(capability.value)
        device.reset()
        seen[capability] = PROBES[capability](device)
    device.reset()
    return seen


def table_path(target: str) -> Path:
    """Return the file of a target's table."""
    return FOLDER / f"{target}.toml"


def changed(target: str, seen: Mapping[Capability, Probed]) -> list[Capability]:
    """Return capabilities whose support or amount differs from the table: a person must write their reasons anew."""
    rows = tomllib.loads(table_path(target).read_text(encoding="utf-8"))["capabilities"]
    return [
        capability
        for capability, probed in seen.items()
        if (rows[capability]["supported"], rows[capability].get("approximate", False), rows[capability].get("most"))
        != (probed.supported, probed.approximate, probed.most)
    ]


def write(target: str, seen: Mapping[Capability, Probed]) -> None:
    """Put the results of probes into the target's table; its reasons and sources stay."""
    path = table_path(target)
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    lines = [
        "# Facts are written by `make capabilities`, which tries them; reasons and sources are a person's.",
        *(f"{key} = {_text(value)}" for key, value in data.items() if key != "capabilities"),
    ]
    for capability, probed in seen.items():
        row: dict[str, Any] = data["capabilities"][capability]
        facts: dict[str, Any] = {"supported": probed.supported, "most": probed.most, "measured": probed.measured}
        facts["approximate"] = True if probed.approximate else None
        lines += ["", f"[capabilities.{capability}]"]
        lines += [f"{key} = {_text(value)}" for key, value in (row | facts).items() if value is not None]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _text(value: object) -> str:
    # A basic string of TOML is one of JSON as long as it has no control characters beyond ASCII.
    return json.dumps(value, ensure_ascii=False)
