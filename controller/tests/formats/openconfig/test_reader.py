"""OpenConfig's QoS as a policy, and what is wrong with it."""

import copy
import json

import pytest

from phb.errors import InputError
from phb.formats import read_content
from phb.formats.openconfig.counting import counting
from phb.model import MeterKind, RateBasis
from phb.values import TypeOfService


def named(*names):
    return [{"name": name, "config": {"name": name}} for name in names]


def scheduler(sequence, *inputs, **more):
    found = {"sequence": sequence, "config": {"sequence": sequence, **more.pop("config", {})}, **more}
    if inputs:
        each = [{"id": queue, "config": {"id": queue, "queue": queue, "weight": weight}} for queue, weight in inputs]
        found["inputs"] = {"input": each}
    return found


def policer(**config):
    return {"one-rate-two-color": {"config": {"queuing-behavior": "POLICE", "cir": "64000", "bc": 3000, **config}}}


STRICT = {"priority": "STRICT"}
TERM = {"id": "1", "config": {"id": "1"}, "actions": {"config": {"target-group": "high"}}}
QOS = {
    "queues": {"queue": named("NC1", "AF4", "BE1")},
    "forwarding-groups": {"forwarding-group": [{"name": "high", "config": {"name": "high", "output-queue": "NC1"}}]},
    "classifiers": {"classifier": [{"name": "c", "config": {"name": "c", "type": "IPV4"}, "terms": {"term": [TERM]}}]},
    "queue-management-profiles": {
        "queue-management-profile": [
            {
                "name": "wred",
                "config": {"name": "wred"},
                "wred": {"uniform": {"config": {"min-threshold": "15140", "max-threshold": 30280, "drop": True}}},
            }
        ]
    },
    "scheduler-policies": {
        "scheduler-policy": [
            {
                "name": "out",
                "config": {"name": "out"},
                "schedulers": {
                    "scheduler": [
                        scheduler(7, ("BE1", "2"), ("AF4", "8")),
                        scheduler(0, ("NC1", 1), config=STRICT),
                    ]
                },
            },
            {
                "name": "in",
                "config": {"name": "in"},
                "schedulers": {"scheduler": [scheduler(1, ("NC1", 1), **policer())]},
            },
        ]
    },
    "interfaces": {
        "interface": [
            {
                "interface-id": "eth1",
                "input": {
                    "classifiers": {"classifier": [{"type": "IPV4", "config": {"type": "IPV4", "name": "c"}}]},
                    "scheduler-policy": {"config": {"name": "in"}},
                },
            },
            {
                "interface-id": "7",
                "output": {
                    "scheduler-policy": {"config": {"name": "out"}},
                    "queues": {"queue": [{"name": "BE1", "config": {"queue-management-profile": "wred"}}]},
                },
            },
        ]
    },
}


def read(qos=QOS, interfaces=None, **more):
    document = {"openconfig-qos:qos": qos, **more}
    if interfaces is not None:
        document["openconfig-interfaces:interfaces"] = {"interface": interfaces}
    return read_content(json.dumps(document, indent=2).encode(), "qos.json")


def changed(*path, **members):
    """QOS with members of one container set, or taken out where they are None."""
    qos = copy.deepcopy(QOS)
    container = qos
    for step in path:
        container = container[step]
    for name, value in members.items():
        key = name.replace("_", "-")
        if value is None:
            del container[key]
        else:
            container[key] = value
    return qos


CLASSIFIER = ("classifiers", "classifier", 0)
TERMS = (*CLASSIFIER, "terms", "term", 0)
SCHEDULERS = ("scheduler-policies", "scheduler-policy", 0, "schedulers")
POLICER = ("scheduler-policies", "scheduler-policy", 1, "schedulers", "scheduler", 0)
PROFILE = ("queue-management-profiles", "queue-management-profile", 0, "wred", "uniform", "config")
INPUT = ("interfaces", "interface", 0, "input")
OUTPUT = ("interfaces", "interface", 1, "output")


def conditions(version="ipv4", **leaves):
    transport = {name.replace("_", "-"): leaves.pop(name) for name in list(leaves) if "port" in name}
    found = {version: {"config": {name.replace("_", "-"): value for name, value in leaves.items()}}}
    return found | ({"transport": {"config": transport}} if transport else {})


def test_a_whole_configuration():
    policy = read()
    assert [each.name for each in policy.classes] == ["NC1", "AF4", "BE1"]
    assert [(port.name, port.number) for port in policy.ports] == [("eth1", None), ("7", 7)]
    (rule,) = policy.rules
    assert (rule.name, rule.actions) == ("eth1 IPV4 1", ("eth1 policer 1",))
    (condition,) = rule.match
    assert (condition.ingress_port, condition.version, condition.tos) == ("eth1", 4, None)
    (action,) = policy.actions
    assert (action.traffic_class, action.meter.kind) == ("NC1", MeterKind.SINGLE_RATE)
    assert action.meter.committed_rate.bits_per_second == 64000
    assert action.meter.committed_rate.basis is RateBasis.ETHERNET
    assert not action.meter.red.drop  # what isn't said isn't dropped
    (queueing,) = policy.queueing
    queues = [(queue.traffic_class, queue.level, queue.bandwidth) for queue in queueing.schedule.queues]
    assert [(name, level) for name, level, _ in queues] == [("NC1", 0), ("BE1", None), ("AF4", None)]
    assert [share.weight for _, _, share in queues[1:]] == [1, 4]
    detection = queueing.schedule.queues[1].early_detection
    (profile,) = detection.profiles
    assert (profile.minimum, profile.maximum, profile.denominator, detection.ecn) == (10, 20, 1, False)
    # Places are those of the file.
    lines = json.dumps({"openconfig-qos:qos": QOS}, indent=2).splitlines()
    assert '"id": "1"' in lines[rule.origin().line]


def test_ports_are_numbered_by_interfaces():
    each = {"name": "eth1", "config": {"name": "eth1", "openconfig-p4rt:id": 3, "mtu": 1500}}
    ethernet = {"config": {"port-speed": "openconfig-if-ethernet:SPEED_2500MB"}}
    policy = read(QOS, [each | {"openconfig-if-ethernet:ethernet": ethernet}, {"name": "eth2", "state": {"id": 5}}])
    found = [(port.name, port.number, port.rate and port.rate.bits_per_second) for port in policy.ports]
    assert found == [("eth1", 3, 2_500_000_000), ("eth2", 5, None), ("7", 7, None)]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"dscp": 46}, [(184, 252)]),
        ({"dscp_set": [3, 2, 1, 0]}, [(0, 240)]),
        ({"dscp_set": list(range(64))}, [(0, 0)]),
        ({"dscp_set": [1, 2, 3]}, [(4, 252), (8, 248)]),
        ({"dscp_set": list(range(48, 60))}, [(192, 224), (224, 240)]),
    ],
)
def test_dscps(asked, expected):
    (rule,) = read(changed(*TERMS, conditions=conditions(**asked))).rules
    assert [each.tos for each in rule.match] == [TypeOfService(value, mask) for value, mask in expected]


def test_other_conditions():
    asked = conditions(
        source_address="10.0.0.0/8", destination_address="192.0.2.7/32", protocol="IP_UDP", source_port="1000..1999"
    )
    asked["transport"]["config"]["destination-port"] = 5000
    (condition,) = read(changed(*TERMS, conditions=asked)).rules[0].match
    assert (str(condition.source), str(condition.destination)) == ("10.0.0.0/8", "192.0.2.7")
    assert (condition.protocol, str(condition.source_ports), str(condition.destination_ports)) == (
        17,
        "1000-1999",
        "5000",
    )
    asked = conditions(protocol=89, destination_port="openconfig-packet-match-types:ANY")
    (condition,) = read(changed(*TERMS, conditions=asked)).rules[0].match
    assert (condition.protocol, condition.destination_ports) == (89, None)


def test_terms_are_asked_in_the_order_of_their_numbers():
    terms = [TERM | {"id": name} for name in ("b", "10", "9", "a")]
    for term in terms:
        term["config"] = {"id": term["id"]}
    rules = read(changed(*CLASSIFIER, "terms", term=terms)).rules
    assert [rule.name for rule in rules] == ["eth1 IPV4 9", "eth1 IPV4 10", "eth1 IPV4 a", "eth1 IPV4 b"]


def test_remarks_and_policers_of_two_rates():
    config = {"cir": 1000, "pir": "2000", "bc": 10, "be": 20}
    actions = {"exceed-action": {"config": {"set-dscp": 12}}, "violate-action": {"config": {"drop": True}}}
    policer = scheduler(1, ("NC1", 1), **{"two-rate-three-color": {"config": config, **actions}})
    qos = changed(*POLICER[:-1], **{})
    qos["scheduler-policies"]["scheduler-policy"][1]["schedulers"]["scheduler"] = [policer]
    qos["classifiers"]["classifier"][0]["terms"]["term"][0]["actions"]["remark"] = {
        "config": {"set-dscp": 10, "set-dot1p": 3}
    }
    (action,) = read(qos).actions
    assert (action.set_dscp, action.set_pcp.value) == (10, 3)
    meter = action.meter
    assert (meter.kind, meter.peak_burst_bytes, meter.yellow.set_dscp, meter.red.drop) == (
        MeterKind.TWO_RATE,
        20,
        12,
        True,
    )


def test_a_policer_without_classifier_takes_everything():
    policy = read(changed(*INPUT, classifiers=None))
    assert [(rule.name, rule.actions) for rule in policy.rules] == [("eth1 policer 1", ("eth1 policer 1",))]
    assert policy.actions[0].traffic_class is None


def test_shapers():
    shaper = {"one-rate-two-color": {"config": {"cir": 256000, "max-queue-depth-packets": 40, "phb-qos:overhead": -14}}}
    qos = changed(*SCHEDULERS, scheduler=[scheduler(0, **shaper), scheduler(1, ("BE1", 1), **shaper)])
    (queueing,) = read(qos).queueing
    assert (queueing.hold_queue, str(queueing.shaper.rate)) == (40, "256000 bit/s (ip)")
    (queue,) = queueing.schedule.queues
    assert (queue.queue_limit, str(queue.shaper.rate)) == (40, "256000 bit/s (ip)")
    # A switch that gave the document shapes its ports itself.
    policy = read(qos, controller={"state": {"wanted": "3"}})
    assert (policy.queueing[0].shaper, policy.queueing[0].hold_queue) == (None, None)
    assert str(policy.find_port("7").rate) == "256000 bit/s (ip)"
    alone = changed(*SCHEDULERS, scheduler=[scheduler(0, **shaper)])
    alone["interfaces"]["interface"][1]["output"].pop("queues")
    assert read(alone).queueing[0].schedule.kind == "fifo"
    assert read(alone, controller={}).queueing == ()


def test_strict_levels():
    inputs = (("NC1", 3), ("AF4", 9), ("BE1", 3))
    (queueing,) = read(changed(*SCHEDULERS, scheduler=[scheduler(0, *inputs, config=STRICT)])).queueing
    assert [(queue.traffic_class, queue.level) for queue in queueing.schedule.queues] == [
        ("AF4", 0),
        ("NC1", 1),
        ("BE1", 1),
    ]


@pytest.mark.parametrize(
    ("leaves", "expected", "notices"),
    [
        ({"min-threshold": 1515, "max-threshold": 2**64 - 1, "drop": True}, (2, 4096, 1, False), ["4096 packets"]),
        ({"min-threshold": 0, "max-threshold": 1, "enable-ecn": True}, (0, 1, 1, True), ["transports without ECN"]),
        (
            {
                "min-threshold-percent": 1,
                "max-threshold-percent": "50",
                "drop": True,
                "max-drop-probability-percent": 3,
            },
            (40, 2048, 33, False),
            [],
        ),
        ({"min-threshold": 1, "max-threshold": 2}, None, []),
        ({"drop": True, "enable-ecn": True}, None, []),
    ],
)
def test_profiles(leaves, expected, notices):
    policy = read(changed(*PROFILE[:-1], config=leaves))
    detection = policy.queueing[0].schedule.queues[1].early_detection
    found = None
    if detection is not None:
        (profile,) = detection.profiles
        found = (profile.minimum, profile.maximum, profile.denominator, detection.ecn)
    assert found == expected
    for notice, words in zip(policy.notices, notices, strict=True):
        assert words in notice.message


def test_state_and_other_models_have_no_effect():
    qos = changed("queues", state={"anything": 1})
    qos["queues"]["queue"][0]["state"] = {"name": "NC1"}
    policy = read(qos, **{"openconfig-system:system": {"config": {"hostname": "x"}}})
    assert len(policy.rules) == 1
    (notice,) = policy.notices
    assert notice.aside
    assert "'system' has no effect" in notice.message


def test_tabs_and_one_line():
    text = json.dumps({"qos": QOS}, indent="\t")
    assert len(read_content(text.encode(), "tabs.json").rules) == 1
    assert len(read_content(json.dumps({"qos": QOS}, separators=(",", ":")).encode(), "x", "openconfig").rules) == 1


def wrong_schedulers():
    queue = ("NC1", 1)
    many = [(f"q{number}", 100 - number) for number in range(8)]
    shaper = {"one-rate-two-color": {"config": {"cir": 1}}}
    return [
        (
            [scheduler(0, queue), scheduler(1, ("AF4", 1))],
            "a second scheduler by weights in policy 'out', expected one",
        ),
        ([scheduler(0, queue), scheduler(1, ("AF4", 1), config=STRICT)], "strict priority behind the weights"),
        ([scheduler(0, queue, ("AF4", 1), **shaper)], "a shaper of several queues"),
        ([scheduler(0, queue, config=STRICT, **shaper)], "a shaper of the strict queue 'NC1'"),
        ([scheduler(0, queue, **policer())], "a policer at an output"),
        ([scheduler(0, **policer())], "a policer at an output"),
        ([scheduler(0, queue, ("AF4", 5000))], "a weight of 5000, expected at most 1000 times the others'"),
        ([scheduler(0, ("AF9", 1))], "queue 'AF9', expected one of NC1, AF4, BE1"),
        ([scheduler(0, queue, output={"config": {"output-type": "SCHEDULER"}})], "of 'SCHEDULER', expected INTERFACE"),
        ([scheduler(0, queue, config={"priority": "LOOSE"})], "config/priority' of 'LOOSE', expected STRICT"),
        ([scheduler(0, *many, config=STRICT)], None),
    ]


def wrong():
    cases = [
        (changed(levitation={}), "found '/qos/levitation', which phb has nothing for, expected classifiers"),
        (
            changed(*CLASSIFIER, config={"name": "c"}),
            "classifier 'c' without a type, expected its 'type': IPV4 or IPV6",
        ),
        (changed(*CLASSIFIER, "config", type="MPLS"), "expected IPV4 or IPV6"),
        (changed(*TERMS, id=None), "an entry of '/qos/classifiers/classifier[name=c]/terms/term' without it"),
        (
            changed(*TERMS, conditions={"mpls": {}}),
            "conditions/mpls', which phb has nothing for, expected ipv4, transport",
        ),
        (changed(*TERMS, conditions=conditions("ipv6")), "conditions/ipv6', which phb has nothing for"),
        (changed(*TERMS, conditions=conditions(dscp=1, dscp_set=[2])), "both 'dscp' and 'dscp-set'"),
        (changed(*TERMS, conditions=conditions(dscp=64)), "config/dscp' of 64, expected a number from 0 to 63"),
        (changed(*TERMS, conditions=conditions(dscp_set=[])), "expected a list of numbers from 0 to 63"),
        (changed(*TERMS, conditions=conditions(source_address="10.0.0.1/8")), "expected an IPv4 prefix"),
        (changed(*TERMS, conditions=conditions(source_address="::/0")), "expected an IPv4 prefix"),
        (changed(*TERMS, conditions=conditions(protocol="IP_LEVITATION")), "expected IP_ICMP or"),
        (changed(*TERMS, conditions=conditions(source_port="9..1")), "expected a port, a range such as 1024..2048"),
        (changed(*TERMS, "actions", "config", target_group="low"), "forwarding group 'low', expected one of high"),
        (
            changed("forwarding-groups", "forwarding-group", 0, "config", output_queue="x"),
            "queue 'x', expected one of NC1, AF4, BE1",
        ),
        (
            changed(*POLICER, **{"one-rate-two-color": {"config": {"queuing-behavior": "POLICE", "cir": 1}}}),
            "without 'bc'",
        ),
        (
            changed(*POLICER, **{"one-rate-two-color": {"config": {"cir": 1}}}),
            "a scheduler without a policer at an input",
        ),
        (changed(*POLICER, "config", type="TWO_RATE_THREE_COLOR"), "of a scheduler of type TWO_RATE_THREE_COLOR"),
        (changed(*POLICER, **{"two-rate-three-color": {}}), "both 'one-rate-two-color' and 'two-rate-three-color'"),
        (changed(*PROFILE[:-1], config={"min-threshold": 9, "max-threshold": 1, "drop": True}), None),
        (
            changed(*PROFILE[:-1], config={"min-threshold": 9999, "max-threshold": 1, "drop": True}),
            "a minimum above the maximum of profile 'wred'",
        ),
        (changed(*PROFILE[:-1], config={"min-threshold": 1, "drop": True}), "profile 'wred' without 'max-threshold'"),
        (
            changed(*PROFILE[:-1], config={"min-threshold": 1, "max-threshold-percent": 1, "drop": True}),
            "with thresholds in bytes and in percent",
        ),
        (changed(*INPUT, "classifiers", "classifier", 0, "config", name="d"), "classifier 'd', expected one of c"),
        (
            changed(*INPUT, "classifiers", "classifier", 0, type="IPV6"),
            "classifier 'c' of type IPV4, expected one of type IPV6",
        ),
        (changed(*INPUT, "scheduler-policy", "config", name="x"), "scheduler policy 'x', expected one of out, in"),
        (changed(*OUTPUT, "queues", "queue", 0, name="NC9"), "a profile of queue 'NC9' at '7'"),
        (
            changed(*OUTPUT, "queues", "queue", 0, "config", queue_management_profile="x"),
            "queue management profile 'x'",
        ),
        (changed("queues", queue=named("NC1", "NC1")), "'/qos/queues/queue[name=NC1]' again"),
        (changed("queues", queue={}), "'/qos/queues/queue' of"),
    ]
    cases += [(changed(*SCHEDULERS, scheduler=each), words) for each, words in wrong_schedulers()]
    return [(qos, words) for qos, words in cases if words is not None]


@pytest.mark.parametrize(("qos", "words"), wrong(), ids=[words[:40] for _, words in wrong()])
def test_errors(qos, words):
    with pytest.raises(InputError) as caught:
        read(qos)
    assert words in str(caught.value)
    assert str(caught.value).startswith("qos.json:")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"qos": {}', "qos.json:1: found no JSON (Expecting"),
        ("[]", "expected an object"),
        ("{}", "a document without them"),
        ('{"qos": {\n "queues": {"queue": [1]}}}', "qos.json:2: found"),
        ('{"qos": {"a:queues": {}, "b:queues": {}}}', "'/qos/queues' again"),
        ('{"qos": ' + "[" * 100_000 + "]" * 100_000 + "}", "expected"),
    ],
)
def test_documents_that_are_none(text, words):
    with pytest.raises(InputError) as caught:
        read_content(text.encode(), "qos.json")
    assert words in str(caught.value)


def test_two_queues_behind_one_policer():
    terms = [
        TERM,
        {
            "id": "2",
            "config": {"id": "2"},
            "actions": {"remark": {"config": {"set-dscp": 1}}, "config": {"target-group": "high"}},
        },
    ]
    with pytest.raises(InputError, match="term '2' of another queue or remark behind the policer"):
        read(changed(*CLASSIFIER, "terms", term=terms))
    # A term of another queue isn't policed.
    qos = changed(*CLASSIFIER, "terms", term=[TERM, {"id": "2", "config": {"id": "2"}}])
    assert [rule.actions for rule in read(qos).rules] == [("eth1 policer 1",), ()]


def test_what_counts_terms_and_policers():
    document = {"openconfig-qos:qos": changed(*TERMS, id="a]b\\", config={"id": "a]b\\"})}
    found = counting(json.dumps(document).encode())
    interface = "/qos/interfaces/interface[interface-id=eth1]/input"
    assert found.matched == {
        "eth1 IPV4 a]b\\": f"{interface}/classifiers/classifier[type=IPV4]/terms/term[id=a\\]b\\\\]/state"
    }
    (policed,) = found.policed.values()
    assert policed.path == f"{interface}/scheduler-policy/schedulers/scheduler[sequence=1]/state"
    assert (list(found.policed), policed.three_colours) == (["eth1 policer 1"], False)
    assert found.matched.keys() == {rule.name for rule in read(document["openconfig-qos:qos"]).rules}


def test_long_names_stay_apart():
    terms = [TERM | {"id": f"{'x' * 80}{number}", "config": {"id": f"{'x' * 80}{number}"}} for number in (1, 2)]
    qos = changed(*CLASSIFIER, "terms", term=terms)
    names = [rule.name for rule in read(qos).rules]
    assert len(set(names)) == 2
    assert max(map(len, names)) <= 64
    assert set(counting(json.dumps({"qos": qos}).encode()).matched) == set(names)
