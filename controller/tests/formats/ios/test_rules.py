"""Class maps and policy maps at interfaces: rules in their order, actions with their marks."""

import pytest

from phb.model import Copied, Dialect, Permission
from phb.values import PriorityCodePoint, TypeOfService

LISTS = """\
ip access-list extended web
 deny tcp host 10.0.0.9 any
 permit tcp any any eq 80
ip access-list extended mixed
 permit tcp any any eq 80
 deny tcp host 10.0.0.9 any
 permit tcp any any eq 443
"""


def rules_of(ios, class_map, statements="set dscp af11", direction="input"):
    policy = ios(
        f"{LISTS}{class_map}\npolicy-map p\n class c\n {statements}\n"
        f"interface FastEthernet0/1\n service-policy {direction} p\n"
    )
    return policy.rules


def shown(conditions):
    return {name: str(getattr(conditions, name)) for name in sorted(conditions.model_fields_set)}


def test_input_policy_enters_at_the_interface(ios):
    (rule,) = rules_of(ios, "class-map match-any c\n match dscp ef")
    assert rule.name == "p/c"
    assert [shown(each) for each in rule.match] == [{"dscp": "46", "ingress_port": "FastEthernet0/1"}]
    assert rule.actions == ("p/c",)


def test_output_policy_leaves_by_the_interface(ios):
    (rule,) = rules_of(ios, "class-map match-any c\n match dscp ef", direction="output")
    assert [shown(each) for each in rule.match] == [{"dscp": "46", "egress_port": "FastEthernet0/1"}]


def test_denials_become_exceptions(ios):
    (rule,) = rules_of(ios, "class-map c\n match access-group name web")
    assert [str(each.destination_ports) for each in rule.match] == ["80"]
    assert [str(each.source) for each in rule.unless] == ["10.0.0.9"]


def test_a_denial_between_permissions_splits_the_rule(ios):
    first, second = rules_of(ios, "class-map c\n match access-group name mixed")
    assert (first.name, first.unless) == ("p/c/1", ())
    assert (second.name, [str(each.source) for each in second.unless]) == ("p/c/2", ["10.0.0.9"])
    assert first.actions == second.actions == ("p/c",)


def test_all_terms_must_be_met(ios):
    (rule,) = rules_of(ios, "class-map match-all c\n match access-group name web\n match ip precedence 5")
    assert [shown(each) for each in rule.match] == [
        {
            "destination_ports": "80",
            "ingress_port": "FastEthernet0/1",
            "precedence": "5",
            "protocol": "6",
            "source": "0.0.0.0/0",
        }
    ]


def test_terms_that_exclude_each_other_take_nothing(ios):
    assert rules_of(ios, "class-map match-all c\n match dscp ef\n match dscp af11") == ()
    assert rules_of(ios, "class-map match-all c") == ()


def test_a_class_that_takes_nothing_is_listed(ios):
    policy = ios("class-map c\npolicy-map p\n class c\n  set dscp 0\ninterface Fa0/1\n service-policy input p\n")
    assert [str(notice) for notice in policy.notices] == ["f:3: class 'c' takes no packet: its class map asks for none"]


def test_negation(ios):
    (rule,) = rules_of(ios, "class-map c\n match not dscp ef af11")
    assert [shown(each) for each in rule.match] == [{"ingress_port": "FastEthernet0/1"}]
    assert [each.dscp for each in rule.unless] == [46, 10]


def test_class_map_within_a_class_map(ios):
    (rule,) = rules_of(
        ios,
        "class-map match-any inner\n match dscp ef\n match dscp af11\n"
        "class-map c\n match class-map inner\n match cos 5",
    )
    assert [(each.dscp, each.pcp) for each in rule.match] == [
        (46, PriorityCodePoint(5)),
        (10, PriorityCodePoint(5)),
    ]


def test_any_input_interface_and_protocol(ios):
    (rule,) = rules_of(ios, "class-map match-any c\n match any")
    assert [shown(each) for each in rule.match] == [{"ingress_port": "FastEthernet0/1"}]
    (rule,) = rules_of(ios, "class-map match-any c\n match protocol ipv6")
    assert str(rule.match[0].source) == "::/0"
    assert rules_of(ios, "class-map match-any c\n match input-interface FastEthernet0/0") == ()


def test_type_of_service_of_both_kinds(ios):
    (rule,) = rules_of(
        ios, "access-list 101 permit ip any any tos 8\nclass-map c\n match precedence 5\n match access-group 101"
    )
    assert rule.match[0].tos == TypeOfService(0xB0, 0xFE)


def test_classes_are_asked_in_order_and_the_default_last(ios):
    policy = ios(
        "class-map a\n match dscp ef\nclass-map b\n match dscp af11\n"
        "policy-map p\n class class-default\n  set dscp 0\n class b\n  set dscp 1\n class a\n"
        "interface Fa0/1\n service-policy input p\n"
    )
    assert [(rule.name, rule.actions) for rule in policy.rules] == [
        ("p/b", ("p/b",)),
        ("p/a", ()),
        ("p/class-default", ("p/class-default",)),
    ]
    assert [(action.name, action.set_dscp) for action in policy.actions] == [("p/b", 1), ("p/class-default", 0)]


def test_policy_map_at_two_interfaces_has_policers_of_its_own_at_each(ios):
    policy = ios(
        "policy-map p\n class class-default\n  police 8000\n"
        "interface Fa0/1\n service-policy input p\ninterface Fa0/0\n service-policy input p\n"
    )
    assert [rule.name for rule in policy.rules] == [
        "p/class-default@FastEthernet0/1",
        "p/class-default@FastEthernet0/0",
    ]
    assert len(policy.actions) == 2


def test_marks(ios):
    policy = ios(
        "policy-map p\n class class-default\n  set precedence flash\n  set cos 4\n"
        "interface Fa0/1\n service-policy input p\n"
    )
    assert (policy.actions[0].set_precedence, policy.actions[0].set_pcp) == (3, PriorityCodePoint(4))


def test_set_ip_leaves_ipv6_alone(ios):
    policy = ios(
        "policy-map p\n class class-default\n  set ip dscp ef\n  set cos 4\ninterface Fa0/1\n service-policy input p\n"
    )
    assert [(action.name, action.set_dscp) for action in policy.actions] == [
        ("p/class-default", 46),
        ("p/class-default/ipv6", None),
    ]
    assert [str(rule.match[0].source) for rule in policy.rules] == ["0.0.0.0/0", "::/0"]


def test_only_classes_with_a_queue_are_classes_of_the_model(ios):
    policy = ios(
        "class-map a\n match dscp ef\nclass-map b\n match dscp af11\n"
        "policy-map p\n class a\n  priority 10\n class b\n  set dscp af12\n"
        "interface Fa0/1\n service-policy output p\n"
    )
    assert [each.name for each in policy.classes] == ["a"]
    assert [action.traffic_class for action in policy.actions] == ["a", None]


def test_access_group_blocks_what_the_list_does_not_permit(ios):
    policy = ios(f"{LISTS}interface Fa0/1\n ip access-group web in\n")
    denied, rest = policy.rules
    assert {rule.permission for rule in policy.rules} == {Permission.BLOCKED}
    assert denied.name == "access-list web in@FastEthernet0/1/1"
    assert [str(each.source) for each in denied.match] == ["10.0.0.9"]
    assert [shown(each) for each in rest.match] == [{"ingress_port": "FastEthernet0/1", "source": "0.0.0.0/0"}]
    assert [str(each.destination_ports) for each in rest.unless] == ["80"]


def test_access_group_stands_before_the_classes(ios):
    policy = ios(
        "access-list 1 permit 10.0.0.0 0.0.0.255\npolicy-map p\n class class-default\n  set dscp 0\n"
        "interface Fa0/1\n service-policy output p\n ip access-group 1 out\n"
    )
    assert [rule.name for rule in policy.rules] == ["access-list 1 out@FastEthernet0/1", "p/class-default"]
    assert policy.rules[0].match[0].egress_port == "FastEthernet0/1"


def test_what_is_unused_is_listed(ios):
    policy = ios(f"{LISTS}class-map c\n match access-group name web\npolicy-map p\n class c\n  set dscp 0\n")
    assert [str(notice) for notice in policy.notices] == [
        "f:1: access list 'web' has no effect: no class and no port has it",
        "f:4: access list 'mixed' has no effect: no class and no port has it",
        "f:8: class map 'c' has no effect: no policy map at a port has it",
        "f:10: policy map 'p' has no effect: no port has it",
    ]


def test_interface_that_is_shut_down_counts_for_nothing(ios):
    policy = ios(
        "policy-map p\n class class-default\n  set dscp 0\ninterface Fa0/1\n service-policy input p\n shutdown\n",
        Dialect.IOS_HQF,
    )
    assert (policy.ports, policy.rules, policy.queueing) == ((), (), ())


def test_a_group_is_set_by_the_input_policy_and_asked_by_the_output_policy(ios):
    policy = ios(
        "class-map in\n match dscp ef\nclass-map out\n match qos-group 7\n"
        "policy-map in\n class in\n  set qos-group 7\n  set cos dscp\n"
        "policy-map out\n class out\n  set dscp cos\n"
        "interface FastEthernet0/1\n service-policy input in\n service-policy output out\n"
    )
    assert [each.qos_group for rule in policy.rules for each in rule.match] == [None, 7]
    first, second = policy.actions
    assert (first.set_qos_group, first.copy_marks) == (7, (Copied.PRECEDENCE_TO_PCP,))
    assert (second.set_qos_group, second.copy_marks) == (None, (Copied.PCP_TO_DSCP,))


@pytest.mark.parametrize(
    ("statement", "copied"),
    [
        ("set cos dscp", Copied.PRECEDENCE_TO_PCP),
        ("set cos precedence", Copied.PRECEDENCE_TO_PCP),
        ("set dscp cos", Copied.PCP_TO_DSCP),
        ("set precedence cos", Copied.PCP_TO_PRECEDENCE),
    ],
)
def test_a_mark_is_copied(ios, statement, copied):
    policy = ios(f"policy-map p\n class class-default\n  {statement}\ninterface Fa0/1\n service-policy input p\n")
    assert [action.copy_marks for action in policy.actions] == [(copied,)]


def test_a_policer_sets_groups(ios):
    policy = ios(
        "policy-map p\n class class-default\n  police 8000 conform-action set-qos-transmit 1 exceed-action "
        "set-qos-transmit 2\ninterface Fa0/1\n service-policy input p\n"
    )
    meter = policy.actions[0].meter
    assert (meter.green.set_qos_group, meter.yellow.set_qos_group) == (1, 2)


def test_flags_reach_the_rule(ios):
    policy = ios(
        "access-list 101 permit tcp any any established\nclass-map c\n match access-group 101\n"
        "policy-map p\n class c\n  set dscp ef\ninterface Fa0/1\n service-policy input p\n"
    )
    assert [str(each.tcp_flags) for each in policy.rules[0].match] == ["+ack", "+rst"]


def test_a_traffic_filter_blocks_ipv6_only(ios):
    policy = ios(
        "ipv6 access-list six\n permit tcp any any established\nip access-list extended four\n permit udp any any\n"
        "interface Fa0/1\n ip access-group four in\n ipv6 traffic-filter six in\n"
    )
    four, six = policy.rules
    assert four.permission is six.permission is Permission.BLOCKED
    assert [str(rule.match[0].source) for rule in policy.rules] == ["0.0.0.0/0", "::/0"]
    assert [str(each.tcp_flags or each.icmp_type) for each in six.unless] == ["+ack", "+rst", "136", "135"]


@pytest.mark.parametrize("last", ["deny ipv6 any any", "permit ipv6 any any"])
def test_neighbour_discovery_is_permitted_at_the_end_only(ios, last):
    policy = ios(f"ipv6 access-list six\n deny udp any any\n {last}\ninterface Fa0/1\n ipv6 traffic-filter six in\n")
    assert not any(each.icmp_type for rule in policy.rules for each in (*rule.match, *rule.unless))


def test_messages_reach_the_rule(ios):
    policy = ios(
        "ip access-list extended a\n permit icmp any any echo-reply\n permit icmp any any 3 4\n permit tcp any any\n"
        "interface Fa0/1\n ip access-group a in\n"
    )
    assert [(each.protocol, str(each.icmp_type)) for each in policy.rules[0].unless] == [
        (1, "0"),
        (1, "3/4"),
        (6, "None"),
    ]


def test_a_policy_map_for_input_and_output_of_one_interface(ios):
    text = "policy-map p\n class class-default\n  set dscp 1\ninterface Fa0/0\n service-policy input p\n"
    names = [rule.name for rule in ios(f"{text} service-policy output p\n").rules]
    assert names == ["p/class-default@FastEthernet0/0", "p/class-default@FastEthernet0/0-output"]
