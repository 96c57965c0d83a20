"""Examples of regions, sent through two switches with the two policies: what one packet can show, they show."""

from pathlib import Path

import pytest

from controller.tests.comparing.pairs import DIFFERENT, compared, policy_text
from phb.explain import parse_packet
from phb.formats import yaml_format
from phb.origin import Origin
from phb_switch import P4RuntimeServer, PortConfig, Switch

SHOWN = [
    "permission",
    "an exception less",
    "marks",
    "marks of those that lack them",
    "802.1p priorities",
    "user priorities of a port",
]


@pytest.fixture
def switches():
    """Two switches with the addresses of their servers."""
    made = [Switch(name, {port: PortConfig() for port in (1, 2)}) for name in "AB"]
    servers = [P4RuntimeServer(switch, device_id=1) for switch in made]
    yield [(switch, f"127.0.0.1:{server.start()}") for switch, server in zip(made, servers, strict=True)]
    for server in servers:
        server.stop()


@pytest.mark.parametrize("name", SHOWN)
def test_the_switches_treat_the_example_differently(phb, switches, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    texts = DIFFERENT[name]
    for side, text, (_, address) in zip("AB", texts, switches, strict=True):
        Path(f"{side}.yaml").write_text(policy_text(text))
        code, _, err = phb("push", f"{side}.yaml", "--address", address)
        assert code == 0, err
    ports = {port.name: port.number for port in yaml_format.read(policy_text(texts[0]), "A").ports}
    for region in compared(*texts).regions:
        arrival = parse_packet(region.example.text, Origin("test"))
        sent = [switch.process(ports[arrival.port], arrival.frame, 0) for switch, _ in switches]
        assert [each[1:] for each in sent[0]] != [each[1:] for each in sent[1]], region
