"""Inventories: what they say, what is wrong with them, and that the schema agrees."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from phb import cli, targets
from phb.errors import InputError
from phb.inventory import TargetKind, is_address, read_inventory, read_whole, schema, select
from phb.model import Dialect
from phb.stamp.session import Plan

ROOT = Path(__file__).resolve().parents[3]

GOOD = """\
phb-inventory: 1
defaults:
  election-id: 10
  dialect: ios-12
  tls: {ca: pki/ca.pem, certificate: pki/me.pem, key: /etc/phb/me.key}
switches:
  - name: r1
    address: 192.0.2.1:9559
    policies: [r1.yaml, /srv/common.conf, "ldap://directory.example.net/ou=qos"]
    groups: [edge, east]
  - name: r2
    address: "[2001:db8::2]:9559"
    device-id: 18446744073709551615
    target: bmv2
    role: qos
    election-id: 340282366920938463463374607431768211455
    tls: {ca: other.pem, server-name: r2.example.net}
    policies: [r2.cfg]
    format: ios
    dialect: ios-hqf
    groups: [edge]
  - {name: r3, address: "localhost:1", policies: [r3.yaml]}
stamp:
  - {name: voice, class: voice, reflector: 192.0.2.9, dscp: EF, path: [r1, r2], common-clock: true}
  - name: bulk
    class: bulk
    reflector: "[2001:db8::9]:8620"
    dscp: 10
    rate: 50
    size: 600
    wait: 5
    key-file: bulk.key
    source: "2001:db8::1"
    stateful: true
links:
  - [r1:wan, "r2:GigabitEthernet0/1:0"]
  - [r2:2, r3:1]
"""


@pytest.fixture
def read(write_file, tmp_path):
    def read(text):
        write_file("network.yaml", text)
        return read_inventory(tmp_path / "network.yaml")

    return read


def test_everything(read, tmp_path):
    r1, r2, r3 = read(GOOD)
    assert r1.policies == (str(tmp_path / "r1.yaml"), "/srv/common.conf", "ldap://directory.example.net/ou=qos")
    assert (r1.device_id, r1.target, r1.role, r1.election_id) == (1, TargetKind.PHB_SWITCH, "", 10)
    assert r1.certificates.ca == tmp_path / "pki/ca.pem"
    assert r1.certificates.key.as_posix() == "/etc/phb/me.key"
    assert (r2.device_id, r2.election_id, r2.target, r2.role) == (2**64 - 1, 2**128 - 1, TargetKind.BMV2, "qos")
    # What a switch says of TLS is all there is: half of one certificate and half of another fit nowhere.
    assert (r2.certificates.certificate, r2.certificates.server_name) == (None, "r2.example.net")
    assert (r1.dialect, r2.dialect, r2.format, r3.format) == (Dialect.IOS_12, Dialect.IOS_HQF, "ios", None)
    assert (r3.election_id, r3.groups) == (10, ())


def test_links(read, tmp_path):
    read(GOOD)
    links = read_whole(tmp_path / "network.yaml").links
    assert [(str(link.a), str(link.b)) for link in links] == [
        ("r1:wan", "r2:GigabitEthernet0/1:0"),
        ("r2:2", "r3:1"),
    ]
    assert links[0].b.port == "GigabitEthernet0/1:0"


def test_sessions(read, write_file, tmp_path):
    read(GOOD)
    write_file("bulk.key", "0123456789abcdef\n")
    voice, bulk = read_whole(tmp_path / "network.yaml").stamp
    assert (voice.name, voice.traffic_class, voice.path, voice.common_clock) == ("voice", "voice", ("r1", "r2"), True)
    assert voice.plan == Plan("192.0.2.9", 862, (46,), 1, 0.1, 2, 44)
    assert bulk.plan == Plan(
        *("2001:db8::9", 8620, (10,), 1, 0.02, 5, 600), key=b"0123456789abcdef", stateful=True, source="2001:db8::1"
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("size: 46", "network.yaml:11: found 46, expected 44, or at least 48"),
        ("key-file: none.key", "none.key: found no such file or directory, expected a file with a key"),
        ("key-file: short.key", "short.key:1: found a key of 5 octets, expected one of 16 to 1024"),
    ],
)
def test_sessions_that_cannot_be(read, write_file, tmp_path, more, message):
    write_file("short.key", "short")
    read(SESSION + f"    {more}\n")
    (session,) = read_whole(tmp_path / "network.yaml").stamp
    with pytest.raises(InputError) as caught:
        _ = session.plan
    assert str(caught.value) == f"{tmp_path}/{message}"


def test_every_kind_of_switch_has_its_capabilities():
    assert {kind.value for kind in TargetKind} == {file.stem for file in targets.FOLDER.glob("*.toml")}


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "inventories").glob("*.yaml")), ids=lambda path: path.name)
def test_examples_are_as_the_schema_says(path):
    jsonschema.validate(yaml.safe_load(path.read_text()), schema())
    assert read_inventory(path)


def test_the_schema_agrees(read):
    jsonschema.validate(yaml.safe_load(GOOD), schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"phb-inventory": 1, "switches": []}, schema())


def test_the_schema_is_served(capsys):
    assert cli.run(["schema", "--inventory"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        ([], ["r1", "r2", "r3"]),
        (["edge"], ["r1", "r2"]),
        (["r3", "east"], ["r1", "r3"]),
        (["r1", "edge", "r1"], ["r1", "r2"]),
    ],
)
def test_selection(read, tmp_path, names, chosen):
    switches = select(read(GOOD), names, tmp_path / "network.yaml")
    assert [switch.name for switch in switches] == chosen


def test_no_such_switch(read, tmp_path):
    with pytest.raises(InputError) as caught:
        select(read(GOOD), ["r9"], tmp_path / "network.yaml")
    assert str(caught.value) == (
        f"--switch: found 'r9', expected a switch or group of {tmp_path}/network.yaml: r1, r2, r3, east, edge"
    )


SWITCH = "phb-inventory: 1\nswitches:\n  - name: r1\n    address: a:1\n    policies: [x]\n"
SESSION = SWITCH + "stamp:\n  - name: s\n    class: c\n    dscp: EF\n    reflector: 192.0.2.9\n"
ANOTHER = "  - {name: t, class: c, dscp: 0, reflector: 192.0.2.9, rate: 100}\n"
WRONG = {
    "no version": ("switches: []\n", ":1: found no 'phb-inventory' key, expected 'phb-inventory: 1'"),
    "a list": ("- r1\n", ":1: found ['r1'], expected a mapping that starts with 'phb-inventory: 1'"),
    "a later version": (SWITCH.replace("1\n", "2\n", 1), ":1: found 2, expected 1"),
    "no switches": ("phb-inventory: 1\n", ":1: found no 'switches', expected 'switches': a list"),
    "none": ("phb-inventory: 1\nswitches: []\n", ":2: found an empty list, expected one that isn't"),
    "no policies": (SWITCH.replace("    policies: [x]\n", ""), ":3: found no 'policies', expected 'policies': a list"),
    "misspelt": (
        SWITCH + "    polices: [x]\n",
        ":6: found unknown key 'polices' ('policies'?), expected one of address, device-id",
    ),
    "address": (SWITCH.replace("a:1", "a"), ":4: found 'a', expected HOST:PORT, such as 192.0.2.1:9559"),
    "port": (SWITCH.replace("a:1", "a:65536"), ":4: found 'a:65536', expected HOST:PORT"),
    "device id": (SWITCH + "    device-id: -1\n", ":6: found -1, expected an integer from 0 to 18446744073709551615"),
    "election id": (SWITCH + "    election-id: 0\n", ":6: found 0, expected an integer from 1 to 3402823669209384634"),
    "target": (SWITCH + "    target: tofino\n", ":6: found 'tofino', expected one of 'phb-switch', 'bmv2'"),
    "dialect": (SWITCH + "    dialect: ios-9\n", ":6: found 'ios-9', expected one of "),
    "tls": (SWITCH + "    tls: {crt: x}\n", ":6: found unknown key 'crt'"),
    "twice": (
        SWITCH + "  - name: r1\n    address: b:1\n    policies: [x]\n",
        ":6: found switch 'r1' again, expected it once; it also stands at ",
    ),
    "one place twice": (
        SWITCH + "  - name: r2\n    address: a:1\n    policies: [x]\n",
        ":7: found device 1 at a:1 again, expected it once; it also stands at ",
    ),
    "a group's name": (
        SWITCH + "    groups: [r1]\n",
        ":3: found switch 'r1', which is also a group, expected another name",
    ),
    "a host's name": (
        SESSION.replace("192.0.2.9", "host.example.net"),
        ":10: found 'host.example.net', expected an IP address and a port, such as 192.0.2.1:862",
    ),
    "reflector's port": (SESSION.replace("2.9", "2.9:0"), ":10: found '192.0.2.9:0', expected an IP address and"),
    "no class": (SESSION.replace("    class: c\n", ""), ":7: found no 'class', expected 'class': "),
    "dscp": (SESSION.replace("EF", "64"), ":9: found 64, expected a DSCP from 0 to 63 or a name such as EF"),
    "rate": (SESSION + "    rate: 101\n", ":11: found 101, expected an integer from 1 to 100"),
    "path": (SESSION + "    path: [r2]\n", ":11: found 'r2', expected a switch: r1"),
    "source": (SESSION + "    source: eth0\n", ":11: found 'eth0', expected an IP address of this machine"),
    "source's family": (
        SESSION + '    source: "::1"\n',
        ":11: found '::1', expected an address of IPv4, as the reflector's",
    ),
    "session twice": (
        SESSION + ANOTHER.replace("t,", "s,"),
        ":11: found session 's' again, expected it once; it also stands at ",
    ),
    "packets of all": (
        SESSION + "".join(ANOTHER.replace("t,", f"t{number},") for number in range(11)),
        ":20: found 1010 packets a second of all sessions until here, expected at most 1000",
    ),
    "sessions": (
        SESSION + "".join(ANOTHER.replace("t,", f"t{number},") for number in range(101)),
        ":110: found 102 sessions, expected at most 100",
    ),
    "a link's end": (
        SWITCH + "links:\n  - [r1:wan, r2:1]\n",
        ":7: found 'r2:1', expected a port of a switch: r1",
    ),
    "a link to nowhere": (
        SWITCH + "links:\n  - [r1:wan]\n",
        ":7: found ['r1:wan'], expected two ports, each as SWITCH:PORT, such as [edge:wan, core:p1]",
    ),
    "a link without ports": (SWITCH + "links:\n  - [r1, r1:2]\n", ":7: found ['r1', 'r1:2'], expected two ports"),
    "two lines at a port": (
        SWITCH + "links:\n  - [r1:a, r1:b]\n  - [r1:c, r1:a]\n",
        ":8: found 'r1:a' again, expected one line a port; it also stands at ",
    ),
    "no source": (
        "phb-inventory: 1\nfrom:\n  - {timeout: 3}\n",
        ":3: found a source, expected exactly one of 'command', 'directory' and 'file' in it",
    ),
    "two sources in one": ("phb-inventory: 1\nfrom:\n  - {file: a, directory: b}\n", ":3: found a source, expected ex"),
    "a command as text": (
        "phb-inventory: 1\nfrom:\n  - command: ls -l\n",
        ":3: found 'ls -l', expected a list",
    ),
    "a template for an inventory": (
        'phb-inventory: 1\nfrom:\n  - file: a\n    groups: ["{site.slug}"]\n',
        ":4: found 'groups', expected it only with 'format: netbox'",
    ),
    "a folder of netbox's": (
        "phb-inventory: 1\nfrom:\n  - directory: a\n    format: netbox\n",
        ":4: found 'netbox', expected a command or a file that gives it",
    ),
    "devices without policies": (
        "phb-inventory: 1\nfrom:\n  - {file: a, format: netbox}\n",
        ":3: found no 'policies', expected 'policies': which files each device gets",
    ),
    "where": (
        "phb-inventory: 1\nfrom:\n  - {file: a, format: netbox, policies: [p], where: active}\n",
        ":3: found 'active', expected a mapping of values, or lists of values, such as {status.value: active}",
    ),
    "broken": ("phb-inventory: [\n", ":2: found broken YAML"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong(read, tmp_path, case):
    text, message = WRONG[case]
    with pytest.raises(InputError) as caught:
        read(text)
    assert str(caught.value).startswith(f"{tmp_path}/network.yaml{message}")


def test_unreadable(tmp_path):
    with pytest.raises(InputError, match="found no such file or directory, expected a readable inventory"):
        read_inventory(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"\xe9")
    with pytest.raises(InputError, match="isn't UTF-8 at offset 0"):
        read_inventory(tmp_path / "latin.yaml")


def test_a_server_on_the_same_machine_may_be_a_socket_in_the_file_system():
    assert is_address("unix:/run/r1.sock")
    assert not is_address("unix:r1.sock")
