"""The units are what systemd takes and finds tight; the topology is what containerlab takes, and forwards."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
import yaml
from jsonschema import Draft7Validator

from phb.cli.commands import app
from phb_device import Ports, missing

DEPLOY = Path(__file__).parents[1] / "deploy"
TOPOLOGY = DEPLOY / "containerlab" / "phb.clab.yml"
# systemd's own measure, from 0 (nothing can be done) to 10; a unit without a sandbox has 9.6.
EXPOSURE = {
    "phb-switch@.service": 1.8,
    "phb-watch.service": 1.4,
    "phb-monitor.service": 1.2,
    "phb-reflector.service": 2.0,
}

# Datagrams to and back: on the right, and on the left, which asks again until there is an answer.
ECHO = """\
import socket, sys
s = socket.socket(type=socket.SOCK_DGRAM)
s.bind((sys.argv[1], 4000))
print("ready", flush=True)
while True:
    s.sendto(*s.recvfrom(2048))
"""
ASK = """\
import socket, sys
s = socket.socket(type=socket.SOCK_DGRAM)
s.settimeout(0.5)
for _ in range(40):
    s.sendto(b"hello", (sys.argv[1], 4000))
    try:
        print(s.recv(2048).decode())
        break
    except TimeoutError:
        pass
"""


SHARED = ("phb-monitor", "phb-watch")


@pytest.mark.parametrize("unit", [*sorted(EXPOSURE), *(f"{name}-shared.conf" for name in SHARED)])
def test_systemd_takes_a_unit_and_finds_it_tight(unit, tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")

    def write(name, path):
        # With a command that is there.
        text = re.sub(r"/opt/phb/bin/[\w-]+", "/bin/true", (DEPLOY / "systemd" / name).read_text())
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    if unit.endswith("-shared.conf"):
        shared, unit = unit, unit.replace("-shared.conf", ".service")
        write(shared, tmp_path / f"{unit}.d" / "shared.conf")
    # As an instance.
    written = tmp_path / unit.replace("@", "@one")
    write(unit, written)
    verified = subprocess.run(["systemd-analyze", "verify", "--man=no", written], capture_output=True, text=True)
    assert (verified.returncode, verified.stderr) == (0, "")
    command = ["systemd-analyze", "security", "--offline=true", written]
    judged = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C.UTF-8"}, check=False
    )
    if "unrecognized option" in judged.stderr:
        pytest.skip("this systemd-analyze can't judge units that aren't loaded")
    level = re.search(r"Overall exposure level for \S+: ([\d.]+)", judged.stdout)
    # Versions of systemd weigh settings differently.
    assert float(level[1]) <= EXPOSURE[unit] + 0.5


@pytest.mark.parametrize("file", sorted((DEPLOY / "systemd").iterdir()), ids=lambda path: path.name)
def test_units_start_commands_with_options_that_there_are(file):
    started = re.findall(r"^ExecStart=/opt/phb/bin/phb (.+)$", file.read_text().replace("\\\n", ""), flags=re.MULTILINE)
    assert started or file.name == "phb-switch@.service"
    for line in started:
        command = typer.main.get_command(app)
        words = line.split()
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        known = {option for each in command.params for option in each.opts}
        assert {word for word in words if word.startswith("--")} <= known


def test_containerlab_takes_the_topology():
    tree = os.environ.get("CONTAINERLAB", "")
    if not tree:
        pytest.skip("CONTAINERLAB doesn't name containerlab's source tree")
    schema = json.loads((Path(tree) / "schemas" / "clab.schema.json").read_text())
    assert list(Draft7Validator(schema).iter_errors(yaml.safe_load(TOPOLOGY.read_text()))) == []


def test_the_topology_forwards():
    if why := missing("phb-switch", Ports.VETH):
        pytest.skip(why)
    nodes = yaml.safe_load(TOPOLOGY.read_text())["topology"]["nodes"]
    links = [
        [end.split(":") for end in link["endpoints"]]
        for link in yaml.safe_load(TOPOLOGY.read_text())["topology"]["links"]
    ]
    names = {node: f"phb-{os.getpid()}-{node}" for node in nodes}

    def inside(node, *command):
        return ["ip", "netns", "exec", names[node], *command]

    switch = echo = None
    try:
        for name in names.values():
            subprocess.run(["ip", "netns", "add", name], check=True)
        for node in nodes:
            subprocess.run(inside(node, "ip", "link", "set", "lo", "up"), check=True)
        for (one, its), (other, others) in links:
            ends = ["ip", "link", "add", its, "netns", names[one], "type", "veth"]
            subprocess.run([*ends, "peer", "name", others, "netns", names[other]], check=True)
            for node, interface in ((one, its), (other, others)):
                subprocess.run(inside(node, "ip", "link", "set", interface, "up"), check=True)
        for node, settings in nodes.items():
            for command in settings.get("exec", ()):
                subprocess.run(inside(node, *shlex.split(command)), check=True)
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        command = inside("router", *shlex.split(nodes["router"]["cmd"]))
        switch = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        push = inside(
            "router", sys.executable, "-m", "phb", "push", "--yes", str(DEPLOY / "containerlab" / "policy.yaml")
        )
        for _ in range(20):
            pushed = subprocess.run(push, env=environment, capture_output=True, text=True)
            if pushed.returncode == 0:
                break
            time.sleep(0.2)
        assert pushed.returncode == 0, pushed.stderr
        echo = subprocess.Popen(inside("right", sys.executable, "-c", ECHO, "10.0.2.1"), stdout=subprocess.PIPE)
        echo.stdout.readline()
        asked = subprocess.run(inside("left", sys.executable, "-c", ASK, "10.0.2.1"), capture_output=True, text=True)
        assert (asked.returncode, asked.stdout) == (0, "hello\n"), asked.stderr
    finally:
        if echo:
            echo.kill()
            echo.communicate()
        if switch:
            switch.terminate()
            switch.wait()
        for name in names.values():
            subprocess.run(["ip", "netns", "delete", name], check=False)
