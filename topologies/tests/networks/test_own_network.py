"""docs/networks/own-network.md builds the network that ``phb-lab new`` writes, and its commands run."""

import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from phb_lab import registry
from phb_lab.cli import app
from phb_lab.cli.new import _TEMPLATE as TEMPLATE
from phb_lab.emulation import requirements
from phb_lab.errors import UsageError
from phb_lab.experiment import Way, run_test

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "networks" / "own-network.md").read_text()


def command(*words, cwd):
    return subprocess.run(
        [sys.executable, "-m", "phb_lab", *words], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.fixture
def office(tmp_path):
    """The network as the page builds it."""
    folder = tmp_path / "office"
    folder.mkdir()
    blocks = re.findall(r"^```python\n(.*?)\n```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    (folder / "__init__.py").write_text("\n\n\n".join(blocks) + "\n")
    for name, text in re.findall(r'^```yaml title="(.*?)"\n(.*?)```$', PAGE, flags=re.MULTILINE | re.DOTALL):
        (folder / name).write_text(text)
    return folder


def test_the_page_builds_what_the_command_writes(office):
    files = {path.name: path.read_text() for path in TEMPLATE.iterdir() if path.is_file()}
    assert {path.name: path.read_text() for path in office.iterdir()} == files


def test_every_command_of_the_page_runs(tmp_path):
    commands = re.findall(r"^\$ phb-lab (.*)$", PAGE, flags=re.MULTILINE)
    assert {"new", "list", "run", "compare", "sweep", "what-if"} == {each.split()[0] for each in commands}
    for line in commands:
        done = command(*shlex.split(line), cwd=tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    page = (tmp_path / "office" / "out" / "index.html").read_text()
    assert "phb-lab run ./office --seed 1" in page
    assert "office/priority.yaml" in page
    assert (tmp_path / "office" / "out" / "response.png").exists()


def test_the_same_seed_gives_the_same_bytes_wherever_the_folder_lies(tmp_path):
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        assert command("new", "office", cwd=tmp_path / place).returncode == 0
        done = command("run", "./office", "--html", "page.html", cwd=tmp_path / place)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "a" / "page.html").read_bytes() == (tmp_path / "b" / "page.html").read_bytes()


@pytest.mark.parametrize("name", registry.NAMES)
def test_a_published_network_runs_from_a_copy_of_its_folder(tmp_path, name):
    own = registry.find(name)
    copy = shutil.copytree(ROOT / "topologies" / "phb_lab" / "networks" / name, tmp_path / name)
    study = registry.find(str(copy))
    assert type(study) is not type(own)
    test, same = study.tests[0], own.tests[0]
    seconds = min(test.duration_s, 12)
    assert run_test(study, test, duration_s=seconds).figures == run_test(own, same, duration_s=seconds).figures


def test_the_published_networks_import_what_the_page_lists():
    listed = set(re.findall(r"^\| `(phb_lab[.\w]+)` \|", PAGE, flags=re.MULTILINE))
    imported = set()
    for file in (ROOT / "topologies" / "phb_lab" / "networks").glob("*/*.py"):
        for module, names in re.findall(r"^from (phb_lab[.\w]*) import (.*)", file.read_text(), flags=re.MULTILINE):
            imported |= {module} if module in listed else {f"{module}.{name.strip()}" for name in names.split(",")}
    assert imported <= listed


@pytest.mark.mininet
@pytest.mark.skipif(requirements.missing() is not None, reason=str(requirements.missing()))
def test_it_runs_in_mininet(office):
    study = registry.find(str(office))
    runs = {test.name: run_test(study, test, way=Way("mininet"), duration_s=10) for test in study.tests}
    assert runs["priority"].figure("response").measured < runs["fifo"].figure("response").measured / 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "nothing",
            "network nothing: expected one of: s390, isode, e1, cip, osa, or the path of a network of your own",
        ),
        ("./nothing", "nothing: found no such folder or file, expected a network"),
        (".", ".: expected a Python file, or a folder with an __init__.py"),
    ],
)
def test_what_is_no_network_is_said(tmp_path, monkeypatch, text, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=f"^{re.escape(said)}$"):
        registry.find(text)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("x = 1\n", "own.py: found no STUDY, expected an instance of phb_lab.study.Study"),
        ("STUDY = 1\n", "own.py: found int as STUDY, expected an instance of phb_lab.study.Study"),
        ("\nx = 1 +\n", "{path}:2: invalid syntax"),
        ("import math\n\nmath.sqrt(-1)\n", "{path}:3: ValueError: math domain error"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path, monkeypatch, written, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(written)
    with pytest.raises(UsageError, match=re.escape(said.format(path=tmp_path / "own.py"))):
        registry.find("own.py")


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("terminals.mean_s", "terminals.mean", ": AttributeError: 'Group' object has no attribute 'mean'"),
        ("mtu_bytes=1500, ", "", ": TypeError: Host.__init__() missing 1 required positional argument: 'mtu_bytes'"),
        ('("router", 1)', '("rooter", 1)', "phb-lab: office/fifo: node_b: there is no node named 'rooter'"),
        ('title = "terminals beside', 'titel = "terminals beside', "STUDY: found no title, expected one"),
    ],
)
def test_what_is_wrong_in_a_run_is_one_line(office, right, wrong, said):
    text = (office / "__init__.py").read_text()
    assert right in text
    (office / "__init__.py").write_text(text.replace(right, wrong, 1))
    done = command("run", "./office", cwd=office.parent)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    if "Error" in said:
        line = next(number for number, each in enumerate(text.splitlines(), 1) if right in each)
        assert f"{office / '__init__.py'}:{line}: " in done.stderr


@pytest.mark.parametrize("name", ["no-name", "1st", "office"])
def test_new_takes_no_name_that_python_has_none_for_and_no_folder_that_is_there(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "office").mkdir()
    assert isinstance(CliRunner().invoke(app, ["new", name]).exception, UsageError)
    assert [path.name for path in tmp_path.iterdir()] == ["office"]


def test_a_package_registers_a_network(monkeypatch):
    monkeypatch.setattr(
        registry, "entry_points", lambda group: (EntryPoint("mine", "phb_lab.networks.s390:STUDY", group),)
    )
    registry.registered.cache_clear()
    try:
        assert [*registry.registered()] == [*registry.NAMES, "mine"]
        assert registry.find("mine") is registry.find("s390")
    finally:
        registry.registered.cache_clear()


def test_two_networks_of_one_name_are_refused(monkeypatch):
    monkeypatch.setattr(registry, "entry_points", lambda group: (EntryPoint("s390", "other:STUDY", group),))
    registry.registered.cache_clear()
    try:
        with pytest.raises(UsageError, match=r"network s390: found phb_lab.networks.s390:STUDY and other:STUDY"):
            registry.find("s390")
    finally:
        registry.registered.cache_clear()
