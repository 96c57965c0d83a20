"""What ``--trace`` takes, as a filter."""

import pytest

from phb_lab.errors import UsageError
from phb_lab.following import parse_flow


@pytest.mark.parametrize(
    ("text", "filter_"),
    [
        (
            "tcp 10.0.0.1:1024 > 10.0.0.2:80",
            "(proto tcp and src host 10.0.0.1 and src port 1024 and dst host 10.0.0.2 and dst port 80)",
        ),
        (" udp 10.0.0.1>10.0.0.2 ", "(proto udp and src host 10.0.0.1 and dst host 10.0.0.2)"),
        (
            "89 10.0.0.1 <> 10.0.0.2",
            "(proto 89 and src host 10.0.0.1 and dst host 10.0.0.2) or "
            "(proto 89 and src host 10.0.0.2 and dst host 10.0.0.1)",
        ),
        (
            "tcp [2001:db8::1]:1 > 2001:db8::2",
            "(proto tcp and src host 2001:db8::1 and src port 1 and dst host 2001:db8::2)",
        ),
        ("host 10.0.0.1 and not tcp", "host 10.0.0.1 and not tcp"),
    ],
)
def test_flows_and_filters(text, filter_):
    followed = parse_flow(text, 7)
    assert (followed.filter, followed.at_switches, followed.packets) == (filter_, filter_, 7)


@pytest.mark.parametrize("text", ["dscp ef", "host 10.0.0.1 and (tos 0xb8)", "vlan 7"])
def test_what_switches_may_write_anew_holds_at_the_sender_only(text):
    assert (parse_flow(text, 1).filter, parse_flow(text, 1).at_switches) == (text, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected PROTOCOL ADDRESS"),
        ("tcp 10.0.0.1 > ", "expected PROTOCOL ADDRESS"),
        ("tcp 10.0.0.1:x > 10.0.0.2", "found '10.0.0.1:x', expected an address"),
        ("tcp a > 10.0.0.2 > b", "expected PROTOCOL ADDRESS"),
        ("udp and dropped", "found 'dropped', which is about one switch"),
        ("(waited 5ms)", "found 'waited'"),
        ("every 7", "found 'every'"),
    ],
)
def test_what_is_wrong_is_said(text, said):
    with pytest.raises(UsageError, match="--trace") as raised:
        parse_flow(text, 1)
    assert said in str(raised.value)
