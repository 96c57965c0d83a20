"""Every format to every format that can be written: the same effect, or a loss that names its line."""

from datetime import datetime
from pathlib import Path

import pytest

from phb.compiler import compile_policy
from phb.errors import InputError
from phb.formats import FORMATS, Converted, Format, Loss, WriteOptions, convert, read_file, read_files
from phb.formats.format import READING
from phb.model import Dialect, PolicySet
from phb.origin import Origin

CONTROLLER = Path(__file__).resolve().parents[1]
EXAMPLES = CONTROLLER.parents[1] / "examples"
AT = datetime(1999, 3, 1, 12, 0)  # a Monday

WRITTEN = [form.name for form in FORMATS if form.write is not None]
S390 = EXAMPLES / "s390"
E1 = EXAMPLES / "e1"
# A whole node each, and one file of each format alone.
SOURCES = {
    "everything": [CONTROLLER / "golden" / "everything.yaml"],
    "policy-agent": [S390 / "mvs074.yaml", S390 / "mvs074-cip.yaml", S390 / "policy-agent-diffserv-cip.conf"],
    "branch": [EXAMPLES / "policies" / "branch-router.yaml"],
    "buffers": [E1 / "ibm2212.yaml", E1 / "streams.yaml", E1 / "buffers-small.yaml"],
    "precedence": [EXAMPLES / "policies" / "message-precedence.yaml"],
    "time": [EXAMPLES / "policies" / "office-hours.yaml"],
    "ios": [EXAMPLES / "ios" / "c7513-ports.yaml", EXAMPLES / "ios" / "c7513.ios"],
    "mqc": [EXAMPLES / "ios" / "sar2811-ports.yaml", EXAMPLES / "ios" / "sar2811.ios"],
    "router": [S390 / "c7513.yaml", S390 / "c7513-routes-cip.yaml", S390 / "c7513-wfq.yaml"],
}


@pytest.mark.parametrize("to", WRITTEN)
@pytest.mark.parametrize("source", SOURCES)
def test_the_same_effect_or_a_loss(source, to, artifact):
    policy = read_files(SOURCES[source])
    converted = convert(policy, to, WriteOptions(dialect=Dialect.IOS_12))
    form = next(form for form in FORMATS if form.name == to)
    again = form.read(converted.text, "again", READING)
    # A format that describes policies only leaves out the node, without which nothing can be compiled: a loss each.
    if not converted.losses and again != policy:
        first, second = (
            [artifact.encode(entry) for entry in compile_policy(each, artifact, at=AT).entries]
            for each in (policy, again)
        )
        assert first == second
    files = {str(path): path.read_text().splitlines() for path in SOURCES[source]}
    for loss in converted.losses:
        assert 1 <= loss.origin.line <= len(files[loss.origin.file]), loss


def test_everything_that_is_read_is_written_as_yaml():
    policy = read_file(EXAMPLES / "s390" / "policy-agent-precedence-cip.conf")
    assert convert(policy, "yaml").losses == ()


@pytest.mark.parametrize("name", ["", "visio"])
def test_a_format_that_nobody_writes(name):
    with pytest.raises(InputError, match=rf"^--to: found '{name}', expected one of yaml"):
        convert(PolicySet(), name)


def test_losses_come_in_the_order_of_the_source(monkeypatch):
    losses = [Loss(Origin("f", line), f"thing {line}", "it can't be said") for line in (7, 2, 30)]
    form = Format("x", FORMATS[0].read, (), FORMATS[0].signature, lambda policy, options: Converted("", tuple(losses)))
    monkeypatch.setattr("phb.formats.FORMATS", (form,))
    assert [str(loss) for loss in convert(PolicySet(), "x").losses] == [
        "f:2: thing 2 is lost: it can't be said",
        "f:7: thing 7 is lost: it can't be said",
        "f:30: thing 30 is lost: it can't be said",
    ]
