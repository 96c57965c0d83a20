import pytest

from phb_lab import registry
from phb_lab.errors import UsageError
from phb_lab.study import Study


@pytest.mark.parametrize("name", registry.NAMES)
def test_each_network_is_a_study_of_its_own_name_with_published_figures(name):
    study = registry.find(name)
    assert isinstance(study, Study)
    assert study.name == name
    assert study.published
    assert len({test.name for test in study.tests}) == len(study.tests) > 0
    assert all(0 < test.short_s <= 60 for test in study.tests)


@pytest.mark.parametrize("name", registry.NAMES)
def test_the_same_seed_describes_the_same_network(name):
    study = registry.find(name)
    for test in study.tests:
        described = [study.network(test, seed=3, options=study.defaults()) for _ in range(2)]
        assert described[0] == described[1]


@pytest.mark.parametrize("name", registry.NAMES)
def test_wires_join_ports_that_exist_and_policy_files_are_there(name):
    study = registry.find(name)
    for test in study.tests:
        network = study.network(test, seed=1, options=study.defaults())
        ports = {(switch.name, port.number) for switch in network.switches for port in switch.ports}
        ports |= {(host.name, port) for host in network.hosts for port in ((0, 1) if host.relays else (0,))}
        ports |= {(adapter.name, port) for adapter in network.adapters for port in range(4)}
        ports |= {(node.name, 0) for node in (*network.stations, *network.sna_hosts)}
        ends = [end for wire in network.wires for end in (wire.a, wire.b)]
        assert len(ends) == len(set(ends))
        assert set(ends) <= ports
        assert all(path.is_file() for switch in network.switches for path in switch.policy_files)


def test_an_unknown_network_names_the_known_ones():
    with pytest.raises(UsageError, match="network s391: expected one of: s390"):
        registry.find("s391")
