"""EF traffic where an output policy is asked after an input policy: which class it is in, and whether it is policed."""

from datetime import datetime

import pytest

from phb.formats.ios import read
from phb.lint import lint

AT = datetime(2026, 3, 2, 12, 0)
ROUTER = """! phb: dialect ios-hqf
access-list 101 permit udp any any range 16384 32767
class-map match-any EF
 match ip dscp ef
 match access-group 101
class-map match-any others
 match ip dscp af11
policy-map mark
 class EF
  set dscp ef
policy-map wan
 class {output}
  {treatment}
 class class-default
  fair-queue
interface FastEthernet0/0
 service-policy input mark
interface Serial0/0
 bandwidth 512
 service-policy output wan
"""


@pytest.mark.parametrize(
    ("output", "treatment", "kinds"),
    [
        # The output policy takes it from class-default, and polices it.
        ("EF", "priority 128", []),
        # It takes other traffic: this stays where it was.
        ("others", "priority 128", ["ef-without-policer", "ef-without-level"]),
        # It takes it, and has no level for it: once for the action of each policy.
        ("EF", "bandwidth percent 20", ["ef-without-policer", "ef-without-level"] * 2),
    ],
)
def test_ef_by_input_and_output_policy(output, treatment, kinds):
    found = lint(read(ROUTER.format(output=output, treatment=treatment), "r.ios"), at=AT)
    assert sorted(each.kind for each in found if each.kind.startswith("ef-")) == sorted(kinds)


def test_a_class_that_takes_it_is_named():
    found = lint(read(ROUTER.format(output="EF", treatment="bandwidth percent 20"), "r.ios"), at=AT)
    classes = {each.what.partition(" carries")[0] for each in found if each.kind == "ef-without-level"}
    assert classes == {"class 'EF'"}


@pytest.mark.parametrize(("group", "found"), [(1, []), (2, ["ef-without-level", "ef-without-policer"])])
def test_a_group_that_the_input_policy_set(group, found):
    router = ROUTER.replace("  set dscp ef\n", "  set dscp ef\n  set qos-group 1\n")
    router = router.replace("match ip dscp af11", f"match qos-group {group}")
    findings = lint(read(router.format(output="others", treatment="priority 128"), "r.ios"), at=AT)
    assert sorted(each.kind for each in findings if each.kind.startswith("ef-")) == found


DROPPED = """! phb: dialect ios-hqf
access-list 101 permit ip host 10.0.0.1 any
class-map match-all other
 match ip dscp ef
 match access-group 101
class-map match-any EF
 match ip dscp ef
policy-map wan
 class other
  police 8000 conform-action {conforms} exceed-action drop
 class EF
  priority 128
 class class-default
  fair-queue
interface Serial0/0
 bandwidth 512
 service-policy output wan
"""


@pytest.mark.parametrize(("conforms", "kinds"), [("drop", []), ("transmit", ["ef-without-level"])])
def test_a_policer_that_drops_everything_carries_nothing_and_does_something(conforms, kinds):
    found = lint(read(DROPPED.format(conforms=conforms), "r.ios"), at=AT)
    assert [each.kind for each in found if each.kind.startswith(("ef-", "meter-"))] == kinds


def test_what_an_output_policy_drops_is_in_no_class():
    """EF of an input policy, all of which an output policy drops."""
    router = ROUTER.replace("class class-default\n  fair-queue", "class class-default\n  bandwidth percent 40")
    drop = "police 8000 conform-action drop exceed-action drop"
    router = router.replace(" class {output}", f" class EF\n  {drop}\n class {{output}}")
    found = lint(read(router.format(output="others", treatment="priority 128"), "r.ios"), at=AT)
    assert [each.kind for each in found if each.kind.startswith("ef-")] == []
