"""What a page shows of a network before it runs."""

import pytest

from phb_lab import registry
from phb_lab.errors import UsageError
from phb_lab.live.overview import overview
from phb_lab.live.showing import Showing


def networks(name, *tests):
    study = registry.find(name)
    chosen = [study.find_test(test) for test in tests] or study.tests
    return [study.network(test, seed=1, options=study.defaults()) for test in chosen]


def lines(links):
    return {tuple(sorted((":".join(link["a"]), ":".join(link["b"])))) for link in links}


@pytest.mark.parametrize(
    ("name", "switches", "expected"),
    [
        (
            "s390",
            ["mvs074", "c7513", "c3640"],
            {
                ("c7513:Channel10/0", "mvs074:CIP1"),
                ("c7513:FastEthernet5/1/0", "mvs074:LOSAETH"),
                ("c3640:Serial0/0", "c7513:Serial5/0/0"),
            },
        ),
        ("e1", ["ibm2212", "far-router"], {("far-router:e1", "ibm2212:e1")}),
        ("isode", ["sar2811"], set()),
    ],
)
def test_switches_and_the_lines_between_them(name, switches, expected):
    found, links = overview(networks(name))
    assert [each["name"] for each in found] == switches
    assert lines(links) == expected


def test_tests_without_a_switch_are_nothing_to_look_at():
    with pytest.raises(UsageError, match="found no switch in these tests, expected one to watch"):
        Showing("osa", networks("osa", "offload", "inbperf"))
    assert set(Showing("osa", networks("osa")).live.switches) == {"stack-lan", "accelerator-lan"}
