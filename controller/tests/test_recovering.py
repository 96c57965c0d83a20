"""What a live switch holds, as a policy: pushed again it changes nothing, and makes another switch hold the same."""

import asyncio

import pytest

import phb
from controller.tests.test_golden import AT, INPUTS, TARGET_OF
from phb import cli
from phb.device.artifact import Artifact
from phb.device.session import Session
from phb.entries import Change, Update
from phb.intent import Entry, Exact
from phb.origin import UNKNOWN
from phb_switch import P4RuntimeServer, PortConfig, Switch


@pytest.fixture
def start_phb_switch():
    servers = []

    def start():
        switch = Switch("node", {port: PortConfig() for port in range(1, 20)})
        servers.append(P4RuntimeServer(switch, device_id=1))
        return f"127.0.0.1:{servers[-1].start()}"

    yield start
    for server in servers:
        server.stop()


def push(address, files, target="phb-switch"):
    return asyncio.run(phb.push(address, files, at=AT, target=target))


# Where exceptions of a rule overlap, other entries may say the same.
@pytest.mark.parametrize("name", [name for name in INPUTS if name != "pipeline"])
def test_pushed_again_it_is_the_same(start_phb_switch, tmp_path, name):
    one, other = start_phb_switch(), start_phb_switch()
    target = TARGET_OF.get(name, "phb-switch")
    push(one, INPUTS[name], target)
    assert cli.run(["convert", "--from-switch", one, "-o", str(tmp_path / "held.yaml")]) == 0
    assert not push(one, [tmp_path / "held.yaml"], target).differs
    push(other, [tmp_path / "held.yaml"], target)
    # Numbers of rules that don't count now are free there; else it is what the files say.
    assert not push(other, INPUTS[name], target).differs


def test_a_switch_that_writes_one_by_one(start_switch, examples, tmp_path):
    """Its entries have versions, which no policy says."""
    address = start_switch(atomic=False).address
    push(address, [examples / "c3640.yaml"])
    assert cli.run(["convert", "--from-switch", address, "-o", str(tmp_path / "held.yaml")]) == 0
    assert not push(address, [tmp_path / "held.yaml"]).differs


def test_what_is_written_is_proven_to_be_what_is_held(start_phb_switch, examples, capsys):
    address = start_phb_switch()
    push(address, [examples / "c3640.yaml"])
    assert cli.run(["convert", "--from-switch", address]) == 0
    assert capsys.readouterr().err.endswith("proven: every packet is treated alike\n")


def test_shapers_of_ports_keep_burst_and_basis(start_phb_switch, write_file, tmp_path):
    policy = write_file(
        "policy.yaml",
        "phb: 1\nports: [{number: 1, name: line}]\nqueueing:\n  - port: line\n    schedule: {kind: fifo}\n"
        "    shaper: {rate: {value: 256, unit: kbit/s, basis: ip}, burst-bytes: 3000}\n",
    )
    address = start_phb_switch()
    push(address, [policy])
    assert cli.run(["convert", "--from-switch", address, "-o", str(tmp_path / "held.yaml")]) == 0
    assert "burst-bytes: 3000" in (tmp_path / "held.yaml").read_text()
    assert not push(address, [tmp_path / "held.yaml"]).differs


@pytest.mark.parametrize(("to", "said"), [("ios --dialect ios-12", "access-list"), ("policy-agent", "PolicyRule")])
def test_in_other_formats(start_phb_switch, capsys, to, said):
    address = start_phb_switch()
    push(address, INPUTS["mvs074-precedence-osa2"])
    assert cli.run(["convert", "--from-switch", address, "--lossy", "--to", *to.split()]) == 0
    out, err = capsys.readouterr()
    assert said in out
    assert err.startswith(f"warning: {address}")


def test_an_entry_of_no_policy_is_refused_by_name(start_phb_switch, examples, capsys):
    address = start_phb_switch()
    push(address, [examples / "c3640.yaml"])
    artifact = Artifact.load()
    match = {"ingress_port": Exact(3), "protocol": Exact(6)}
    parameters = {"policy": 77, "stream": 0, "traffic_class": 0}
    entries = [
        Entry("PhbIngress.classify.multi_field_ipv4", match, "set_class", parameters, 5, UNKNOWN),
        Entry("PhbIngress.classify.multi_field_ipv6", match, "set_class", parameters | {"stream": 5}, 5, UNKNOWN),
    ]

    async def write():
        async with Session(address, 1, artifact, election_id=9) as session:
            await session.become_primary()
            await session.write([Update(Change.INSERT, artifact.encode(each)) for each in entries])

    asyncio.run(write())
    assert cli.run(["convert", "--from-switch", address]) == 1
    assert "no policy has the entry of PhbIngress.classify" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from-switch", "nowhere"], "--from-switch: found 'nowhere', expected HOST:PORT"),
        (["--from-switch", "127.0.0.1:1", "policy.yaml"], "policy.yaml: found a policy file beside --from-switch"),
        (["--to", "yaml"], "found no policy file, expected FILE or --from-switch"),
        (["policy.yaml"], "found no --to, expected the format to write"),
    ],
)
def test_wrong_options(arguments, message, capsys):
    assert cli.run(["convert", *arguments]) == 2
    assert message in capsys.readouterr().err
