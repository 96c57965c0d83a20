"""What targets can and can't do, and that a policy which asks too much is refused by name."""

import asyncio
import re
from datetime import datetime
from pathlib import Path

import pytest

from phb import Target, push, push_all, targets
from phb.compiler import compile_policy
from phb.errors import InputError
from phb.formats import yaml_format
from phb.targets import FOLDER, Capability

DOCUMENT = Path(__file__).parents[2] / "docs" / "evidence" / "recorded" / "targets.md"

HEAD = "phb: 1\nclasses: [{name: a}, {name: b}]\nports: [{number: 1, name: p}]\nqueueing:\n  - port: p\n"
CLASSES = "    schedule: {{kind: classes, queues: [{}]}}\n"
FIFO = "    schedule: {kind: fifo}\n"
RATE = "{value: 1, unit: Mbit/s, basis: ip}"
FLOWS = "fair-queue: {dialect: ios-hqf}"
DETECTION = "early-detection: {profiles: [{minimum: 1, maximum: 2}]}"


def compiled(text, artifact, target):
    return compile_policy(yaml_format.read(HEAD + text, "f"), artifact, at=datetime(1999, 3, 1), target=target)


@pytest.mark.parametrize("name", targets.names())
def test_every_target_says_something_to_everything(name):
    text = (FOLDER / f"{name}.toml").read_text()
    assert re.findall(r"^\[capabilities\.(.+)\]$", text, flags=re.MULTILINE) == [each.value for each in Capability]
    for support in targets.load(name).support.values():
        assert support.reason
        assert support.measured
        assert support.source


def test_sources_in_this_tree_are_there():
    root = Path(__file__).parents[2]
    sources = [support.source for name in targets.names() for support in targets.load(name).support.values()]
    ours = [source for source in sources if ":" not in source]
    assert ours
    assert [source for source in ours if not (root / source).exists()] == []


def test_the_table_in_the_documentation_is_the_data():
    text = DOCUMENT.read_text()
    assert targets.markdown() in text, "`make capabilities` writes it"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "    schedule: {kind: fair-queue, dialect: ios-12}\n",
            r"^f:6: found fair queueing of flows, expected none on target 'bmv2': its queues are strict priorities",
        ),
        (
            CLASSES.format(f"{{class: class-default, {FLOWS}}}"),
            r"^f:6: found fair queueing of flows in class 'class-def",
        ),
        (
            CLASSES.format("{class: a, bandwidth: {percent: 50}}"),
            r"^f:6: found a share of the port for class 'a', expected none on target 'bmv2': its queues are strict pri",
        ),
        (CLASSES.format("{class: a}"), r"^f:6: found a share of the port for class 'a'"),
        (
            FIFO + "    hold-queue: 65\n",
            r"^f:7: found 65 packets in one queue, expected at most 64 on target 'bmv2': wh",
        ),
        (
            CLASSES.format("{class: a, level: 0, queue-limit: 64}, {class: b, level: 0}"),
            r"^f:6: found a queue without a limit beside 64 packets of others in one queue of the switch",
        ),
        (
            CLASSES.format(
                "{class: a, level: 0, queue-limit: 40}, {class: b, level: 0, queue-limit: 25}, "
                "{class: class-default, queue-limit: 64}"
            ),
            r"^f:6: found 65 packets in one queue",
        ),
        (
            FIFO + f"    shaper: {{rate: {RATE}}}\n",
            r"^f:7: found shaping to 1 Mbit/s \(ip\), expected none on target 'bmv2': its rates are packets per second",
        ),
        (
            CLASSES.format(f"{{class: a, level: 0}}, {{class: class-default, shaper: {{rate: {RATE}}}}}"),
            r"^f:6: found shaping of class 'class-default' to 1 Mbit/s \(ip\), expected none on target 'bmv2': its",
        ),
    ],
)
def test_what_bmv2_refuses_and_phb_switch_takes(artifact, text, message):
    with pytest.raises(InputError, match=message):
        compiled(text, artifact, "bmv2")
    assert compiled(text, artifact, "phb-switch").entries


@pytest.mark.parametrize(
    "text",
    [
        FIFO + f"    hold-queue: 64\n    {DETECTION}\n    buffers: {{shared-bytes: 1}}\n",
        FIFO + "    hold-queue: 9\n",
        CLASSES.format("{class: a, level: 0, queue-limit: 64}, {class: class-default, queue-limit: 64}"),
    ],
)
def test_what_bmv2_takes(artifact, text):
    assert compiled(text, artifact, "bmv2").entries == compiled(text, artifact, "phb-switch").entries


def test_a_burst_is_the_embedded_switchs(artifact):
    text = FIFO + "    shaper: {rate: {value: 1, unit: Mbit/s, basis: ip}, burst-bytes: 1500}\n"
    (shaper,) = compiled(text, artifact, "phb-switch").shapers
    assert shaper.burst_bytes == 1500
    with pytest.raises(
        InputError, match=r"found shaping to 1 Mbit/s \(ip\), expected none on target 'bmv2': its rates"
    ):
        compiled(text, artifact, "bmv2")


def test_an_unknown_target(artifact):
    with pytest.raises(
        InputError, match=r"^--target: found target 'tofino', expected one of phb-switch, bmv2, bmv2-sp-pifo$"
    ):
        compiled(FIFO, artifact, "tofino")


def test_pushes_of_a_program_know_the_target(write_file):
    """Refused before any switch is asked: nothing listens there."""
    path = write_file("policy.yaml", HEAD + "    schedule: {kind: fair-queue, dialect: ios-12}\n")
    for refused in (
        lambda: asyncio.run(push("127.0.0.1:1", [path], target="bmv2")),
        lambda: asyncio.run(push_all([Target("127.0.0.1:1", [path], target="bmv2")])),
    ):
        with pytest.raises(InputError, match="expected none on target 'bmv2'"):
            refused()
