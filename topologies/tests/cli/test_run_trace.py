"""``phb-lab run --trace`` as a user calls it."""

from phb.trace.page import told_in


def test_lines_a_table_a_picture_and_a_page(call, tmp_path):
    command = ["run", "s390", "--test", "diffserv-fifo-cip", "--duration", "20", "--out", "out"]
    code, out, _ = call(*command, "--trace", "tcp 133.10.50.2 > 135.1.1.1:700", "--trace-packets", "2")
    assert code == 0
    told = out[out.index("where each millisecond went") :]
    assert "\n1. 3.000000 s, tcp 133.10.50.2:" in told
    assert "SYN" in told
    assert "at os390 after " in told
    assert "adapter cip" in told
    assert "more packets of tcp 133.10.50.2 > 135.1.1.1:700 were not followed (--trace-packets)" in told
    assert sorted(path.name for path in (tmp_path / "out").glob("trace-*")) == [
        "trace-diffserv-fifo-cip.html", "trace-diffserv-fifo-cip.png", "trace-diffserv-fifo-cip.svg",
    ]  # fmt: skip
    page = told_in((tmp_path / "out/trace-diffserv-fifo-cip.html").read_text())
    assert all(f'"switch":"{name}"' in page for name in ("c3640", "c7513", "mvs074"))


def test_a_flow_that_nobody_sends(call):
    code, out, _ = call("run", "s390", "--test", "diffserv-fifo-cip", "--duration", "20", "--trace", "udp")
    assert code == 0
    assert "no packet of udp was sent" in out
