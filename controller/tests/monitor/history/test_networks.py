"""Which subnets an account by subnet adds a rule to."""

from phb.formats import yaml_format
from phb.monitor.history.networks import networks_of

POLICY = """\
phb: 1
ports:
  - {number: 1, name: stack, role: host}
  - {number: 2, name: uplink, address: 192.0.2.1}
cross-connects:
  - between: [stack, uplink]
rules:
  - {name: both, direction: both, match: {source: 10.1.0.0/16, destination: 10.2.0.0/16}}
  - {name: one, match: {source: 10.1.0.7}}
  - {name: range, match: {destination: 10.3.0.1-10.3.0.9}}
  - {name: alike, match: [{source: 10.4.0.0/16, protocol: tcp}, {source: 10.4.0.0/16, protocol: udp}]}
  - {name: several, match: [{source: 10.4.0.0/16}, {source: 10.5.0.0/16}]}
  - {name: v6, match: {source: "2001:db8::/32"}}
  - {name: in, direction: incoming, match: {source: 10.6.0.0/16}}
"""


def test_networks():
    policy = yaml_format.read(POLICY, "f")
    found = {(subject.name, subject.direction): ends for subject, ends in networks_of(policy).items()}
    assert found == {
        ("both", "outgoing"): ("10.1.0.0/16", "10.2.0.0/16"),
        ("both", "incoming"): ("10.2.0.0/16", "10.1.0.0/16"),
        ("one", ""): ("10.1.0.7", ""),
        ("range", ""): ("", "10.3.0.1-10.3.0.9"),
        ("alike", ""): ("10.4.0.0/16", ""),
        ("several", ""): ("", ""),
        ("v6", ""): ("2001:db8::/32", ""),
        ("in", "incoming"): ("10.6.0.0/16", ""),
    }
