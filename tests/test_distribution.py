"""The wheel as a stranger has it: in an empty environment, without Rust on the PATH and without this tree.

It is made of what `make setup` has compiled; `make dist` makes those of a release.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from phb_ptf.runner import ptf_missing
from release.locks import pins

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
OFFLINE = re.compile("NewConnectionError|ConnectTimeout|NameResolutionError|Temporary failure in name resolution")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", folder, ROOT], check=True)
    (made,) = folder.glob("*.whl")
    return made


class Buildah:
    """buildah with images of its own, whose steps run in a chroot: so it works in containers, too."""

    def __init__(self, folder):
        storage = ["--root", folder / "storage", "--runroot", folder / "run", "--storage-driver", "vfs"]
        self.command = ["buildah", *map(str, storage)]

    def __call__(self, *arguments):
        done = subprocess.run([*self.command, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()


class Installed:
    """An environment that has the wheel and what it asks for, and nothing of this one."""

    def __init__(self, folder):
        self.folder = folder
        self.bin = folder / "environment" / "bin"
        subprocess.run([sys.executable, "-m", "venv", self.bin.parent], check=True)

    def run(self, *command, **others):
        environment = {"PATH": str(self.bin), "HOME": str(self.folder), "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}
        return subprocess.run(
            [self.bin / command[0], *command[1:]],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            **others,
        )

    def get(self, *wanted, lock):
        """Install packages in the versions of a lock file, with our own PATH: one may have to be compiled."""
        (self.folder / "constraints.txt").write_text(
            "\n".join(pins((ROOT / "requirements" / f"{lock}.lock").read_text()))
        )
        command = [
            self.bin / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-compile",
            "--constraint",
            "constraints.txt",
        ]
        done = subprocess.run([*command, *wanted], cwd=self.folder, capture_output=True, text=True, check=False)
        if OFFLINE.search(done.stderr):
            pytest.skip("packages that phb asks for can't be had from here")
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    made = Installed(tmp_path_factory.mktemp("installed"))
    made.get(wheel, lock="setup")
    assert shutil.which("cargo", path=made.bin) is None
    return made


def test_one_wheel_for_every_python_with_module_and_program(wheel):
    assert re.fullmatch(rf"phb-{re.escape(VERSION)}-cp311-abi3-linux_\w+\.whl", wheel.name)
    names = zipfile.ZipFile(wheel).namelist()
    assert "phb_switch/_native.abi3.so" in names
    assert f"phb-{VERSION}.data/scripts/phb-switch" in names
    assert f"phb-{VERSION}.data/data/share/phb/systemd/phb-watch.service" in names
    assert [name for name in names if "/tests/" in name] == []


def test_one_version(installed):
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    assert workspace["version"] == VERSION
    for command in ("phb", "phb-lab", "phb-switch"):
        assert installed.run(command, "--version").stdout.split()[-1] == VERSION, command
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1]
    assert newest in ("Unreleased", f"[{VERSION}]", VERSION)


def test_the_demo(installed):
    done = installed.run("phb-lab", "run", "s390", "--duration", "20", "--json", "results.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "conservation holds in 8 of 8 runs" in done.stdout
    # Pictures take seconds each.
    command = ["phb-lab", "run", "s390", "--test", "diffserv-wfq-cip", "--duration", "20", "--out", "pictures"]
    done = installed.run(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    written = {each.name for each in (installed.folder / "pictures").iterdir()}
    assert {"index.html", "diffserv-wfq-cip.png"} <= written


def test_a_policy_is_pushed(installed):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    ready = installed.folder / "ready"
    command = ["phb-switch", "--no-p4", "--device-id", "1", "--cpu-port", "510", "--grpc-server-addr", address]
    switch = subprocess.Popen(
        [installed.bin / command[0], *command[1:], "--ready-file", ready], stderr=subprocess.PIPE, text=True
    )
    try:
        for _ in range(200):
            if ready.exists() or switch.poll() is not None:
                break
            with pytest.raises(subprocess.TimeoutExpired):
                switch.wait(0.1)
        assert ready.exists(), switch.communicate()[1]
        policy = next(installed.bin.parent.glob("lib/*/site-packages/phb_examples/s390/c3640.yaml"))
        pushed = installed.run("phb", "push", "--address", address, policy)
        assert pushed.returncode == 0, pushed.stderr
        looked = installed.run("phb", "plan", "--address", address, policy)
        assert "0 to insert, 0 to modify, 0 to delete, 6 unchanged" in looked.stdout
    finally:
        switch.terminate()
        switch.communicate()


def test_a_ptf_case(installed):
    if why := ptf_missing():
        pytest.skip(why)
    installed.get("ptf", lock="ptf")
    command = ["python", "-m", "phb_ptf", "run", "mark.dscp_by_hand", "--ports", "memory", "--json", "verdicts.json"]
    done = installed.run(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    (verdict,) = json.loads((installed.folder / "verdicts.json").read_text())
    assert (verdict["case"], verdict["verdict"]) == ("mark.dscp_by_hand", "pass")


@pytest.fixture(scope="module")
def container(wheel, tmp_path_factory):
    """A way to run commands in the image of `make image`, on a Debian made of packages, for no registry is asked."""
    if os.geteuid():
        pytest.skip("making an image of Debian needs root")
    for tool in ("buildah", "mmdebstrap"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: no container image is made")
    folder = tmp_path_factory.mktemp("image")
    debian = ["mmdebstrap", "--quiet", "--variant=minbase", "--include=ca-certificates,python3-venv,libcap2-bin"]
    made = subprocess.run([*debian, "bookworm", folder / "debian.tar"], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no Debian from here: {made.stderr.strip().splitlines()[-1]}")
    buildah = Buildah(folder)
    empty = buildah("from", "scratch")
    buildah("add", "--quiet", empty, folder / "debian.tar", "/")
    buildah("commit", "--quiet", "--rm", empty, "localhost/debian")
    tool = f"IMAGE_TOOL={' '.join(buildah.command)}"
    options = (
        "--isolation chroot --volume /etc/ssl/certs/ca-certificates.crt:/run/ca.crt:ro --build-arg PIP_CERT=/run/ca.crt"
    )
    command = ["make", "image", f"DIST={wheel.parent}", "BASE=localhost/debian", tool, f"IMAGE_OPTIONS={options}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if OFFLINE.search(done.stderr):
        pytest.skip("packages that phb asks for can't be had from here")
    assert done.returncode == 0, done.stdout + done.stderr
    name = buildah("from", "--pull-never", "localhost/phb")
    # Without the right, the kernel doesn't start a program that has it by its file.
    options = ("--isolation", "chroot", "--cap-add", "CAP_NET_RAW")
    return lambda *command: buildah("run", *options, name, "--", *command)


def test_the_image_runs_as_its_own_user_with_one_right_for_one_program(container):
    assert container("id", "-un") == "phb"
    assert container("/usr/sbin/getcap", "-r", "/opt/phb") == "/opt/phb/bin/phb-switch cap_net_raw=ep"
    for command in ("phb", "phb-lab", "phb-switch"):
        assert container(command, "--version").split()[-1] == VERSION
    lab = container("phb-lab", "run", "s390", "--test", "diffserv-wfq-cip", "--duration", "20")
    assert "conservation holds in 1 of 1 runs" in lab
