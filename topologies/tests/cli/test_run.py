from types import SimpleNamespace

import pytest
from rich.console import Console
from typer.testing import CliRunner

from phb_lab.cli import app
from phb_lab.cli.run import _conserved
from phb_lab.emulation.__main__ import run_study
from phb_lab.errors import UnsupportedError
from phb_lab.experiment import Way, run_test
from phb_lab.interruption import Interruption
from phb_lab.networks import cip, osa
from phb_lab.outcome import Conservation

WHOLE = Conservation("cip", 10, 9, {"loss": 1}, 0)
BROKEN = Conservation("wire-0", 10, 8, {"loss": 1}, 0)


def run(mode, *accounts):
    return SimpleNamespace(mode=mode, outcome=SimpleNamespace(conservation=accounts))


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([run("virtual", WHOLE), run("virtual", WHOLE)], "conservation holds in 2 of 2 runs"),
        ([run("mininet")], "conservation was not checked: no node of these runs counts packets"),
        ([run("mininet", WHOLE), run("mininet")], "conservation (of cip only) holds in 1 of 1 runs"),
        ([run("mininet", WHOLE, BROKEN)], "conservation (of cip, wire-0 only) holds in 0 of 1 runs"),
    ],
    ids=["virtual time", "nobody counts", "one counts", "one is wrong"],
)
def test_only_what_was_checked_is_said_of_conservation(runs, said):
    assert _conserved(runs) == said


@pytest.mark.parametrize("study", [cip.STUDY, osa.STUDY], ids=lambda study: study.name)
def test_what_exists_in_virtual_time_only_is_refused_by_name(study):
    refused = [test for test in study.tests if study.virtual_time_only(test) is not None]
    assert len(refused) == (3 if study.name == "cip" else len(study.tests))
    with pytest.raises(UnsupportedError, match=f"^{study.name} {refused[0].name}: "):
        run_test(study, refused[0], way=Way("mininet"))
    done = CliRunner().invoke(app, ["run", study.name, "--mode", "mininet", "--test", refused[0].name])
    assert f"refused: {study.name} {refused[0].name}: " in done.output
    assert str(done.exception) == f"{study.name}: none of these tests can run in Mininet"


def test_making_everything_goes_on_past_what_is_refused(capsys):
    with Interruption() as interruption:
        assert run_study(osa.STUDY, Way("mininet"), 1, True, interruption, Console(width=200)) == ([], 0)
    assert capsys.readouterr().out.count("refused: osa ") == len(osa.STUDY.tests)
