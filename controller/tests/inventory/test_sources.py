"""Sources of inventories: commands, folders, files and NetBox's devices; each error says where to look."""

import json
import time
from pathlib import Path

import pytest
import yaml

import phb_examples
from phb.errors import InputError
from phb.inventory import read_inventory, read_whole

FRAGMENT = {"phb-inventory": 1, "switches": [{"name": "s", "address": "192.0.2.1:1", "policies": ["p.yaml"]}]}


def fragment(name, address, **more):
    return FRAGMENT | {"switches": [FRAGMENT["switches"][0] | {"name": name, "address": address}]} | more


@pytest.fixture
def network(tmp_path):
    """Write an inventory with these sources; give its path."""

    def write(*sources, **more):
        path = tmp_path / "network.yaml"
        path.write_text(yaml.safe_dump({"phb-inventory": 1, "from": list(sources), **more}, sort_keys=False))
        return path

    return write


def script(tmp_path, text):
    path = tmp_path / "give.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return "./give.sh"


def test_every_kind_of_source(network, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.yml").write_text(yaml.safe_dump(fragment("b", "192.0.2.2:1")))
    (tmp_path / "more" / "a.json").write_text(
        json.dumps(fragment("a", "192.0.2.3:1", defaults={"election-id": 7, "tls": {"ca": "ca.pem"}}))
    )
    for other in (".b.yaml", "b.yaml~", "README"):
        (tmp_path / "more" / other).write_text("[")
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(fragment("c", "192.0.2.4:1", links=[["c:1", "a:2"]])))
    printed = yaml.safe_dump(fragment("d", "192.0.2.5:1"))
    path = network(
        *({"directory": "more"}, {"file": "c.yaml"}),
        {"command": [script(tmp_path, f"cat <<'END'\n{printed}END"), "x y"]},
        switches=[{"name": "own", "address": "192.0.2.9:1", "policies": ["p.yaml"]}],
        defaults={"election-id": 5, "role": "qos", "tls": {"ca": "main.pem"}},
    )
    whole = read_whole(path)
    assert [switch.name for switch in whole.switches] == ["own", "a", "b", "c", "d"]
    own, a, b, _, d = whole.switches
    # The fragment's own defaults come before those of the whole; each path is relative to the file that says it.
    assert (own.election_id, a.election_id, b.election_id, a.role) == (5, 7, 5, "qos")
    assert (a.tls.ca, b.tls.ca) == (str(tmp_path / "more/ca.pem"), str(tmp_path / "main.pem"))
    assert (a.policies, d.policies) == ((str(tmp_path / "more/p.yaml"),), (str(tmp_path / "p.yaml"),))
    assert [str(switch.origin()) for switch in whole.switches[1:]] == [
        f"{tmp_path}/more/a.json:1",
        f"{tmp_path}/more/b.yml:3",
        f"{tmp_path}/c.yaml:6",
        "./give.sh x y:3",
    ]
    assert str(whole.links[0].a) == "c:1"
    # A folder is an inventory, too, of its files alone.
    assert [switch.name for switch in read_inventory(tmp_path / "more")] == ["a", "b"]


def lives(pid):
    """Whether a process is there, and not only its zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


COMMANDS = {
    "it fails": ("echo one >&2; echo 'no token' >&2; exit 3", "which ended with exit code 3: no token"),
    "it is killed": ("kill -9 $$", "which ended with signal 9"),
    "it hangs": ("echo waiting >&2; exec sleep 30", "which took more than 1 s: waiting"),
    "what it starts hangs": ("sleep 30 & exit 0", "which took more than 1 s"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_commands_that_fail(network, tmp_path, case):
    text, message = COMMANDS[case]
    path = network({"command": [script(tmp_path, text)], "timeout": 1})
    with pytest.raises(InputError) as caught:
        read_whole(path)
    assert str(caught.value) == f"{path}:3: found './give.sh', {message}, expected a command that prints switches"


def test_a_command_that_prints_without_end(network, tmp_path, monkeypatch):
    monkeypatch.setattr("phb.inventory.commands.LARGEST", 1 << 20)
    with pytest.raises(InputError, match="which prints more than 1 MiB"):
        read_whole(network({"command": ["yes"]}))


def test_what_a_command_started_ends_with_it(network, tmp_path):
    path = network({"command": [script(tmp_path, "sleep 60 & echo $! > pid; wait")], "timeout": 1})
    with pytest.raises(InputError, match="took more than"):
        read_whole(path)
    pid = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 30
    while lives(pid):
        assert time.monotonic() < until
        time.sleep(0.01)


WRONG = {
    "no such command": ({"command": ["./none"]}, ":3: found './none', which can't be run (no such file or directory)"),
    "no such folder": ({"directory": "none"}, ":3: found '{}/none': no such file or directory, expected a readable "),
    "no such file": ({"file": "none"}, None),
    "an empty folder": ({"directory": "empty"}, ":2: found no switch in any source, expected at least one"),
    "a source in a source": ({"file": "inner.yaml"}, "/inner.yaml:2: found unknown key 'from', expected one of "),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_sources(network, tmp_path, case):
    source, message = WRONG[case]
    (tmp_path / "empty").mkdir()
    (tmp_path / "inner.yaml").write_text("phb-inventory: 1\nfrom: [{file: x}]\n")
    path = network(source)
    with pytest.raises(InputError) as caught:
        read_whole(path)
    if message is None:
        message = f"{tmp_path}/none: found no such file or directory, expected a readable inventory"
    start = tmp_path if message.startswith("/inner") else "" if message.startswith("/") else path
    assert str(caught.value).startswith(f"{start}{message.format(tmp_path)}")


def test_all_sources_that_are_wrong_are_told(network, tmp_path):
    with pytest.raises(InputError) as caught:
        read_whole(network({"file": "a"}, {"directory": "b"}))
    assert len(str(caught.value).splitlines()) == 3


def test_what_only_the_whole_shows(network, tmp_path):
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(fragment("a", "192.0.2.1:1")))
    (tmp_path / "b.yaml").write_text(yaml.safe_dump(fragment("a", "192.0.2.2:1")))
    with pytest.raises(InputError) as caught:
        read_whole(network({"file": "a.yaml"}, {"file": "b.yaml"}))
    assert str(caught.value) == (
        f"{tmp_path}/b.yaml:4: found switch 'a' again, expected it once; it also stands at {tmp_path}/a.yaml:4"
    )


# -- NetBox --------------------------------------------------------------------


def device(number, **more):
    return {
        "id": number,
        "name": f"edge{number}",
        "role": {"id": 1, "name": "Edge", "slug": "edge"},
        "site": {"id": 4, "name": "Berlin", "slug": "ber"},
        "tenant": None,
        "status": {"value": "active", "label": "Active"},
        "primary_ip": {"id": number, "family": {"value": 4, "label": "IPv4"}, "address": f"192.0.2.{number}/24"},
        "tags": [{"id": 1, "name": "PHB", "slug": "phb"}, {"id": 2, "name": "Q", "slug": "qos"}],
        "custom_fields": {"lab": True},
        **more,
    }


NETBOX = {"file": "devices.json", "format": "netbox", "policies": ["{site.slug}.yaml"]}


@pytest.fixture
def devices(network, tmp_path):
    """Read an inventory of these documents of NetBox's."""

    def read(*documents, **source):
        (tmp_path / "devices.json").write_text("\n".join(map(json.dumps, documents)))
        return read_inventory(network(NETBOX | source))

    return read


def test_devices(devices, tmp_path):
    mail = device(3, tags=[])
    away = device(4, status={"value": "offline", "label": "Offline"})
    six = device(5, primary_ip={"address": "2001:db8::5/64"})
    chosen = devices(
        {"count": 4, "next": "https://netbox/?offset=2", "results": [device(1), mail]},
        {"count": 4, "next": None, "results": [away, six]},
        where={"status.value": ["active", "staged"], "tags.slug": "phb", "custom_fields.lab": True},
        groups=["{site.slug}-{role.slug}", "{tags.slug}", "{tenant.slug}", "all"],
    )
    assert [(switch.name, switch.address) for switch in chosen] == [
        ("edge1", "192.0.2.1:9559"),
        ("edge5", "[2001:db8::5]:9559"),
    ]
    assert chosen[0].groups == ("ber-edge", "phb", "qos", "all")
    assert chosen[0].policies == (str(tmp_path / "ber.yaml"),)
    assert str(chosen[0].origin()) == f"device 'edge1' of {tmp_path}/devices.json"


def test_devices_a_line_each_and_as_a_list(devices):
    assert [switch.name for switch in devices(device(1), device(2))] == ["edge1", "edge2"]
    assert [switch.name for switch in devices([device(1), device(2)])] == ["edge1", "edge2"]


NOT_SO = {
    "a page lacks": (
        [{"count": 3, "next": "x", "results": [device(1)]}],
        "{file}: found 1 of 3 devices, expected all pages (?limit=0, or each page's 'next')",
    ),
    "another list": ([{"detail": "Invalid token"}], "{file}:1: found something else, expected JSON as NetBox gives"),
    "no address": (
        [device(1), device(2, primary_ip=None)],
        "device 'edge2' of {file}: found nothing at 'primary_ip.address' for '{{primary_ip.address}}:9559', "
        "expected one value there, or a 'where' that leaves it out",
    ),
    "a name without end": (
        [device(1, name="x" * 65)],
        f"device '{'x' * 65}' of {{file}}: found '{'x' * 65}', expected",
    ),
    "a folder in a name": (
        [device(1, site={"slug": "../../etc/shadow"})],
        "device 'edge1' of {file}: found '../../etc/shadow' at 'site.slug', expected a part of a file's name, without",
    ),
    "one address twice": (
        [device(1), device(2, primary_ip={"address": "192.0.2.1/32"})],
        "device 'edge2' of {file}: found device 1 at 192.0.2.1:9559 again, expected it once",
    ),
}


@pytest.mark.parametrize("case", NOT_SO)
def test_devices_that_are_none(devices, tmp_path, case):
    documents, message = NOT_SO[case]
    with pytest.raises(InputError) as caught:
        devices(*documents)
    assert str(caught.value).startswith(message.format(file=tmp_path / "devices.json"))


def test_broken_json_has_its_line(devices, network, tmp_path):
    network(NETBOX)
    (tmp_path / "devices.json").write_text('[{"id": 1,\n}]')
    with pytest.raises(InputError, match=r"devices.json:2: found broken JSON \("):
        read_inventory(tmp_path / "network.yaml")


def test_the_example():
    switches = read_inventory(Path(phb_examples.__file__).parent / "inventories" / "netbox.yaml")
    assert [switch.name for switch in switches] == ["ber-edge-1", "ber-edge-2", "fra-core-1"]
