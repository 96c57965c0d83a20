from pathlib import Path

import pytest
from typer.testing import CliRunner

from phb_lab.cli import app
from phb_lab.description import Adapter, Network, Wire
from phb_lab.networks.osa import STUDY, display
from phb_lab.networks.osa.islands import osa
from phb_lab.outcome import Outcome

GOLDEN = Path(__file__).parent / "golden"
NOTHING = {"packets": 0, "dropped": 0, "interrupts": 0, "hand_overs": 0}


def displays(parameters, *, behind):
    """One adapter with counts of our own, one of them wider than 32 bits."""
    wires = (Wire(("zos", 0), ("osa1", 0)),) if behind else ()
    network = Network("", (), (), (Adapter("osa1", "osa", parameters), Adapter("nic1", "osa2", {})), wires, ())
    inbound = {
        "primary": {"packets": 11_961, "dropped": 2, "interrupts": 11_939, "hand_overs": 11_940},
        "bulkdata": {"packets": 2**32 + 7, "dropped": 0, "interrupts": 1, "hand_overs": 3_293},
        "sysdist": NOTHING,
        "ee": NOTHING,
    }
    counted = {
        "inbound": {"received": 13_000, "received_bytes": 18_789_707, "dropped": {"queue_full": 2, "loss": 0}},
        "outbound": {"sent": 7_509, "sent_bytes": 1_354_907, "dropped": {"queue_full": 0}},
        "inbound_queues": inbound,
        "outbound_queues": [{"packets": count} for count in (5, 0, 0, 7_504)],
        "streaming_connections": 1,
    }
    outcome = Outcome((), (), (), {}, {"osa1": counted, "nic1": {}}, {}, 1.0)
    return display.displays(network, outcome)


@pytest.mark.parametrize(
    ("name", "parameters", "behind"),
    [
        ("primary-queue-only", osa("balanced", segmentation_offload=True), True),
        ("workload-queueing", osa(workload_queueing=True), True),
        ("distributor", osa(workload_queueing=True, distributions=[("10.99.0.1", ["10.99.1.1"])]), False),
    ],
)
def test_the_displays_of_an_adapter(name, parameters, behind):
    shown = displays(parameters, behind=behind)
    text = "\n".join(f"{command}\n{display}" for command, display in shown.items())
    assert text == (GOLDEN / f"osa-{name}.txt").read_text()


def test_a_run_prints_them_and_keeps_them_in_the_results(tmp_path):
    file = tmp_path / "results.json"
    page = tmp_path / "page.html"
    arguments = ["run", "osa", "--test", "accelerator", "--display", "--json", str(file), "--html", str(page)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    command = "D TCPIP,,OSAINFO,INTFN=stack-distributor"
    assert f"accelerator: {command}\nEZD0031I TCP/IP CS\n" in done.output
    for text in (done.output, file.read_text(), page.read_text()):
        assert "Addr: 10.99.0.1" in text
    assert command in file.read_text()


def test_without_a_node_that_shows_anything_the_run_says_so():
    done = CliRunner().invoke(app, ["run", "cip", "--test", "ping-1", "--duration", "2", "--display"])
    assert "no node of these tests shows anything" in done.output


def test_setting_names_are_the_source_s():
    assert sorted(display.INBPERF) == sorted(STUDY.published["inbperf"])
